import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTerms } from '../core/approval/approval.ts';
import type { WrittenAgent } from '../core/policy/policy.ts';
import { readConfig } from './read-config.ts';

const server = 'tools: { shop: { mcp: { command: shop } } }\n';

function toldIn(text: string) {
  const read = readConfig(text, 'f', { env: {}, lock: null });
  const say = ({ line, column, message, fix }: { line: number; column: number; message: string; fix: string }) =>
    `${line}:${column} ${message}; ${fix}`;
  return { ...read, problems: read.allProblems().map(say), warnings: read.allWarnings().map(say) };
}

const everything = `# who may do what
agents:
  clerk:
    default: defer
    mode: network
    rules:
      - permit: shop/get_*
      # a comment

      - deny: [shop/pay, "shop/**"]
        when: args.amount > 500 &&
          args.currency == 'USD'
        reason: ask the platform team
      - { defer: shop/refund, approvers: [finance], expires: 2h, on_approve: run, needs: 2, client_may_approve: true }
      -
        when: |
          true
        permit: 'x/y'
    model_policy: { allow: ["claude-*"] }
    redact: [args.card, 'result.**.email']
    completion: { require: [shop/pay, close], when: session.seq > 0, condition: state.value == 'paid' }
    approvers: [staff]
  idle: {}
roles: { finance: [ann, bob], staff: [cyd] }
`;

const clerk: WrittenAgent = {
  agent: 'clerk',
  ref: 'f:3',
  default: { effect: 'defer', ref: 'f:4', terms: { ...defaultTerms, roles: ['staff'] } },
  ceiling: { reach: 'network', ref: 'f:5' },
  rules: [
    { effect: 'permit', match: 'shop/get_*', when: null, reason: null, ref: 'f:7' },
    ...['shop/pay', 'shop/**'].map((match) => ({
      effect: 'deny' as const,
      match,
      when: "args.amount > 500 && args.currency == 'USD'",
      reason: 'ask the platform team',
      ref: 'f:10',
    })),
    {
      effect: 'defer',
      match: 'shop/refund',
      when: null,
      reason: null,
      ref: 'f:14',
      terms: { roles: ['finance'], needed: 2, expiresMs: 7_200_000, onApprove: 'run', clientMayApprove: true },
    },
    { effect: 'permit', match: 'x/y', when: 'true\n', reason: null, ref: 'f:16' },
  ],
  models: { allow: ['claude-*'], ref: 'f:19' },
  redact: ['args.card', 'result.**.email'],
  completion: {
    require: ['shop/pay', 'close'],
    when: 'session.seq > 0',
    condition: "state.value == 'paid'",
    ref: 'f:21',
  },
};

test('what is written about agents is read, each with its line', () => {
  const { config, problems } = toldIn(everything);
  assert.deepEqual(problems, []);
  const nothing = { default: null, rules: [], ceiling: null, models: null, redact: [] };
  assert.deepEqual(config.policy, {
    mode: 'enforce',
    ref: 'f:2',
    agents: [clerk, { agent: 'idle', ref: 'f:23', ...nothing }],
    roles: { finance: ['ann', 'bob'], staff: ['cyd'] },
  });
  assert.deepEqual(
    config.agents.map(({ name, at }) => [name, at.line]),
    [
      ['clerk', 3],
      ['idle', 23],
    ],
  );
  const deferring = (config.agents[0]?.written['rules'] ?? []) as readonly object[];
  assert.deepEqual(deferring[2], {
    defer: 'shop/refund',
    approvers: ['finance'],
    expires: 7_200_000,
    on_approve: 'run',
    needs: 2,
    client_may_approve: true,
  });
});

test('without the key agents there is no policy, and with an empty one nobody may do anything', () => {
  assert.equal(toldIn('runtime: { mode: audit }').config.policy, null);
  assert.deepEqual(toldIn('runtime: { mode: audit }\nagents: {}').config.policy, {
    mode: 'audit',
    ref: 'f:2',
    agents: [],
  });
});

