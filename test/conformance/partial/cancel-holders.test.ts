/**
 * CONTRACT sections 6 and 9: what else a cancelled call may hold: a token of reversal, the continuation of its ticket, a
 * stage and what that has called, a caller who polls. With its call, its turn and its session.
 */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setup } from 'xstate';
import type { CallId, SessionId } from '../../../src/core/call/call.ts';
import { mount, type StageDefinition } from '../../../src/index.ts';
import { errorOf, pendingOf } from '../../support/check-reply.ts';
import { denialOf } from '../../support/a-policy.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { openWorkflow, refusal } from '../../support/open-workflow.ts';
import { withReader } from '../../support/read-journal.ts';
import { createShiftedClock } from '../../support/shifted-clock.ts';
import { aTool, createHeldTool } from '../../support/tools.ts';
import { type Ledger, payingTool } from '../tickets/ticket-home.ts';

const scopes = ['call', 'turn', 'session'] as const;
const codes = { call: 'ToolCancelled', turn: 'TurnCancelled', session: 'SessionCancelled' } as const;
const slowly = { max_attempts: 3, backoff: 'fixed', base_ms: 3_600_000, jitter: 0 } as const;

const targetOf = (scope: (typeof scopes)[number], call: string, session: string) =>
  ({ call: { call }, turn: { session, turn: 't' }, session: { session } })[scope];

describe('a call with a token of reversal', () => {
  const reverse = { tool: 'undo', args: { what: 'args.what' }, window_seconds: 3_600 };
  async function open(t: TestContext) {
    const held = createHeldTool('held', { reverse });
    const busy = aTool('busy', (_args, { fail }) => fail({ kind: '429', message: 'not now' }), {
      retry: slowly,
      reverse,
    });
    const undone: unknown[] = [];
    const gateway = await openGateway(t, [held.definition, busy, aTool('undo', (args) => undone.push(args))]);
    const session = await gateway.openSession();
    const ask = async (tool: string) => {
      const asked = { tool, args: { what: 'it' }, session, turn: 't', wait_seconds: 0, key: 'k' };
      return pendingOf(await gateway.call({ ...asked, deadline_seconds: 7_200 })).call_id;
    };
    const token = (id: string) => withReader(gateway.file, (reader) => reader.reversalOf(id as CallId));
    return { held, gateway, session, ask, token, undone };
  }

  for (const scope of scopes)
    test(`[C9-cancel-8] that waits to be sent again loses it for good, with its ${scope}`, async (t) => {
      const { gateway, session, ask, token, undone } = await open(t);
      const id = await ask('busy');
      await eventually('the wait', async () => (await gateway.stored(id)).state === 'RETRY_WAIT');
      assert.equal((await token(id))?.state, 'issued');
      assert.equal(await gateway.cancel(targetOf(scope, id, session)), 'cancelled');
      assert.equal((await gateway.stored(id)).state, 'CANCELLED');
      const after = await token(id);
      assert.equal(after?.state, 'void');
      denialOf(await gateway.reversals.redeem(after?.id ?? ''));
      assert.deepEqual(undone, []);
    });

  for (const scope of scopes)
    test(`[C9-cancel-8] that is in doubt keeps it unarmed until the doubt is settled, with its ${scope}`, async (t) => {
      const { held, gateway, session, ask, token, undone } = await open(t);
      const id = await ask('held');
      const run = await held.begun();
      assert.equal(await gateway.cancel(targetOf(scope, id, session)), 'cancelled');
      assert.equal((await gateway.stored(id)).state, 'IN_DOUBT');
      const kept = await token(id);
      assert.equal(kept?.state, 'issued');
      denialOf(await gateway.reversals.redeem(kept?.id ?? ''));
      await gateway.settle(id, { happened: 'no', by: 'ann', force: true });
      assert.equal((await token(id))?.state, 'void');
      assert.deepEqual(undone, []);
      run.fail(new Error('stopped'));
    });
});

describe('a call that its caller polls', () => {
  for (const scope of scopes)
    test(`[C9-cancel-8] tells them so, with its ${scope}`, async (t) => {
      const held = createHeldTool('held', { effect: 'pure' });
      const gateway = await openGateway(t, [held.definition]);
      const session = await gateway.openSession();
      const asked = { tool: 'held', session, turn: 't', wait_seconds: 0, key: 'k' };
      const { call_id: id } = pendingOf(await gateway.call(asked));
      pendingOf(await gateway.reply(id));
      const run = await held.begun();
      assert.equal(await gateway.cancel(targetOf(scope, id, session)), 'cancelled');
      const reply = errorOf(await gateway.reply(id), 'cancelled');
      assert.deepEqual([reply.code, reply.effect], [codes[scope], 'none']);
      assert.equal((await gateway.status()).in_flight, 0);
      run.fail(new Error('stopped'));
    });
});

