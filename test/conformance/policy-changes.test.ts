/** CONTRACT sections 6, 8 and 9 for policy: what is sent again, what changes, and audit mode. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createMachine } from 'xstate';
import { z } from 'zod';
import { mount, tool } from '../../src/index.ts';
import type { CallId } from '../../src/core/call/call.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { openGateway as openWhole } from '../../src/main.ts';
import { evaluateCall } from '../../src/shell/look/evaluate.ts';
import { aPolicy, anAgent, denialOf } from '../support/a-policy.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { killMidCall } from '../support/kill-mid-call.ts';
import { folderOf, openGateway } from '../support/open-gateway.ts';
import { openWorkflow } from '../support/open-workflow.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { aTool, createCountingTool } from '../support/tools.ts';
import { createWorld, executionsIn } from '../support/world.ts';

describe('what is sent again', () => {
  const reopen = (t: TestContext, log: string, policy: Policy | undefined) => {
    const tools = createWorld(log, () => 'done by the next process');
    return openGateway(t, tools, { limits: { sweepEveryMs: 20 }, ...(policy === undefined ? {} : { policy }) });
  };
  const ended = (gateway: Awaited<ReturnType<typeof openGateway>>, callId: string) =>
    eventually('the end of the call', async () => {
      const { state } = await gateway.stored(callId);
      return state !== 'RETRY_WAIT' && state !== 'DISPATCHED' && state;
    });

  test('[C6-retries-1] is permitted by the policy of that moment, or is not sent', async (t) => {
    const dead = await killMidCall(t, 'pure');
    const gateway = await reopen(t, dead.log, aPolicy([anAgent('local', [['deny', '**']])]));
    assert.equal(await ended(gateway, dead.execution.call_id), 'FAILED');
    assert.equal(executionsIn(dead.log).length, 1);
    const reply = errorOf((await gateway.reply(dead.execution.call_id)) as never, 'action_error');
    assert.deepEqual([reply.error_type, reply.effect], ['PolicyDenied', 'none']);
  });

  test('[C8-redact-2] is never a call whose arguments are masked on record', async (t) => {
    const dead = await killMidCall(t, 'keyed', { args: { n: '[redacted]' } });
    const gateway = await reopen(t, dead.log, undefined);
    assert.equal(await ended(gateway, dead.execution.call_id), 'IN_DOUBT');
    assert.equal(executionsIn(dead.log).length, 1);
  });
});

describe('modes and changes', () => {
  test('[C9-change-1] [C9-explain-1] [S002-deny-2] a change counts from the next call, and an explanation leaves nothing behind', async (t) => {
    const pay = createCountingTool('pay');
    const strict = aPolicy([anAgent('local', [['permit', 'pay', { when: 'args.amount < 5' }]])]);
    const lax = aPolicy([anAgent('local', [['permit', 'pay']])]);
    let current = strict;
    const file = path.join(folderOf(t), 'changing.db');
    const opened = await openWhole({ tools: [pay.definition], file, policy: () => current });
    t.after(() => opened.gateway.close());
    const who = { tenant: 'default', agent: 'local' };
    const ask = { tool: 'pay', args: { amount: 9 } };
    const explain = async () => {
      const explained = await evaluateCall(ask, who, opened.shell);
      assert.ok('rungs' in explained, JSON.stringify(explained));
      return explained;
    };
    const before = await explain();
    assert.deepEqual([before.decision, before.reply?.code], ['refuse', 'POLICY_DENY']);
    assert.deepEqual(
      before.rungs.filter(({ answer }) => answer !== 'absent').map(({ gate, answer }) => [gate, answer]),
      [
        ['ready', 'passed'],
        ['session', 'passed'],
        ['known', 'passed'],
        ['input', 'passed'],
        ['fence', 'passed'],
        ['policy', 'refused'],
        ['model', 'not_asked'],
        ['egress', 'not_asked'],
        ['rate', 'not_asked'],
        ['budget', 'not_asked'],
        ['approval', 'not_asked'],
        ['evidence', 'not_asked'],
      ],
    );
    assert.deepEqual(
      before.rules.map(({ ref, result }) => [ref, result]),
      [['recourse.yaml:10', 'condition_false']],
    );
    assert.match(before.rungs.find(({ gate }) => gate === 'policy')?.change ?? '', /recourse\.yaml:5/);
    assert.deepEqual(await opened.shell.ports.store.listCalls({ limit: 10 }), [], 'nothing is on record');
    assert.equal(await opened.shell.ports.store.standingSession('default', 'local'), null, 'and no session is open');
    denialOf(await opened.gateway.handle(ask));
    current = lax;
    assert.equal((await explain()).decision, 'run');
    successOf(await opened.gateway.handle(ask));
    assert.equal(pay.runs(), 1);
  });

  test('[C9-change-1] [C8-policy-1] a change while a call is being judged decides it, and the record names what decided', async (t) => {
    const lax = aPolicy([anAgent('local', [['permit', 'pay']])]);
    const strict = aPolicy([anAgent('local', [['deny', 'pay']])]);
    const later = aPolicy([anAgent('local', [['deny', 'pay']]), anAgent('other', [])]);
    let current = lax;
    let runs = 0;
    const input = z.object({}).refine(async () => {
      if (current === lax) current = strict;
      return true;
    });
    const pay = tool({ name: 'pay', input, run: async () => ({ runs: ++runs }) });
    const file = path.join(folderOf(t), 'changing.db');
    const opened = await openWhole({ tools: [pay], file, policy: () => current });
    t.after(() => opened.gateway.close());
    const { store, sha256 } = opened.shell.ports;
    const policyOf = async (callId: string) => {
      const [record] = await store.recordsOf(callId as CallId);
      return (JSON.parse(record?.body ?? '{}') as { policy?: string }).policy;
    };
    const first = denialOf(await opened.gateway.handle({ tool: 'pay', args: {} }));
    assert.equal(runs, 0);
    assert.equal(await policyOf(first.call_id), sha256(strict.canonical));
    current = later;
    const second = denialOf(await opened.gateway.handle({ tool: 'pay', args: {} }));
    assert.equal(await policyOf(second.call_id), sha256(later.canonical), 'the same words are another decision');
  });

  test('[C9-audit-1] audit mode lets it pass and records what enforcing would have said', async (t) => {
    const pay = createCountingTool('pay', { input: { type: 'object', required: ['x'] } });
    const policy = aPolicy([anAgent('local', [['deny', 'pay']])], 'audit');
    const gateway = await openGateway(t, [pay.definition], { policy });
    const reply = successOf(await gateway.call({ tool: 'pay', args: { x: 1 } }));
    assert.deepEqual(reply.valid_next_actions, ['pay']);
    errorOf(await gateway.call({ tool: 'pay' }), 'validation_failed');
    const [prepared] = await gateway.records(reply.call_id);
    const { softened } = JSON.parse(prepared?.body ?? '{}') as { softened?: unknown };
    assert.deepEqual(softened, [{ gate: 'policy', code: 'POLICY_DENY', rule: 'recourse.yaml:10' }]);
  });

  test('[C1-policy-5] actions are judged by their tool or as workflow/action, and only permitted ones are next', async (t) => {
    const bar = mount(
      createMachine({
        id: 'bar',
        initial: 'open',
        states: { open: { on: { order: 'open', pay: 'open', shut: 'closed' } }, closed: { type: 'final' } },
      }),
      {
        name: 'bar',
        actions: { order: { run: async () => ({}) }, pay: { tool: 'payments/pay' }, shut: { run: async () => ({}) } },
      } as never,
    );
    const policy = aPolicy([
      anAgent('local', [
        ['permit', 'bar/order'],
        ['permit', 'payments/*', { when: 'state.value == "open" && session.workflow == "bar"' }],
      ]),
    ]);
    const gateway = await openWorkflow(t, [bar], { tools: [aTool('payments/pay', () => ({}))], policy });
    const first = await gateway.ask('order', {});
    assert.ok('valid_next_actions' in first);
    assert.deepEqual(first.valid_next_actions, ['order', 'pay']);
    successOf(await gateway.ask('pay', {}, { session: first.session ?? '' }));
    const denied = denialOf(await gateway.ask('shut', {}, { session: first.session ?? '' }));
    assert.equal(denied.human_message, 'denied: bar/shut is not in the allow list');
  });
});

test('[C9-explain-1] an explanation in a session of a workflow fires no timer that is due, and writes nothing', async (t) => {
  const states = { waiting: { after: { 1000: 'late' }, on: { go: 'late' } }, late: { type: 'final' as const } };
  const queue = mount(createMachine({ id: 'queue', initial: 'waiting', states }), {
    name: 'queue',
    actions: { go: { run: async () => ({}) } },
  });
  const clock = createShiftedClock();
  const file = path.join(folderOf(t), 'looking.db');
  const limits = { sweepEveryMs: 86_400_000 };
  const { gateway, shell } = await openWhole({ tools: [], workflows: [queue], file, limits }, { clock });
  t.after(() => gateway.close());
  const view = await gateway.sessions.open('queue');
  assert.ok(!('error' in view));
  clock.forward(5_000);
  const id = view.session as Parameters<typeof shell.ports.store.session>[0];
  const before = await shell.ports.store.session(id);
  const who = { tenant: 'default', agent: 'local' };
  const explained = await evaluateCall({ tool: 'go', args: {}, session: id }, who, shell);
  assert.ok('rungs' in explained && explained.decision === 'run', JSON.stringify(explained));
  assert.deepEqual(await shell.ports.store.session(id), before);
  assert.equal((await shell.ports.store.sessionEntries(id, 0, 10)).length, 1, 'only that it was opened');
});
