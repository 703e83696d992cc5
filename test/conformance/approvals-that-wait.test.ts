/**
 * CONTRACT sections 1, 6 and 9 for calls that wait for a person: steps, lost replies, cancellation, and what runs by
 * itself.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setup } from 'xstate';
import { defaultTerms, type ApprovalTerms } from '../../src/core/approval/approval.ts';
import { mount } from '../../src/index.ts';
import { anAgent } from '../support/a-policy.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { ana, ben, openApprovals } from '../support/open-approvals.ts';
import { aTool, createCountingTool } from '../support/tools.ts';

const agents = (match: string, terms: Partial<ApprovalTerms> = {}) => [
  {
    ...anAgent('local', []),
    rules: anAgent('local', [
      ['defer', match],
      ['permit', '**'],
    ]).rules.map((rule) => (rule.effect === 'defer' ? { ...rule, terms: { ...defaultTerms, ...terms } } : rule)),
  },
];

const approvalOf = (reply: unknown): string => {
  const { code, resolution } = errorOf(reply as never, 'denied');
  assert.equal(code, 'POLICY_DEFER');
  return resolution.type === 'pending_approval' ? resolution.approval_id : '';
};

describe('a step', () => {
  const open = async (
    t: Parameters<typeof openApprovals>[0],
    terms: Partial<ApprovalTerms> = {},
    look = async (): Promise<object> => ({}),
  ) => {
    let paid = 0;
    const machine = setup({}).createMachine({
      id: 'order',
      initial: 'open',
      states: {
        open: { on: { pay: 'paid', look: 'open' } },
        paid: { on: { ship: 'shipped' } },
        shipped: { type: 'final' },
      },
    });
    const flow = mount(machine, {
      actions: {
        pay: { run: async () => ({ paid: (paid += 1) }) },
        look: { effect: 'pure', run: look },
        ship: { run: async () => ({}) },
      },
    });
    const opened = await openApprovals(t, [], { agents: agents('order/pay', terms), workflows: [flow] });
    const session = await opened.gateway.sessions.open('order');
    assert.ok('session' in session && session.session !== null);
    const id = session.session;
    const step = (action: string) => opened.gateway.handleStep({ action, inputs: {}, session: id });
    return { ...opened, step, id, paid: () => paid };
  };

  test('[C6-approval-15] that waits keeps no turn: others go on, and its state moves when it runs', async (t) => {
    const { step, approvals, paid } = await open(t);
    const id = approvalOf(await step('pay'));
    successOf(await step('look'));
    errorOf(await step('ship'), 'invalid_transition');
    assert.equal(approvalOf(await step('pay')), id);
    assert.ok((await approvals.approve(id, ana, {})).ok);
    errorOf(await step('ship'), 'invalid_transition');
    const done = successOf(await step('pay'));
    assert.deepEqual([done.valid_next_actions, paid()], [['ship'], 1]);
    successOf(await step('ship'));
  });

  test('[C6-approval-15] that is not reachable any more is refused, and its approval stays unused', async (t) => {
    const { step, approvals, paid } = await open(t);
    const id = approvalOf(await step('pay'));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    successOf(await step('pay'));
    errorOf(await step('pay'), 'invalid_transition');
    assert.equal(paid(), 1);
  });

  test('[C1-history-1] whose approval is void was one attempt, and its history makes up no second one', async (t) => {
    const { step, approvals, change, gateway, id } = await open(t);
    const approval = approvalOf(await step('pay'));
    change({ agents: agents('order/pay', { needed: 2 }) });
    assert.ok(!(await approvals.approve(approval, ana, {})).ok);
    const history = await gateway.sessions.history(id);
    assert.ok('entries' in history);
    const told = history.entries.map(({ kind, action, outcome }) => [kind, action, outcome]);
    const [, ...rest] = told;
    assert.deepEqual(rest, [
      ['attempt', 'pay', 'denied'],
      ['approval_opened', 'pay', null],
      ['approval_voided', 'pay', null],
    ]);
  });

  test('[C6-approval-10] runs by itself once it is approved', async (t) => {
    const { step, approvals, paid } = await open(t, { onApprove: 'run' });
    const id = approvalOf(await step('pay'));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    await eventually('it was paid', async () => paid() === 1);
    await eventually('shipping is next', async () => 'action' in (await step('ship')));
    assert.equal(paid(), 1);
  });

  test('[C6-approval-10] that runs by itself waits for its turn, although nobody waits for it', async (t) => {
    const gate = Promise.withResolvers<object>();
    let looks = 0;
    const look = async () => {
      looks += 1;
      return gate.promise;
    };
    const { step, approvals, paid, gateway, id } = await open(t, { onApprove: 'run' }, look);
    const approval = approvalOf(await step('pay'));
    const looking = step('look');
    await eventually('somebody looks', async () => looks === 1);
    assert.ok((await approvals.approve(approval, ana, {})).ok);
    const impatient = { action: 'look', inputs: {}, session: id, wait_seconds: 0 };
    errorOf(await gateway.handleStep(impatient), 'action_in_flight');
    gate.resolve({});
    successOf(await looking);
    await eventually('it was paid', async () => paid() === 1);
    const history = await gateway.sessions.history(id);
    assert.ok('entries' in history);
    assert.equal(history.entries.filter(({ outcome }) => outcome === 'action_in_flight').length, 1);
  });
});

describe('a lost reply', () => {
  test('[C6-approval-16] of an approved call is found by an equal one, and nothing runs twice', async (t) => {
    let runs = 0;
    const gate = Promise.withResolvers<void>();
    let started = false;
    const refund = aTool('refund', async () => {
      started = true;
      await gate.promise;
      return { runs: (runs += 1) };
    });
    const { call, approvals, gateway, shell } = await openApprovals(t, [refund], { agents: agents('refund') });
    const id = approvalOf(await call({ tool: 'refund' }));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    const leaving = new AbortController();
    const gone = gateway.handle({ tool: 'refund', args: {} }, { signal: leaving.signal });
    await eventually('it runs', async () => started);
    leaving.abort();
    const first = await gone;
    gate.resolve();
    // Until then the call is in doubt, and an equal one is fenced.
    await eventually('its success is on record', async () => {
      const found = await shell.ports.store.call(first.call_id as never);
      return found?.state === 'SUCCEEDED';
    });
    const again = await call({ tool: 'refund' });
    assert.equal(again.call_id, first.call_id);
    assert.equal(runs, 1);
  });
});

describe('run by itself', () => {
  test('[C6-approval-10] what failed without effect is told once, then asked for anew', async (t) => {
    const refund = aTool('refund', () => {
      throw Object.assign(new Error('no such order'), { name: 'ToolFailure', kind: '404_not_found', effect: 'none' });
    });
    const { call, approvals, shell } = await openApprovals(t, [refund], {
      agents: agents('refund', { onApprove: 'run' }),
    });
    const denied = await call({ tool: 'refund' });
    const id = approvalOf(denied);
    assert.ok((await approvals.approve(id, ana, {})).ok);
    await eventually('it ended', async () => {
      const found = await shell.ports.store.call(denied.call_id as never);
      return found !== null && found.attempt === 1 && found.state !== 'DISPATCHED' && found.requesterLeftAtMs !== null;
    });
    const told = await call({ tool: 'refund' });
    assert.equal(told.call_id, denied.call_id);
  });

  test('[C6-approval-10] [C6-approval-14] what was approved before a restart runs after it', async (t) => {
    const refund = createCountingTool('refund');
    const terms = { onApprove: 'run' } as const;
    const first = await openApprovals(t, [refund.definition], { agents: agents('refund', terms) });
    const id = approvalOf(await first.call({ tool: 'refund', args: { amount: 1 } }));
    first.shell.live.readiness = { ready: false, doing: 'closing', retryAfterSeconds: 1 };
    assert.ok((await first.approvals.approve(id, ana, {})).ok);
    await first.close();
    assert.equal(refund.runs(), 0);
    const second = await openApprovals(t, [refund.definition], { agents: agents('refund', terms) });
    await eventually('it ran', async () => refund.runs() === 1);
    successOf(await second.call({ tool: 'refund', args: { amount: 1 } }));
    assert.equal(refund.runs(), 1);
  });

  test('[C6-approval-10] what may not run any more ends, and its approval with it', async (t) => {
    const refund = createCountingTool('refund');
    const opened = await openApprovals(t, [refund.definition], { agents: agents('refund', { onApprove: 'run' }) });
    const session = await opened.gateway.openSession();
    const denied = await opened.call({ tool: 'refund', session });
    const id = approvalOf(denied);
    assert.equal(await opened.gateway.cancel({ session }), 'cancelled');
    const view = await opened.approvals.read(id, { tenant: 'default', agent: null });
    assert.equal(view?.state, 'void');
    const late = await opened.approvals.approve(id, ana, {});
    assert.equal(late.ok ? '' : late.problem, 'not_pending');
    assert.equal(refund.runs(), 0);
  });
});

describe('taken back while it is on its way', () => {
  test('[C6-approval-7] [C6-approval-16] an equal call gets the outcome of what was sent, and nobody is asked again', async (t) => {
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    const refund = aTool('refund', async () => {
      runs += 1;
      await gate.promise;
      return { runs };
    });
    const terms = { onApprove: 'run' } as const;
    const { call, approvals, all } = await openApprovals(t, [refund], { agents: agents('refund', terms) });
    const denied = await call({ tool: 'refund' });
    const id = approvalOf(denied);
    assert.ok((await approvals.approve(id, ana, {})).ok);
    await eventually('it runs', async () => runs === 1);
    assert.ok((await approvals.revoke(id, ben, {})).ok);
    const again = call({ tool: 'refund' });
    gate.resolve();
    assert.deepEqual([successOf(await again).call_id, runs, (await all()).length], [denied.call_id, 1, 1]);
  });
});
