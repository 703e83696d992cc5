import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timesDrawn } from '../../test/support/times-drawn.ts';
import { goodTexts } from '../../test/support/config-noise.ts';
import { compileSchema } from '../core/schema/compile-schema.ts';
import { configSchema } from './shape/config-schema.ts';
import { readConfig } from './read-config.ts';
import { workflowFromYaml } from './workflow/workflow-from-yaml.ts';
import { createProblemList } from './problem.ts';
import { readYaml } from './yaml/yaml-tree.ts';
import { plainOf } from './shape/read-shape.ts';

const good = `
runtime: { store: ./recourse.db, listen: "127.0.0.1:7411", limits: { max_in_flight: 10, store_retry_ms: [1, 2] } }
tools:
  files:
    mcp: { command: npx, args: [-y, files], env: { KEY: "\${TOKEN}" }, cwd: ./x }
    timeout: 30s
    annotations: trust
    on_error: none
    tools: { "read_*": { effect: pure, timeout: 250ms }, pay: { effect: keyed, dedupe_window: 20h, on_error: unknown } }
  search:
    mcp: { url: "https://search.example/mcp", headers: { authorization: "Bearer \${TOKEN}" } }
workflows:
  refund: ./refund.workflow.ts
  coffee:
    version: "1"
    context: { total: 0 }
    initial: idle
    actions: { order: { update: { total: context.total + 1 } }, pay: { tool: files/pay } }
    states:
      idle: { on: { order: ordering } }
      ordering: { on: { pay: { target: paid, guard: context.total > 0 } }, after: { 30m: idle } }
      paid: { type: final }
`;

const undeclared = {
  effect: null,
  timeoutMs: null,
  dedupeWindowMs: null,
  reportsWithinMs: null,
  reach: null,
  onError: null,
};

test('what is written is read', () => {
  const { config, problems } = readConfig(good, 'recourse.yaml', { env: { TOKEN: 'secret' } });
  assert.deepEqual(problems, []);
  assert.deepEqual(config.runtime, {
    mode: 'enforce',
    coldStartGraceMs: 5_000,
    store: './recourse.db',
    listen: { host: '127.0.0.1', port: 7411 },
    limits: { maxInFlight: 10, storeRetryMs: [1, 2] },
  });
  assert.deepEqual(config.tools, [
    {
      name: 'files',
      at: { file: 'recourse.yaml', line: 4, column: 3 },
      connect: { kind: 'stdio', command: 'npx', args: ['-y', 'files'], env: { KEY: 'secret' }, cwd: './x' },
      timeoutMs: 30_000,
      trustAnnotations: true,
      onError: 'none',
      rules: [
        { ...undeclared, match: 'read_*', effect: 'pure', timeoutMs: 250 },
        { ...undeclared, match: 'pay', effect: 'keyed', dedupeWindowMs: 72_000_000, onError: 'unknown' },
      ],
    },
    {
      name: 'search',
      at: { file: 'recourse.yaml', line: 10, column: 3 },
      connect: { kind: 'http', url: 'https://search.example/mcp', headers: { authorization: 'Bearer secret' } },
      timeoutMs: null,
      trustAnnotations: false,
      onError: null,
      rules: [],
    },
  ]);
  assert.deepEqual(
    config.workflows.map(({ kind, name }) => [kind, name]),
    [
      ['module', 'refund'],
      ['written', 'coffee'],
    ],
  );
});

test('without an environment, names in texts are left as they are written', () => {
  const { config, problems } = readConfig(good, 'recourse.yaml');
  assert.deepEqual(problems, []);
  assert.equal(
    config.tools[1]?.connect.kind === 'http' && config.tools[1].connect.headers['authorization'],
    'Bearer ${TOKEN}',
  );
});

const bad = `runtme: {}
runtime: { listen: everywhere, limits: { max_in_flihgt: 3, max_in_flight: 0 } }
tools:
  files:
    mcp: { command: npx, url: "http://x" }
    timeout: 30 seconds
    annotations: believe
    tools: { pay: { effect: keyed }, read: { effect: pur } }
  search:
    mcp: { url: "\${NOWHERE}/mcp", env: {} }
workflows:
  coffee:
    version: 1.0
    actions:
      order: { tool: fils/order, update: { total: contxt.total } }
      pay: {}
    initial: idel
    states:
      idle: { on: { order: orderng, pya: idle } }
      ordering: { type: final, on: { pay: idle } }
`;

