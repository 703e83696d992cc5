/**
 * `recourse test`, and what `recourse check` proves about a policy, as people run them: on a folder, without any
 * server.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { writeLock } from '../../src/config/lock.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { folder, objectsIn, recourse, root } from '../support/recourse-process.ts';

const config = `tools:
  payments:
    mcp: { command: no-such-program }
    tools: { get_*: { effect: pure }, '*': { reach: network } }
agents:
  support:
    default: deny
    mode: network
    rules:
      - permit: payments/get_*
      - deny: payments/refund
        when: args.amount > 1000
        reason: too much for a bot
      - defer: payments/refund
        when: args.amount > 100
      - permit: [payments/refund, payments/note]
        when: now < timestamp('2027-01-01T00:00:00Z')
`;

const aCase = (name: string, amount: number, more: string): string =>
  `  - { name: ${name}, agent: support, call: payments/refund, args: { amount: ${amount} }, ${more} }\n`;

const good = `cases:
${aCase('small', 50, 'expect: permit, rule: 16')}${aCase('large', 500, 'expect: defer, code: POLICY_DEFER, rule: recourse.yaml:14')}`;

const schema: JsonObject = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };

function lockOf(tools: Readonly<Record<string, JsonObject>>): string {
  const locked = Object.entries(tools).map(([name, inputSchema]) => {
    const rest = {
      description: null,
      outputSchema: null,
      annotations: { destructiveHint: false },
      sha256: '0'.repeat(64),
    };
    return [name, { inputSchema, ...rest }] as const;
  });
  return writeLock({ version: 1, servers: new Map([['payments', new Map(locked)]]) });
}

function project(t: TestContext, files: Readonly<Record<string, string>>): string {
  const cwd = folder(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  return cwd;
}

test('test: every case is decided as expected, without a server, a store or a gateway', (t) => {
  const cwd = project(t, {
    'recourse.yaml': config,
    'recourse.test.yaml': good,
    'recourse.lock': lockOf({ refund: schema, get_charge: {} }),
  });
  const { status, stdout, stderr } = recourse(['test'], { cwd });
  assert.deepEqual([status, stderr], [0, ''], stdout);
  assert.equal(
    stdout,
    [
      'agent support: 2 of 6 rules exercised',
      '  · not exercised: recourse.yaml:10 permit payments/get_*',
      '  · not exercised: recourse.yaml:11 deny payments/refund',
      '  · not exercised: recourse.yaml:16 permit payments/note',
      '  · not exercised: recourse.yaml:7 deny by default',
      '',
      'note: where a case says no `now`, it is 2026-01-01T12:00:00Z.',
      '✓ 2 cases decided as expected (recourse.test.yaml)',
      '',
    ].join('\n'),
  );
});

test('test: a case that fails says what was decided, by which rule and why, and the command ends with 2', (t) => {
  const cwd = project(t, {
    'recourse.yaml': config.replace(", '*': { reach: network }", ''),
    'recourse.test.yaml': `cases:\n${aCase('huge', 5_000, 'expect: permit')}${aCase('small', 50, 'expect: permit')}`,
  });
  const { status, stdout } = recourse(['test'], { cwd });
  assert.equal(status, 2);
  // Not pinned and not declared: its reach is taken for the worst, and that is beyond the mode.
  assert.match(stdout, /^ {2}decided: deny at recourse\.yaml:8, because the tool reaches further than the agent may$/m);
  assert.match(stdout, /^note: not pinned, and taken for .*: payments\/refund\.$/m);
  assert.match(stdout, /^✗ 2 of 2 cases decided otherwise/m);
  writeFileSync(join(cwd, 'recourse.yaml'), config);
  const again = recourse(['test'], { cwd });
  assert.equal(again.status, 2);
  assert.match(
    again.stdout,
    new RegExp(
      [
        '^recourse\\.test\\.yaml:2 failed huge',
        '  support calls payments/refund {"amount":5000}',
        '  ✗ permit was expected, and it was decided to deny',
        '  decided: deny at recourse\\.yaml:11, which matches \\(too much for a bot\\)',
        '    recourse\\.yaml:11  matches',
        '',
      ].join('\n'),
    ),
  );
  assert.match(again.stdout, /^✗ 1 of 2 cases decided otherwise \(recourse\.test\.yaml\)$/m);
});

test('test: the files that lie beside the configuration, or those that are named', (t) => {
  const failing = `cases:\n${aCase('other', 5, 'expect: deny')}`;
  const cwd = project(t, {
    'app/recourse.yaml': config,
    'app/recourse.test.yaml': `cases:\n${aCase('small', 50, 'expect: permit, rule: recourse.yaml:16')}`,
    'app/b.recourse.test.yaml': failing,
    'app/a.recourse.test.yaml': failing,
    'app/other.yaml': failing,
  });
  const at = ['--config', 'app/recourse.yaml'];
  assert.match(
    recourse(['test', ...at], { cwd }).stdout,
    /✗ 2 of 3 cases .* \(app\/recourse\.test\.yaml, app\/a\.recourse\.test\.yaml, app\/b\.recourse\.test\.yaml\)/,
  );
  assert.equal(recourse(['test', 'app/recourse.test.yaml', ...at], { cwd }).status, 0);
  assert.equal(recourse(['test', 'app/recourse.test.yaml', 'app/other.yaml', ...at], { cwd }).status, 2);
});

test('test: what cannot be used is told with its place, and the command ends with 1', (t) => {
  const ends: readonly (readonly [says: string, files: Record<string, string>, told: RegExp])[] = [
    [
      'no configuration',
      { 'recourse.test.yaml': good },
      /recourse\.yaml:1:1 error ShapeInvalid this file does not exist/,
    ],
    ['no tests', { 'recourse.yaml': config }, /recourse\.test\.yaml:1:1 error ShapeInvalid there are no policy tests/],
    ['no policy', { 'recourse.yaml': 'workflows: {}\n', 'recourse.test.yaml': good }, /no agents are declared/],
    [
      'a wrong condition',
      { 'recourse.yaml': config.replace('args.amount > 1000', 'arg.amount > 1000'), 'recourse.test.yaml': good },
      /recourse\.yaml:12:15 error ConfigSchemaViolation .*variable arg/,
    ],
    [
      'a wrong case',
      { 'recourse.yaml': config, 'recourse.test.yaml': good.replace('expect: defer', 'expct: defer') },
      /recourse\.test\.yaml:3:\d+ error ConfigSchemaViolation there is no key 'expct' here/,
    ],
  ];
  for (const [says, files, told] of ends) {
    const { status, stdout } = recourse(['test'], { cwd: project(t, files) });
    assert.equal(status, 1, says);
    assert.match(stdout, told, says);
  }
  const { status, stdout } = recourse(['test', 'absent.yaml'], { cwd: project(t, { 'recourse.yaml': config }) });
  assert.equal(status, 1);
  assert.match(stdout, /^absent\.yaml:1:1 error ShapeInvalid this file does not exist/);
});

test('test: arguments that the tool would refuse are said to be so', (t) => {
  const cwd = project(t, {
    'recourse.yaml': config,
    'recourse.test.yaml': `cases: [{ name: none, agent: support, call: payments/refund, expect: deny }]`,
    'recourse.lock': lockOf({ refund: schema, note: {}, get_charge: {} }),
  });
  const { status, stdout } = recourse(['test'], { cwd });
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^note: recourse\.test\.yaml:1: the tool takes no such arguments \(.*\); policy is not asked then\.$/m,
  );
});

test('test --json: one object a line, told apart by its kind', (t) => {
  const cwd = project(t, {
    'recourse.yaml': config,
    'recourse.test.yaml': `cases:\n${aCase('huge', 5_000, 'expect: permit')}`,
  });
  const { status, stdout } = recourse(['test', '--json'], { cwd });
  assert.equal(status, 2);
  const lines = objectsIn(stdout);
  assert.deepEqual(lines[0], {
    kind: 'case',
    name: 'huge',
    ref: 'recourse.test.yaml:2',
    agent: 'support',
    tool: 'payments/refund',
    passed: false,
    wrong: ['permit was expected, and it was decided to deny'],
    decision: {
      effect: 'deny',
      code: 'POLICY_DENY',
      ref: 'recourse.yaml:11',
      by: 'rule',
      reason: 'too much for a bot',
      problem: null,
    },
    looks: [{ ref: 'recourse.yaml:11', result: 'matched', problem: null }],
    now: '2026-01-01T12:00:00Z',
  });
  const [rule] = lines.filter(({ kind }) => kind === 'rule');
  assert.deepEqual(rule, {
    kind: 'rule',
    agent: 'support',
    ref: 'recourse.yaml:10',
    effect: 'permit',
    match: 'payments/get_*',
    decided: 0,
  });
  assert.deepEqual(lines.at(-2), { kind: 'unpinned', tool: 'payments/refund' });
  assert.deepEqual(lines.at(-1), { kind: 'summary', cases: 1, failed: 1, rules: 6, exercised: 1 });
  const broken = recourse(['test', '--json', 'absent.yaml'], { cwd });
  assert.deepEqual([broken.status, objectsIn(broken.stdout)[0]?.['kind']], [1, 'problem']);
});

test('test: terminal codes in a case are spelt out', (t) => {
  const cwd = project(t, {
    'recourse.yaml': config,
    'recourse.test.yaml':
      'cases: [{ name: "\\e[31m", agent: support, call: "\\e[32m", args: { a: "\\e[33m" }, expect: permit }]',
  });
  // oxlint-disable-next-line no-control-regex -- that is what is looked for
  assert.doesNotMatch(recourse(['test'], { cwd }).stdout, /\u001b/);
});

const workflowModule = `
  import { createMachine } from '${import.meta.resolve('xstate')}';
  import { mount } from '${pathToFileURL(join(root, 'src/adapters/upstream-function/workflow/mount.ts')).href}';
  const states = { a: { on: { pay: 'b' } }, b: { on: { serve: 'c' } }, c: { type: 'final' } };
  export const workflow = mount(createMachine({ id: 'shop', initial: 'a', states }), {
    actions: { pay: { tool: 'payments/refund' }, serve: { run: async () => 1 } },
  });
  setInterval(() => {}, 1_000_000);
`;

test('check: what is proven about a policy, each with what proves it, and an error is a no', (t) => {
  const cwd = project(t, {
    'shop.ts': workflowModule,
    'recourse.yaml': `tools:
  payments: { mcp: { command: no-such-program } }
workflows: { shop: ./shop.ts }
agents:
  support:
    rules:
      - permit: payments/refund
      - deny: payments/refund
      - deny: payments/refunds
      - deny: shop/serve
        when: args.x < 3 && args.x > 5
      - deny: payments/note
        when: args.kind == 'lang'
  idle: {}
`,
    'recourse.lock': lockOf({
      refund: schema,
      note: { type: 'object', properties: { kind: { enum: ['long', 'short'] } } },
    }),
  });
  const { status, stdout } = recourse(['check'], { cwd });
  assert.equal(status, 1, stdout);
  const said = [
    /^ {2}error shadowed_rule recourse\.yaml:8 deny payments\/refund never decides: permit payments\/refund \(recourse\.yaml:7\)/m,
    /^ {6}a call of payments\/refund is decided at recourse\.yaml:7 and never comes to recourse\.yaml:8$/m,
    /^ {2}error unknown_tool recourse\.yaml:9 .*\n.*\n {6}fix did you mean payments\/refund\?$/m,
    /^ {2}error never_matches recourse\.yaml:10 .*\n {6}`args\.x < 3` and `args\.x > 5` exclude each other$/m,
    /^ {2}error never_matches recourse\.yaml:12 .*\n.*the schema of payments\/note takes only "long", "short"$/m,
    /^ {2}error policy_dead_end recourse\.yaml:5 support can do nothing in b of shop: .*\n {6}by pay; there serve is denied/m,
    /^ {2}warning idle_agent recourse\.yaml:14 nothing could ever be permitted to idle$/m,
    /^✗ recourse\.yaml has a policy that can go wrong$/m,
  ];
  for (const line of said) assert.match(stdout, line);
  // One workflow by itself says nothing about rules for everything else.
  assert.doesNotMatch(recourse(['check', 'shop'], { cwd }).stdout, /^policy$/m);
  const lines = objectsIn(recourse(['check', '--json'], { cwd }).stdout);
  const codes = lines.filter(({ kind }) => kind === 'policy_finding').map(({ code }) => code);
  assert.deepEqual([...new Set(codes)].toSorted(), [
    'idle_agent',
    'never_matches',
    'policy_dead_end',
    'shadowed_rule',
    'unknown_tool',
  ]);
});
