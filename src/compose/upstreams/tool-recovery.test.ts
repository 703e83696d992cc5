/** Which declaration counts for which tool, and that a gateway does what is declared. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aTool } from '../../../test/support/builders.ts';
import { openGateway } from '../../../test/support/open-gateway.ts';
import { aTool as aFunction } from '../../../test/support/tools.ts';
import { readConfig } from '../../config/read-config.ts';
import { ToolFailure } from '../../adapters/upstream-function/tool-failure.ts';
import { defaultPlaybook } from '../../core/recovery/playbook.ts';
import { addDeclared, createRecovery, recoveryOf } from './tool-recovery.ts';

const yaml = `playbook:
  server_error_5xx: { escalate_to_human: { queue: gateway } }
  rate_limited: { escalate_to_human: { queue: gateway } }
  transient_timeout: { escalate_to_human: { queue: gateway } }
tools:
  payments:
    mcp: { command: payments }
    playbook:
      rate_limited: { escalate_to_human: { queue: server } }
      transient_timeout: { escalate_to_human: { queue: server } }
    tools:
      refund:
        playbook: { transient_timeout: { escalate_to_human: { queue: rule } } }
        quarantine: 2m
        operation_key: args.order
      "*": { playbook: { transient_timeout: { escalate_to_human: { queue: later } } } }
  quiet: { mcp: { command: quiet }, breaker: off }
`;

function declared() {
  const { config, problems } = readConfig(yaml, 'f');
  assert.deepEqual(problems, []);
  return recoveryOf(config);
}

const named = (name: string, more = {}) => aTool({ name, policyName: name, ...more });

function queues(name: string, more = {}): readonly (string | null)[] {
  const { playbook } = createRecovery(declared())(named(name, more));
  return (['server_error_5xx', 'rate_limited', 'transient_timeout'] as const).map((verdict) => {
    const { action } = playbook[verdict].plain;
    return action.kind === 'escalate_to_human' ? action.queue : null;
  });
}

const own = { recovery: { playbook: { server_error_5xx: { plain: defaultPlaybook.server_error_5xx.plain } } } };

const joined: readonly (readonly [name: string, more: object, queues: readonly (string | null)[]])[] = [
  ['payments/refund', {}, ['gateway', 'server', 'rule']],
  ['payments/other', {}, ['gateway', 'server', 'later']],
  ['quiet/refund', {}, ['gateway', 'gateway', 'gateway']],
  ['payments', {}, ['gateway', 'gateway', 'gateway']],
  ['paymentsx/refund', {}, ['gateway', 'gateway', 'gateway']],
  ['pay', own, [null, 'gateway', 'gateway']],
];

for (const [name, more, expected] of joined)
  test(`${name} follows ${expected.map((each) => each ?? 'its own').join(', ')}`, () =>
    assert.deepEqual(queues(name, more), expected));

test('a server has a breaker unless it is off, and a function has none', () => {
  const recovery = createRecovery(declared());
  assert.deepEqual(recovery(named('payments/refund')).breaker, { failures: 5, openMs: 30_000 });
  assert.equal(recovery(named('quiet/x')).breaker, null);
  assert.equal(recovery(named('pay')).breaker, null);
  assert.equal(recovery(named('payments/refund')).quarantineMs, 120_000);
  assert.equal(recovery(named('payments/refund')).upstream, 'payments');
});

test('the same entry gives the same objects, so that nothing is hashed twice', () => {
  const config = declared();
  const recovery = createRecovery(config);
  const complete = addDeclared(config);
  const refund = named('payments/refund');
  assert.equal(recovery(refund), recovery(refund));
  assert.equal(complete(refund), complete(refund));
  assert.equal(complete(refund).operationKey?.({ order: 'o1' }), 'o1');
  const other = named('payments/other');
  assert.equal(complete(other), other);
});

const failing = (sends: { count: number }) =>
  aFunction(
    'read',
    () => {
      sends.count += 1;
      throw new ToolFailure({ kind: '5xx', message: 'down' });
    },
    { effect: 'pure' },
  );

test('a gateway follows the playbook of its options', async (t) => {
  const sends = { count: 0 };
  const retry = { retry_with_backoff: { backoff_ms: [0, 0, 0, 0] } };
  const gateway = await openGateway(t, [failing(sends)], { playbook: { server_error_5xx: retry } });
  const retried = await gateway.call({ tool: 'read' });
  assert.equal(sends.count, 5);
  assert.ok('outcome' in retried && retried.outcome?.kind === 'exhausted', JSON.stringify(retried));
});

test('a gateway escalates where its playbook says so', async (t) => {
  const sends = { count: 0 };
  const gateway = await openGateway(t, [failing(sends)], { playbook: { server_error_5xx: 'escalate_to_human' } });
  const reply = await gateway.call({ tool: 'read' });
  assert.equal(sends.count, 1);
  assert.ok('outcome' in reply && reply.outcome?.kind === 'escalated', JSON.stringify(reply));
});

test('a gateway does not open with a playbook that could never work', async (t) => {
  await assert.rejects(openGateway(t, [], { playbook: { cancelled: 'retry_with_backoff' } }), {
    name: 'GatewayError',
    message: /^`playbook\.cancelled` of the gateway: cancelled is never retried: somebody stopped it; use another/,
  });
});