test('everything that is wrong is told at once, each with its place and what to write', () => {
  const read = readConfig(bad, 'recourse.yaml', { env: {} });
  for (const each of read.config.workflows) if (each.kind === 'written') workflowFromYaml(each, read.tell);
  assert.deepEqual(
    read.allProblems().map(({ line, column, message, fix }) => `${line}:${column} ${message}; ${fix}`),
    [
      "1:1 there is no key 'runtme' here; did you mean runtime?",
      '2:20 "everywhere" is not usable here; use host:port, such as 127.0.0.1:7411',
      "2:42 there is no key 'max_in_flihgt' here; did you mean max_in_flight?",
      '2:75 limit `max_in_flight` must be a whole number from 1, not 0; use another amount',
      '5:10 command and url exclude each other; use exactly one of command, url',
      '6:14 "30 seconds" stands here; write a duration such as 250ms, 10s, 5m, 2h or 1d',
      "7:18 'believe' is not known here; use one of ignore, trust",
      "8:14 'pay' is keyed without a window; add dedupe_window: how long the server remembers our key",
      "8:54 'pur' is not known here; did you mean pure?",
      '10:17 the environment has no NOWHERE; set NOWHERE before starting',
      '13:14 a number stands here, and a text is needed; put it in quotes: "1"',
      "15:22 there is no server 'fils' under tools; did you mean files?",
      '15:51 this expression is wrong: there is no variable contxt here; did you mean context?; write an expression over context, inputs, result',
      "17:14 there is no state 'idel' in here; did you mean idle?",
      "19:28 there is no state 'orderng'; did you mean ordering?",
      "19:37 there is no action 'pya'; add it under actions",
      "20:32 'on' has no meaning in a final state; leave it out, or change the type",
    ],
  );
  const [first] = read.allProblems();
  assert.deepEqual([first?.file, first?.text, first?.code], ['recourse.yaml', 'runtme: {}', 'ConfigSchemaViolation']);
});

const shapes: readonly (readonly [what: string, text: string, message: RegExp, place?: string])[] = [
  ['broken YAML', 'tools: [', /not YAML/, '1:9'],
  ['a key that stands twice', 'tools: {}\nworkflows: {}\ntools: {}\n', /twice/, '3:1'],
  ['tabs', 'tools:\n\tfiles: 1\n', /not YAML/],
  ['two documents', 'tools: {}\n---\ntools: {}\n', /not YAML/],
  ['a tag', 'tools: !!js/function x\n', /tag/i],
  ['a list', '- a\n', /a list stands here/, '1:1'],
  ['an alias that stands for nothing', 'tools: *a\n', /alias/i],
  ['an alias inside itself', 'workflows: &a { coffee: *a }\n', /levels|things/],
  ['a number too large for JSON', 'runtime: { limits: { max_depth: 123456789012345678901 } }\n', /exactly/],
  ['an address without a host', 'tools: { a: { mcp: { url: "https://" } } }\n', /no address/, '1:27'],
  ['a header of two lines', 'tools: { a: { mcp: { url: "http://x", headers: { a: "b\\nc" } } } }\n', /not usable here/],
  ['half of a character', 'agents: { a: { rules: [{ permit: "\\ud800" }] } }\n', /half of a character/, '1:34'],
  ['half of a character in a key', 'agents: { "\\udfff": {} }\n', /half of a character/, '1:11'],
  ['a carriage return alone', 'tools: {} # x\ragents: {}\n', /carriage return/, '1:14'],
  ['a key that is a list', 'tools: { [a]: 1 }\n', /cannot be a key/],
  ['a key that means the prototype', 'tools: { __proto__: {} }\n', /cannot be a key/],
];

for (const [what, text, message, place] of shapes) {
  test(`${what} is told with its place`, () => {
    const { problems } = readConfig(text, 'recourse.yaml');
    const [first] = problems;
    assert.match(first?.message ?? 'nothing was told', message);
    if (place !== undefined) assert.equal(`${first?.line}:${first?.column}`, place);
  });
}

test('an empty file is an empty configuration', () => {
  assert.deepEqual(readConfig('', 'recourse.yaml').problems, []);
  assert.deepEqual(readConfig('# nothing yet\n', 'recourse.yaml').problems, []);
});