test('a rule that is an alias is where it is written', () => {
  const { config, problems } = toldIn('agents:\n  a: { rules: [&r { permit: x }] }\n  b:\n    rules:\n      - *r\n');
  assert.deepEqual(problems, []);
  assert.deepEqual(
    config.policy?.agents.map(({ rules }) => rules[0]?.ref),
    ['f:2', 'f:2'],
  );
});

const wrong: readonly (readonly [what: string, agent: string, problem: string])[] = [
  ['an unknown key', 'rule: []', "2:8 there is no key 'rule' here; did you mean rules?"],
  ['an unknown key of a rule', 'rules: [{ permit: x, wen: y }]', "2:29 there is no key 'wen' here; did you mean when?"],
  [
    'two effects in one rule',
    'rules: [{ permit: x, deny: y }]',
    '2:16 permit and deny exclude each other; use exactly one of permit, defer, deny',
  ],
  [
    'a rule without an effect',
    'rules: [{ when: "true" }]',
    '2:16 one of permit, defer, deny is missing; use exactly one of permit, defer, deny',
  ],
  [
    'a rule without tools',
    'rules: [{ permit: [] }]',
    '2:26 an empty list stands here; write at least 1 (any of these tools)',
  ],
  [
    'approvers of a rule that asks nobody',
    'rules: [{ permit: x, approvers: [y] }]',
    "2:29 'approvers' has no meaning with permit; leave it out, or write defer",
  ],
  [
    'an expiry of a rule that denies',
    'rules: [{ deny: x, expires: 2h }]',
    "2:27 'expires' has no meaning with deny; leave it out, or write defer",
  ],
  ['a default that is none', 'default: alow', "2:17 'alow' is not known here; use one of permit, defer, deny"],
  ['an unknown mode', 'mode: netwrok', "2:14 'netwrok' is not known here; did you mean network?"],
  [
    'a rate in words',
    'limits: [{ match: x, rate: often }]',
    '2:35 "often" is not usable here; use a rate such as 10/minute; second, minute, hour or day',
  ],
  [
    'a budget without a currency',
    'budgets: { d: { max: "500", cost: 1 } }',
    '2:29 "500" is not usable here; use an amount and a unit, such as 500 USD, 1000 calls or 200000 tokens',
  ],
  [
    'a budget of no time',
    'budgets: { d: { max: 5 USD, cost: args.a } }',
    '2:19 the budget d does not say over which time it counts; add window: hourly | daily | weekly | monthly | session | total',
  ],
  [
    'a reserve in another currency',
    'budgets: { daily: { max: 5 USD, cost: result.a, reserve: 1 EUR } }',
    '2:65 this is not in USD; write it in USD, like max',
  ],
  [
    'a part of a call',
    'budgets: { daily: { max: 5.5 calls } }',
    `2:33 this amount is too large, or in parts of something that has none; use an amount and a unit, such as 500 USD, 1000 calls or 200000 tokens`,
  ],
  [
    'a time zone that nobody lives in',
    'budgets: { daily: { max: 5 calls, time_zone: Mars/Base } }',
    "2:53 there is no time zone 'Mars/Base'; use a name such as Europe/Berlin",
  ],
  [
    'approvers of a budget that asks nobody',
    'budgets: { daily: { max: 5 calls, approvers: [x] } }',
    "2:42 'approvers' has no meaning without on_exceed: defer; leave it out, or add on_exceed: defer",
  ],
  [
    'a share beyond one',
    'budgets: { d: { max: 5 USD, cost: 1, warn_at: 80 } }',
    '2:54 80 stands here; write a number from 0 to 1',
  ],
  [
    'a host that is an address',
    'egress: { allow: ["https://x"] }',
    '2:26 "https://x" is not usable here; use the name of a host, such as api.example.com or *.example.com, or a range such as 10.0.0.0/8',
  ],
];

for (const [what, agent, problem] of wrong) {
  test(`${what} is told`, () => assert.deepEqual(toldIn(`agents:\n  a: { ${agent} }\n`).problems, [problem]));
}

test('a pattern that begins with a star must stand in quotes, and that is said', () => {
  for (const star of ['*', '**', '*/x'])
    assert.match(toldIn(`agents: { a: { rules: [{ permit: ${star} }] } }`).problems[0] ?? '', /in quotes/, star);
});

