/**
 * CONTRACT sections 3, 6 and 9: whatever a call does when it is cancelled, with its call, its turn or its session, it
 * ends as Cancellation with what is known, and leaves nothing half-held.
 */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { CallId } from '../../../src/core/call/call.ts';
import { defaultTerms } from '../../../src/core/approval/approval.ts';
import { cancel } from '../../../src/shell/ending/cancel.ts';
import { anAgent } from '../../support/a-policy.ts';
import { errorOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { aBudget } from '../../support/limits/written-quotas.ts';
import { openApprovals } from '../../support/open-approvals.ts';
import { aTool, createHeldTool } from '../../support/tools.ts';

const who = { tenant: 'default', agent: 'local' };
const slowly = { max_attempts: 3, backoff: 'fixed', base_ms: 3_600_000, jitter: 0 } as const;
const scopes = ['call', 'turn', 'session'] as const;
const codes = { call: 'ToolCancelled', turn: 'TurnCancelled', session: 'SessionCancelled' } as const;

async function opened(t: TestContext) {
  const sent = createHeldTool('sent');
  const read = createHeldTool('read', { effect: 'pure' });
  const outer = aTool('outer', async (_args, ctx) => ctx.tools.call('sent', { nested: true }));
  const busy = aTool('busy', (_args, { fail }) => fail({ kind: '429', message: 'not now' }), { retry: slowly });
  const keyed = aTool('keyed', (_args, { fail }) => fail({ kind: 'timeout', message: 'no answer' }), {
    effect: 'keyed',
    retry: slowly,
  });
  const asks = aTool('asks', () => 'done');
  const rules = anAgent('local', [
    ['permit', 'sent'],
    ['permit', 'read'],
    ['permit', 'outer'],
    ['permit', 'busy'],
    ['permit', 'keyed'],
    ['defer', 'asks'],
  ]).rules.map((rule) => (rule.effect === 'defer' ? { ...rule, terms: defaultTerms } : rule));
  const budgets = [aBudget('100 USD', { cost: '1' })];
  const agents = [{ ...anAgent('local', [], { budgets }), rules }];
  const parts = await openApprovals(t, [sent.definition, read.definition, outer, busy, keyed, asks], { agents });
  const { gateway, shell } = parts;
  const session = await gateway.openSession();
  const ask = (tool: string) => parts.call({ tool, session, turn: 't', deadline_seconds: 7_200 });
  const inState = (state: string, tool: string) =>
    eventually(`${tool} in ${state}`, async () => {
      const found = await shell.ports.store.listCalls({ session, state: state as never, tool, limit: 1 });
      return found[0] ?? null;
    });
  const stop = (scope: (typeof scopes)[number], call: string) =>
    cancel(scope === 'call' ? { call } : scope === 'turn' ? { session, turn: 't' } : { session }, who, shell);
  return { ...parts, session, sent, read, ask, inState, stop };
}

type Opened = Awaited<ReturnType<typeof opened>>;

/** Nothing is left that somebody would have to give back. */
async function leavesNothing({ shell }: Opened, id: string, held: boolean): Promise<void> {
  const { store } = shell.ports;
  const call = await store.call(id as CallId);
  assert.equal((await store.holdsOf(id as CallId)).length > 0, held, 'what it holds of budgets');
  assert.equal(call?.dueAtMs, null, 'nobody looks at it again');
  assert.equal(shell.live.running.has(id as CallId), false, 'nothing of it runs here');
  assert.equal(shell.live.backoffs.size, 0, 'no pause goes on');
  assert.equal(await store.pendingApprovals('default', 'local'), 0, 'nobody is asked');
}

async function endsAsCancelled({ shell }: Opened, id: string): Promise<void> {
  const stored = await eventually('the end of the nested call', async () => {
    const reply = await shell.ports.store.reply(id as CallId);
    return reply.kind === 'text' ? reply.text : null;
  });
  assert.equal((JSON.parse(stored) as { code?: string }).code, 'ToolCancelled');
}

interface Row {
  readonly what: string;
  readonly tool: string;
  readonly state: string;
  readonly becomes: string;
  readonly effect: 'none' | 'unknown';
  /** It keeps its budget, for its effect is not known. */
  readonly held: boolean;
}

const rows: readonly Row[] = [
  { what: 'is being sent', tool: 'sent', state: 'DISPATCHED', becomes: 'IN_DOUBT', effect: 'unknown', held: true },
  { what: 'is a read on its way', tool: 'read', state: 'DISPATCHED', becomes: 'FAILED', effect: 'none', held: false },
  {
    what: 'waits to be sent again after a refusal',
    tool: 'busy',
    state: 'RETRY_WAIT',
    becomes: 'CANCELLED',
    effect: 'none',
    held: false,
  },
  {
    what: 'waits to be sent again after a lost answer',
    tool: 'keyed',
    state: 'RETRY_WAIT',
    becomes: 'IN_DOUBT',
    effect: 'unknown',
    held: true,
  },
];

describe('a call that is cancelled', () => {
  for (const { what, tool, state, becomes, effect, held } of rows)
    for (const scope of scopes)
      test(`[C9-cancel-2] and ${what}, with its ${scope}`, async (t) => {
        const all = await opened(t);
        const asked = all.ask(tool);
        const { id } = await all.inState(state, tool);
        if (tool === 'sent') await all.sent.begun();
        if (tool === 'read') await all.read.begun();
        assert.equal(await all.stop(scope, id), 'cancelled');
        const reply = errorOf(await asked, 'cancelled');
        assert.deepEqual([reply.class, reply.code, reply.effect], ['Cancellation', codes[scope], effect]);
        assert.equal((await all.shell.ports.store.call(id))?.state, becomes);
        await leavesNothing(all, id, held);
        for (const run of [...all.sent.runs, ...all.read.runs]) {
          assert.equal(run.context.signal.aborted, true);
          run.fail(new Error('stopped'));
        }
      });

  for (const scope of scopes)
    test(`[C9-cancel-2] and waits for a person, with its ${scope}: nobody can approve it any more`, async (t) => {
      const all = await opened(t);
      const { resolution } = errorOf(await all.ask('asks'), 'denied');
      const approval = resolution.type === 'pending_approval' ? resolution.approval_id : '';
      const { id } = await all.inState('AWAITING_APPROVAL', 'asks');
      assert.equal(await all.stop(scope, id), 'cancelled');
      assert.equal((await all.shell.ports.store.call(id))?.state, 'CANCELLED');
      assert.equal((await all.approvals.read(approval, { tenant: 'default', agent: null }))?.state, 'void');
      const ana = { kind: 'person', tenant: 'default', name: 'ana' } as const;
      assert.equal((await all.approvals.approve(approval, ana, {})).ok, false);
      await leavesNothing(all, id, false);
    });

  for (const scope of scopes)
    test(`[C9-cancel-3] and is in doubt stays in doubt, with its ${scope}: no word undoes what may have happened`, async (t) => {
      const all = await opened(t);
      const asked = all.ask('sent');
      const run = await all.sent.begun();
      const id = run.context.call_id;
      assert.equal(await all.stop('call', id), 'cancelled');
      await asked;
      assert.equal(await all.stop(scope, id), scope === 'call' ? 'already_ended' : 'cancelled');
      assert.equal((await all.shell.ports.store.call(id as CallId))?.state, 'IN_DOUBT');
      run.fail(new Error('stopped'));
    });

  for (const scope of ['turn', 'session'] as const)
    test(`[C9-cancel-4] with its ${scope} stops what its body has called, too`, async (t) => {
      const all = await opened(t);
      const asked = all.ask('outer');
      const nested = await all.sent.begun();
      const { id } = await all.inState('DISPATCHED', 'outer');
      assert.equal(await all.stop(scope, id), 'cancelled');
      errorOf(await asked, 'cancelled');
      await endsAsCancelled(all, nested.context.call_id);
      nested.fail(new Error('stopped'));
    });

  test('[C9-cancel-4] by its id stops what its body has called, too', async (t) => {
    const all = await opened(t);
    const asked = all.ask('outer');
    const nested = await all.sent.begun();
    const { id } = await all.inState('DISPATCHED', 'outer');
    assert.equal(await all.stop('call', id), 'cancelled');
    errorOf(await asked, 'cancelled');
    await endsAsCancelled(all, nested.context.call_id);
    nested.fail(new Error('stopped'));
  });
});