test('a bomb of aliases and a tower of brackets end in a sentence, soon', () => {
  const levels = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}*a${i}]`);
  const bomb = ['a0: &a0 [x]', ...levels].join('\n');
  // Time of the processor: how busy the machine is with others does not count.
  const started = process.cpuUsage();
  for (const text of [
    bomb,
    '['.repeat(100_000),
    `${'{a: '.repeat(50_000)}1`,
    'a: '.repeat(5_000),
    'x'.repeat(2_000_000),
    `a: &a 1\nb: [${'*a, '.repeat(40_000)}]\n`,
    Array.from({ length: 30_000 }, (_, i) => `k${i}: 1`).join('\n'),
  ])
    assert.ok(readConfig(text, 'f').problems.length > 0);
  assert.ok(process.cpuUsage(started).user < 5_000_000);
});

test('an expression in a block has its place in the file', () => {
  const text = `workflows:
  w:
    initial: a
    context: { n: 0 }
    actions: { go: { operation_key: "inputs.n + 'x' + y" } }
    states:
      a:
        on:
          go:
            target: a
            guard: |
              context.n > 0 &&
                contxt.n < 9
`;
  const read = readConfig(text, 'f');
  for (const each of read.config.workflows) if (each.kind === 'written') workflowFromYaml(each, read.tell);
  assert.deepEqual(
    read.allProblems().map(({ line, column }) => [line, column]),
    [
      [5, 55],
      [13, 17],
    ],
  );
});

const lines = good.split('\n');
/** The good file with lines dropped, doubled, cut, moved or replaced. */
const mutated = fc
  .array(
    fc.record({
      at: fc.nat(lines.length - 1),
      what: fc.constantFrom('drop', 'double', 'cut', 'indent', 'noise'),
      noise: fc.string({ maxLength: 12 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((changes) => {
    const copy = [...lines];
    for (const { at, what, noise } of changes) {
      const line = copy[at] ?? '';
      if (what === 'drop') copy.splice(at, 1);
      else if (what === 'double') copy.splice(at, 0, line);
      else
        copy[at] =
          what === 'cut'
            ? line.slice(0, noise.length * 3)
            : what === 'indent'
              ? `  ${line}`
              : line.replace(/[a-z]+/, noise);
    }
    return copy.join('\n');
  });

test('no text makes it throw, and every problem stands inside the file', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 200 }), mutated), (text) => {
      const read = readConfig(text, 'f', { env: {} });
      for (const each of read.config.workflows) if (each.kind === 'written') workflowFromYaml(each, read.tell);
      for (const { line, column, message, fix } of read.allProblems()) {
        assert.ok(line >= 1 && line <= text.split(/\r\n|\n|\r/).length + 1 && column >= 1);
        assert.ok(message !== '' && fix !== '');
      }
    }),
    { numRuns: timesDrawn(500, 150) },
  );
});

test('the published schema accepts the good file and refuses what the reader refuses', () => {
  const compiled = compileSchema(configSchema());
  if (!compiled.ok) assert.fail(compiled.problem);
  const errorsIn = (text: string) => {
    const tree = readYaml(text, 'f', createProblemList('f', text).tell);
    return tree === null ? null : compiled.check(plainOf(tree));
  };
  for (const text of [good, goodTexts.main, goodTexts.included]) assert.deepEqual(errorsIn(text), []);
  for (const text of [
    'runtme: {}',
    'tools: { a: {} }',
    'tools: { a: { mcp: { url: x, command: y } } }',
    'tools: { a: { mcp: { command: x }, timeout: 3 } }',
    'workflows: { a: { actions: {}, states: { s: { on: { x: { taget: s } } } } } }',
    'workflows: { a: { actions: {}, states: { s: { states: { t: { typo: 1 } } } } } }',
    'agents: { a: { rules: [{ permit: x, deny: y }] } }',
    'agents: { a: { rules: [{ permit: [] }] } }',
    'agents: { a: { rules: [{ permit: x, wen: y }] } }',
    'agents: { a: { budgets: { d: { max: 5 USD, cost: 1, warn_at: 2 } } } }',
    'agents: { a: { limits: [{ match: x, rate: often }] } }',
    'tools: { a: { http: {} } }',
    'playbook: { timeout: escalate_to_human }',
    'runtime: { mode: off }',
  ])
    assert.notDeepEqual(errorsIn(text), [], text);
});