describe('a call whose ticket was answered, and that has not gone on yet', () => {
  for (const scope of scopes)
    test(`[C9-cancel-9] does not go on, with its ${scope}`, async (t) => {
      const ledger: Ledger = { done: [], next: '403_forbidden' };
      const open = (tools: readonly ReturnType<typeof payingTool>[]) => openGateway(t, tools);
      const first = await open([payingTool(ledger)]);
      const session = await first.openSession();
      const failed = errorOf(await first.call({ tool: 'pay', session, turn: 't' }), 'action_error');
      const ticket = failed.resolution.type === 'escalated' ? failed.resolution.ticket_id : '';
      await first.close();
      ledger.next = 'answer';
      // Without the tool nothing goes on here.
      const second = await open([]);
      const resolved = await second.tickets.resolve(ticket, { by: 'ann', answer: 'retry' });
      assert.ok(resolved.ok, JSON.stringify(resolved));
      assert.equal(await second.cancel(targetOf(scope, failed.call_id, session)), 'cancelled');
      await second.close();
      const third = await open([payingTool(ledger)]);
      const told = await eventually('its end', async () =>
        (await third.records(failed.call_id)).find(({ kind }) => kind === 'ticket_continued'),
      );
      assert.equal((JSON.parse(told.body) as { became?: string }).became, 'refused');
      assert.deepEqual(ledger.done, []);
      assert.equal(await third.cancel({ call: failed.call_id }), 'already_ended');
    });
});

describe('a stage', () => {
  const hour = 3_600_000;
  async function open(t: TestContext, more: Partial<StageDefinition<Record<string, unknown>, object>>) {
    const pay = createHeldTool('pay');
    const machine = setup({ types: { events: {} as { type: 'charge' } } }).createMachine({
      id: 'flow',
      initial: 'open',
      context: {},
      states: { open: { on: { charge: 'paid' } }, paid: { type: 'final' } },
    } as never);
    const flow = mount(machine, { actions: { charge: { stage: more } } } as never);
    const clock = createShiftedClock();
    const gateway = await openWorkflow(t, [flow], { tools: [pay.definition], clock });
    const session = await gateway.open();
    const ask = (waits = 0) =>
      gateway.ask('charge', {}, {
        session,
        turn: 't',
        wait_seconds: waits,
        key: 'k',
        deadline_seconds: 7_200,
      } as never);
    const stored = (id: string) => withReader(gateway.file, (reader) => reader.call(id as CallId));
    const timer = () =>
      withReader(gateway.file, async (reader) => (await reader.session(session as SessionId))?.workflow?.timerAtMs);
    return { pay, gateway, session, ask, stored, timer, clock };
  }

  for (const scope of scopes)
    test(`[C9-cancel-10] in act stops what it has called, and is in doubt as that is, with its ${scope}`, async (t) => {
      const { pay, gateway, session, ask, stored } = await open(t, {
        act: async ({ call }) => (await call('pay')).result,
      });
      const { call_id: id } = pendingOf(await ask());
      const run = await pay.begun();
      assert.equal(await gateway.cancel(targetOf(scope, id, session)), 'cancelled');
      const reply = refusal((await gateway.reply(id)) as never, 'cancelled');
      assert.deepEqual([reply.code, reply.effect, (await stored(id))?.state], [codes[scope], 'unknown', 'IN_DOUBT']);
      await eventually('the end of the payment', async () => (await stored(run.context.call_id))?.state === 'IN_DOUBT');
      assert.equal(run.context.signal.aborted, true);
      run.fail(new Error('stopped'));
    });

  for (const scope of scopes)
    test(`[C9-cancel-10] that waits for its next attempt makes none, with its ${scope}`, async (t) => {
      let acted = 0;
      const { gateway, session, ask, stored } = await open(t, {
        act: async () => {
          acted += 1;
          throw new Error('not yet');
        },
        retry: { max_attempts: 3, backoff: 'fixed', base: hour, jitter: 0 },
      });
      const { call_id: id } = pendingOf(await ask());
      await eventually('the first attempt', async () => acted === 1);
      assert.equal(await gateway.cancel(targetOf(scope, id, session)), 'cancelled');
      const reply = refusal((await gateway.reply(id)) as never, 'cancelled');
      assert.equal(reply.code, codes[scope]);
      assert.notEqual((await stored(id))?.state, 'DISPATCHED');
      assert.equal((await gateway.status()).in_flight, 0);
      assert.equal(acted, 1);
    });

  for (const scope of ['turn', 'session'] as const)
    test(`[C9-cancel-10] that is tried again later is not, with its ${scope}`, async (t) => {
      let acted = 0;
      const { gateway, session, ask, timer, clock } = await open(t, {
        act: async () => {
          acted += 1;
          throw new Error('not now');
        },
        unrecoverable: { retry_later: hour },
      });
      const failed = refusal(await ask(30), 'action_error');
      assert.equal(failed.resolution.type, 'retry_after');
      assert.notEqual(await timer(), null);
      assert.equal(await gateway.cancel(targetOf(scope, failed.call_id, session)), 'cancelled');
      clock.pass(2 * hour);
      await eventually('the timer is gone', async () => (await timer()) === null);
      assert.equal(acted, 1);
    });
});