test('the sample of the product is read, but for the name of an address', () => {
  const sample = `tools:
  payments: { http: { base_url: https://api.example.com, openapi: ./payments.yaml } }
  files:    { mcp:  { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "./data"] } }

agents:
  support-bot:
    default: deny
    rules:
      - permit: payments/get_*
      - permit: payments/refund
        when: args.amount < 500
      - defer: payments/refund
        approvers: [finance]
      - deny: payments/payout
        reason: platform team only
    limits:  [{ match: "payments/*", rate: 10/minute }]
    budgets: { daily: { max: 500 USD, cost: args.amount, warn_at: 0.8, on_exceed: defer } }
    egress:  { allow: [api.example.com] }
    model_policy: { allow: ["claude-*"] }

workflows:
  refund: ./refund.workflow.ts
`;
  const { problems, warnings } = toldIn(sample);
  assert.deepEqual(problems, ['2:23 the address of an API is called url here; write url']);
  assert.deepEqual(
    warnings.map((each) => each.replace(/; .*/, '')),
    [],
  );
});

test('every key is enforced: a file that uses all sections has no warning', () => {
  const { problems, warnings } = toldIn(`${server}agents:
  a:
    default: defer
    rules:
      - { defer: x, approvers: [r], expires: 1h, on_approve: wait }
      - permit: y
    limits: []
    budgets: {}
    egress: { allow: [] }
    completion: { require: [tests], when: 'session.seq > 0' }
    approvers: [r]
    redact: [args.x]
  b: { default: deny, limits: [] }
roles: { r: [ann] }
credentials: { v: { env: { name: X }, match: [x], inject: { header: X-Key } } }
notify: { ops: { webhook: "https://x/y", secret: 0123456789abcdef, events: [POLICY_DEFER, COMPLETION_BLOCKED, RUNTIME_GAP, POLICY_DENY] } }
playbook: { server_error_5xx: escalate_to_human }
extensions: { e: ./e.ts }
`);
  assert.deepEqual(problems, []);
  assert.deepEqual(warnings, []);
});

test('a file with ten thousand rules is read, and one with more is told', () => {
  const rules = (count: number) =>
    `agents:\n  a:\n    rules:\n${Array.from({ length: count }, (_, at) => `      - permit: t${at}\n        when: args.a < ${at}\n`).join('')}`;
  assert.equal(toldIn(rules(10_000)).config.policy?.agents[0]?.rules.length, 10_000);
  assert.deepEqual(toldIn(rules(10_001)).problems, ['4:7 this list is longer than 10000; make it shorter']);
});

test('more warnings than anybody reads are counted', () => {
  const agents = Array.from({ length: 150 }, (_, at) => `  a${at}: { approvers: [r] }\n`).join('');
  const { warnings } = toldIn(`agents:\n${agents}`);
  assert.equal(warnings.length, 101);
  assert.match(warnings.at(-1) ?? '', /^102:11 50 more warnings, of which this is one: approvers/);
});

test('a workflow and a server of one name are told apart by nobody', () => {
  const text = `${server}workflows:\n  shop: ./shop.ts\n`;
  assert.deepEqual(toldIn(text).problems, [
    "3:3 the workflow 'shop' has the name of a server: rules could not tell them apart (f:1); give one of them another name",
  ]);
});

test('[S002-ready-2] modes, grace, limits and what is declared about tools are read', () => {
  const limits = 'max_pending_approvals: 5, max_approval_wait_ms: 9000, approval_wait_ms: 400';
  const { config, problems } = toldIn(`runtime: { mode: audit, cold_start_grace: 30s, limits: { ${limits} } }
tools: { a: { mcp: { command: x }, tools: { "*": { reach: local_write, reports_within: 10m } } } }
`);
  assert.deepEqual(problems, []);
  assert.deepEqual([config.runtime.mode, config.runtime.coldStartGraceMs], ['audit', 30_000]);
  assert.deepEqual(config.runtime.limits, { maxPendingApprovals: 5, maxApprovalWaitMs: 9_000, approvalWaitMs: 400 });
  const [rule] = config.tools[0]?.rules ?? [];
  assert.deepEqual([rule?.reach, rule?.reportsWithinMs], ['local_write', 600_000]);
});
