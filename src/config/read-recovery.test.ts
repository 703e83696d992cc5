/** Recovery as recourse.yaml declares it: what is read, what is refused and where, and what expressions give. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSchema } from '../core/schema/compile-schema.ts';
import { defaultPlaybook } from '../core/recovery/playbook.ts';
import { createProblemList } from './problem.ts';
import { readConfig } from './read-config.ts';
import { configSchema } from './shape/config-schema.ts';
import { plainOf } from './shape/read-shape.ts';
import { readYaml } from './yaml/yaml-tree.ts';

const good = `playbook:
  transient_timeout: { retry_with_backoff: { backoff: [200ms, 600ms], jitter: 0.1 } }
  server_error_5xx: escalate_to_human
  policy_denied: { escalate_to_human: { queue: security } }
  rate_limited:
    pure: { retry_with_backoff: { backoff: [5s, 10s], max_attempts: 2 } }
    keyed: retry_with_backoff
    probeable: escalate_to_human
    plain: { deprecate_tool_call: { reason: busy } }
tools:
  payments:
    mcp: { command: payments }
    playbook: { server_error_5xx: retry_with_backoff }
    breaker: { failures: 2 }
    tools:
      refund:
        effect: probeable
        playbook: { schema_mismatch: { escalate_to_human: { queue: refunds } } }
        retry: { max_attempts: 2, backoff: fixed, base: 500ms, classifier: { ExecutionTimeout: terminal, NotFound: terminal } }
        reconcile:
          tool: payments/find_refund
          args: '{"order": args.order}'
          happened: size(result.refunds) > 0
          result: result.refunds[0]
        quarantine: 2m
        operation_key: args.order
      find_*: { effect: pure }
  quiet:
    mcp: { command: quiet }
    breaker: off
`;

const read = (text: string) => readConfig(text, 'f', { env: {} });

test('what is declared about recovery is read', () => {
  const { config, problems } = read(good);
  assert.deepEqual(problems, []);
  const { declared, places } = config.playbook;
  assert.deepEqual(declared.playbook?.transient_timeout?.plain, {
    action: { kind: 'retry_with_backoff', max_attempts: 2, backoff_ms: [200, 600] },
    jitter: 0.1,
  });
  const limited = Object.values(declared.playbook?.rate_limited ?? {}).map(({ action }) => action.kind);
  assert.deepEqual(limited, ['retry_with_backoff', 'retry_with_backoff', 'escalate_to_human', 'deprecate_tool_call']);
  assert.deepEqual(declared.playbook?.rate_limited?.keyed, defaultPlaybook.rate_limited.keyed);
  assert.deepEqual(places.get('policy_denied'), { file: 'f', line: 4, column: 3 });
  const [payments, quiet] = config.tools;
  assert.deepEqual(payments?.recovery?.declared.breaker, { failures: 2, openMs: 30_000 });
  assert.equal(quiet?.recovery?.declared.breaker, null);
  const [refund, finds] = payments?.rules ?? [];
  assert.deepEqual(refund?.recovery?.declared.retry, {
    retryable: true,
    maxAttempts: 2,
    backoff: 'fixed',
    baseMs: 500,
    jitter: 0.2,
    classifier: { ExecutionTimeout: 'terminal', NotFound: 'terminal' },
  });
  assert.equal(refund?.recovery?.declared.quarantineMs, 120_000);
  assert.deepEqual(
    [...(refund?.recovery?.places ?? [])].map(([key, { line }]) => [key, line]),
    [
      ['schema_mismatch', 18],
      ['retry', 19],
      ['reconcile', 20],
      ['quarantine', 25],
    ],
  );
  assert.equal(finds?.recovery, undefined);
});

function refundRule() {
  const rule = read(good).config.tools[0]?.rules[0];
  const reconcile = rule?.recovery?.declared.reconcile;
  assert.ok(rule?.operationKey !== undefined && reconcile !== undefined);
  return { reconcile, operationKey: rule.operationKey };
}

test('the read is asked and its answer judged by the expressions', () => {
  const { reconcile } = refundRule();
  assert.equal(reconcile.tool, 'payments/find_refund');
  assert.deepEqual(reconcile.ask({ order: 'o1', amount: 5 }), { order: 'o1' });
  assert.deepEqual(reconcile.interpret({}, { refunds: [{ id: 'r1' }] }), { kind: 'happened', result: { id: 'r1' } });
  assert.deepEqual(reconcile.interpret({}, { refunds: [] }), { kind: 'did_not' });
});

const unusable = [null, 7, 'text', [], {}, { refunds: null }, { order: null }] as const;

for (const value of unusable)
  test(`${JSON.stringify(value)} in place of arguments and of an answer decides nothing and throws nothing`, () => {
    const { reconcile, operationKey } = refundRule();
    if (JSON.stringify(value) !== '{"order":null}') assert.equal(reconcile.ask(value as never), null);
    assert.equal(reconcile.interpret({}, value as never).kind, 'unclear');
    assert.equal(operationKey.of(value as never), null);
  });

test('an operation key is a text, or none', () => {
  const { operationKey } = refundRule();
  assert.equal(operationKey.of({ order: 'o1' }), 'o1');
  assert.equal(operationKey.of({ order: 5 }), null);
  assert.equal(operationKey.declared, 'args.order');
});

const tool = (rule: string) => `tools:\n  a:\n    mcp: { command: x }\n    tools:\n      t: ${rule}\n`;
const reconcile = (more: string) => tool(`{ reconcile: { tool: a/find, args: '{}', happened: 'true'${more} } }`);

test('an error in a part of happened is not made up for by the rest', () => {
  const text = tool(`{ reconcile: { tool: a/find, args: '{}', happened: 'result.missing || true' } }`);
  const read_ = read(text).config.tools[0]?.rules[0]?.recovery?.declared.reconcile;
  assert.equal(read_?.interpret({}, {}).kind, 'unclear');
});

const refused: readonly (readonly [text: string, told: string])[] = [
  [
    'playbook:\n  policy_denied: retry_with_backoff',
    'f:2:3 policy_denied is never retried: only a person can lift the refusal; use another compensation',
  ],
  [
    'playbook:\n  transient_timeout: { retry_with_backoff: { backoff: [1s], max_attempts: 3 } }',
    'f:2:61 max_attempts must be the number of pauses, which is 1; write 1, or leave it out',
  ],
  [
    'playbook:\n  transient_timeout: { retry_with_backof: { backoff: [1s] } }',
    "f:2:24 there is no key 'retry_with_backof' here; did you mean retry_with_backoff?",
  ],
  ['playbook:\n  timeout: escalate_to_human', "f:2:3 there is no key 'timeout' here; use one of "],
  [
    'playbook:\n  rate_limited: { pure: escalate_to_human, keyed: escalate_to_human, plain: escalate_to_human }',
    "f:2:17 the key 'probeable' is missing; add probeable: …",
  ],
  [
    'playbook:\n  policy_denied: { escalate_to_human: { queue: "a b" } }',
    'f:2:48 "a b" is not usable here; use 1 to 64 letters, digits, _ . or -',
  ],
  [
    'playbook:\n  cancelled: refresh_evidence',
    'f:2:3 refresh_evidence has no meaning for cancelled; use it for evidence_stale only',
  ],
  [
    tool('{ playbook: { auth_expired: { pure: escalate_to_human, keyed: x, probeable: x, plain: x } } }'),
    "f:5:72 'x' is not known here; use one of retry_with_backoff",
  ],
  [
    tool('{ retry: { classifier: { NotFound: retry } } }'),
    'f:5:45 NotFound is never retried: the same request would be refused again; leave it out, or write terminal',
  ],
  [
    tool('{ retry: { classifier: { NotFnd: retry } } }'),
    "f:5:35 'NotFnd' is not usable as a name here; use a code of a failure, such as ResourceBusy",
  ],
  [tool('{ retry: { base: 2h } }'), 'f:5:27 this duration is too short or too long; use 0ms to 3600s'],
  [tool('{ retry: { tries: 3 } }'), "f:5:21 there is no key 'tries' here"],
  [tool('{ reconcile: { tool: a/find } }'), "f:5:23 the key 'args' is missing"],
  [tool('{ effect: pure, reconcile: { tool: a/f, args: "{}", happened: "true" } }'), 'f:5:26 a read is never in doubt'],
  [
    tool(`{ reconcile: { tool: a/find, args: '{"x": arg.x}', happened: 'true' } }`),
    'f:5:52 this expression is wrong: there is no variable arg here',
  ],
  [
    tool(`{ reconcile: { tool: a/find, args: args.x + "1", happened: 'true' } }`),
    'f:5:45 this expression gives no map, and the arguments of a tool are one',
  ],
  [
    tool(`{ reconcile: { tool: a/find, args: '{}', happened: size(result) } }`),
    'f:5:61 this expression is wrong: it must give a true or false',
  ],
  [reconcile(`, result: 'results'`), 'f:5:78 this expression is wrong: there is no variable results here'],
  [tool('{ operation_key: size(args) }'), 'f:5:27 this expression is wrong: it must give a text'],
  [tool('{ operation_key: result.id }'), 'f:5:27 this expression is wrong: there is no variable result here'],
  [tool('{ quarantine: 2d }'), 'f:5:24 this duration is too short or too long'],
  [tool('{ breaker: off }'), "f:5:12 there is no key 'breaker' here"],
  ['tools:\n  a: { mcp: { command: x }, breaker: on }', "f:2:38 'on' is not known here; use one of off"],
  ['tools:\n  a: { mcp: { command: x }, breaker: { failures: 0 } }', 'f:2:50 0 stands here'],
];

for (const [text, expected] of refused)
  test(`refused: ${expected.slice(0, 90)}`, () => {
    const told = read(text).problems.map(
      ({ file, line, column, message, fix }) => `${file}:${line}:${column} ${message}; ${fix}`,
    );
    assert.ok(told[0]?.startsWith(expected), told.join('\n'));
  });

test('without the default each missing pair is told at extends, and what is wrong is not told as missing too', () => {
  const told = read('playbook:\n  extends: none\n  cancelled: nonsense').problems.map(
    ({ line, message }) => `${line} ${message}`,
  );
  assert.equal(told.length, 9 * 4 + 1);
  assert.ok(told.includes('2 rate_limited × probeable is missing'));
  assert.equal(told.filter((each) => each.includes('cancelled')).length, 0);
});

test('the published schema accepts what is read, and refuses playbooks of another shape', () => {
  const schema = compileSchema(configSchema());
  if (!schema.ok) assert.fail(schema.problem);
  const errorsIn = (text: string) => {
    const tree = readYaml(text, 'f', createProblemList('f', text).tell);
    assert.ok(tree !== null);
    return schema.check(plainOf(tree));
  };
  assert.deepEqual(errorsIn(good), []);
  for (const text of [
    'playbook: { rate_limited: { pure: escalate_to_human } }',
    'playbook: { rate_limited: { escalate_to_human: {}, issue_reversal: {} } }',
    'playbook: { extends: default }',
    tool('{ retry: { tries: 3 } }'),
    tool('{ reconcile: { tool: find, args: "{}", happened: "true" } }'),
  ])
    assert.notDeepEqual(errorsIn(text), [], text);
});
