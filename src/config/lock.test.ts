import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';
import { timesDrawn } from '../../test/support/times-drawn.ts';
import { type Lock, type LockedTool, readLock, shapesOf, writeLock } from './lock.ts';
import { readConfig } from './read-config.ts';

const sha256 = 'a'.repeat(64);
const refund: LockedTool = {
  description: 'Refunds.',
  inputSchema: { type: 'object', required: ['amount'], properties: { amount: { type: 'number' } } },
  outputSchema: null,
  annotations: { readOnlyHint: false },
  sha256,
};
const lock: Lock = { version: 1, servers: new Map([['shop', new Map([['refund', refund]])]]) };

const text = `{
  "servers": {
    "shop": {
      "tools": {
        "refund": {
          "annotations": {
            "readOnlyHint": false
          },
          "description": "Refunds.",
          "inputSchema": {
            "properties": {
              "amount": {
                "type": "number"
              }
            },
            "required": [
              "amount"
            ],
            "type": "object"
          },
          "sha256": "${sha256}"
        }
      }
    }
  },
  "version": 1
}
`;

test('a lock is one text, with its keys in order', () => {
  assert.equal(writeLock(lock), text);
  assert.deepEqual(readLock(text, 'recourse.lock'), { ok: true, lock, problems: [], warnings: [] });
  assert.deepEqual(readLock(text.replaceAll('\n', '\r\n'), 'l').warnings, []);
});

test('tools are known by the names that rules use, those of servers that are asked for', () => {
  assert.deepEqual(shapesOf(lock, ['files', 'shop']), [{ name: 'shop/refund', inputSchema: refund.inputSchema }]);
  assert.deepEqual(shapesOf(lock, ['files']), []);
});

const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes('-0'));
const schema = fc.dictionary(fc.string(), json) as fc.Arbitrary<LockedTool['inputSchema']>;
const anyTool: fc.Arbitrary<LockedTool> = fc.record({
  description: fc.option(fc.string({ unit: anyCharacter })),
  inputSchema: schema,
  outputSchema: fc.option(schema),
  annotations: fc.option(schema),
  sha256: fc.constant(sha256),
});
const names = fc.oneof(fc.constantFrom('__proto__', '10', '2', 'toString'), fc.stringMatching(/^[a-z]{1,5}$/));
const anyLock = fc
  .array(fc.tuple(names, fc.array(fc.tuple(names, anyTool), { maxLength: 4 })), { maxLength: 4 })
  .map((servers): Lock => ({ version: 1, servers: new Map(servers.map(([name, tools]) => [name, new Map(tools)])) }));

test('any lock is read as it was written, and written as it was read', () => {
  fc.assert(
    fc.property(anyLock, (some) => {
      const read = readLock(writeLock(some), 'l');
      assert.deepEqual([read.problems, read.warnings], [[], []]);
      assert.ok(read.lock);
      assert.equal(writeLock(read.lock), writeLock(some));
      for (const [server, tools] of some.servers)
        for (const [name, tool] of tools)
          assert.equal(JSON.stringify(read.lock.servers.get(server)?.get(name)?.sha256), JSON.stringify(tool.sha256));
    }),
    { seed: 4, numRuns: timesDrawn(300, 75) },
  );
});

const wrong: readonly (readonly [what: string, text: string, problem: string])[] = [
  ['no JSON', text.replace('"shop": {', '<<<<<<< ours\n'), '3:5 ShapeInvalid this is not JSON'],
  ['nothing', '', '1:1 ShapeInvalid this is not JSON'],
  [
    'another version',
    text.replace('"version": 1', '"version": 2'),
    '26:1 ContractVersionMismatch this lock has version 2, and version 1 is read here',
  ],
  ['no version', text.replace(',\n  "version": 1', ''), "1:1 ConfigSchemaViolation the key 'version' is missing"],
  [
    'an unknown key',
    text.replace('"description"', '"descripton"'),
    "9:11 ConfigSchemaViolation there is no key 'descripton' here",
  ],
  ['no hash', text.replace(sha256, 'abc'), '21:21 ConfigSchemaViolation "abc" is not usable here'],
  [
    'a schema that is a text',
    text.replace(/"inputSchema": \{[\s\S]*?\n {10}\}/, '"inputSchema": "x"'),
    '10:26 ConfigSchemaViolation "x" stands here',
  ],
  ['a list', '[]', '1:1 ConfigSchemaViolation a list stands here'],
  [
    'a number beyond all',
    text.replace('"number"', '1e999'),
    '1:1 ShapeInvalid the lock is nested too deeply, or has a number that cannot be held',
  ],
  [
    'a tower',
    `${'['.repeat(300)}${']'.repeat(300)}`,
    '1:1 ShapeInvalid the lock is nested too deeply, or has a number that cannot be held',
  ],
];

for (const [what, bad, problem] of wrong) {
  test(`a lock that has ${what} is told with its place`, () => {
    const read = readLock(bad, 'l');
    assert.deepEqual([read.ok, read.lock], [false, null]);
    const [first] = read.problems;
    assert.equal(`${first?.line}:${first?.column} ${first?.code} ${first?.message}`, problem);
    assert.equal(first?.fix, 'run recourse pin again');
  });
}

test('a tower that no parser can climb ends in a sentence', () => {
  const { ok, problems } = readLock('['.repeat(50_000), 'l');
  assert.deepEqual([ok, problems[0]?.message], [false, 'this is not JSON']);
});

test('a lock that was changed by hand is warned about where it differs', () => {
  const twice = text.replace('          "sha256"', '          "description": "Refunds!",\n          "sha256"');
  const { ok, warnings } = readLock(twice, 'l');
  assert.equal(ok, true);
  assert.deepEqual(
    warnings.map(({ line, message }) => `${line} ${message}`),
    ['9 this is not as recourse pin writes it: it was changed by hand, or badly merged'],
  );
});

const config = 'tools:\n  shop: { mcp: { command: s } }\nagents: { a: { rules: [{ permit: x, when: args.a }] } }\n';
const warningsWith = (yaml: string, locked: string | null) =>
  readConfig(yaml, 'f', { env: {}, lock: locked === null ? null : { file: 'recourse.lock', text: locked } })
    .allWarnings()
    .map(({ file, line, message }) => `${file}:${line} ${message}`);

test('what the lock and the configuration do not know of each other is warned about', () => {
  assert.deepEqual(warningsWith(config, null), []);
  assert.deepEqual(warningsWith(config, text), []);
  assert.deepEqual(warningsWith(config.replace('shop', 'bar'), text), [
    "f:2 the server 'bar' is not in recourse.lock: its tools are not known here",
    "recourse.lock:3 there is no server 'shop' any more",
  ]);
});

test('a lock that cannot be read is a problem of the configuration', () => {
  const read = readConfig(config, 'f', { env: {}, lock: { file: 'recourse.lock', text: '{' } });
  assert.deepEqual(
    read.problems.map(({ file, code }) => [file, code]),
    [['recourse.lock', 'ShapeInvalid']],
  );
  assert.equal(read.config.lock, null);
});
