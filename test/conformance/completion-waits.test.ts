/** CONTRACT section 4 for COMPLETION_BLOCKED: approvals that a session waits for although another one opened them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as giveWay } from 'node:timers/promises';
import type { CallId } from '../../src/core/call/call.ts';
import type { Reply, ToolContext } from '../../src/index.ts';
import { completeSession } from '../../src/shell/completion/complete.ts';
import { anAgent, type Said } from '../support/a-policy.ts';
import { blocked } from '../support/blocked-completion.ts';
import { checkReply, errorOf, successOf } from '../support/check-reply.ts';
import { ana, openApprovals } from '../support/open-approvals.ts';
import { aTool } from '../support/tools.ts';

const local = { tenant: 'default', agent: 'local' };
const rules: readonly Said[] = [
  ['defer', 'pay'],
  ['permit', '**'],
];
const agents = [anAgent('local', rules)];
const pay = aTool('pay', () => 'paid');

type Opened = Awaited<ReturnType<typeof openApprovals>>;

async function complete({ shell, file }: Opened, session: string): Promise<Reply> {
  const tools = [...shell.catalogue().keys()];
  return checkReply(await completeSession({ session }, local, shell), { tools, folder: file });
}

function approvalIn(reply: Reply): string {
  const { resolution } = errorOf(reply, 'denied');
  return resolution.type === 'pending_approval' ? resolution.approval_id : assert.fail(JSON.stringify(reply));
}

function waitsFor(approvals: readonly string[], how: string, reply: Reply): void {
  const { human_message: message, resolution } = blocked(reply);
  assert.equal(message, `agent cannot complete: ${how}`);
  assert.deepEqual(resolution, { type: 'pending_approvals', approval_ids: approvals });
}

const awaitedIn = async ({ shell }: Opened, session: string) =>
  (await shell.ports.store.entries({ epoch: 0, seq: 0 }, 5_000)).filter(
    (entry) => entry.kind === 'approval_awaited' && entry.session === session,
  );

describe('a session whose call shares an approval of another session', () => {
  test('[C4-complete-2] is blocked by it until it is decided and used, also after a restart', async (t) => {
    const opened = await openApprovals(t, [pay], { agents });
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => opened.gateway.openSession()));
    assert.ok(one !== undefined && two !== undefined && three !== undefined);
    const first = await opened.call({ tool: 'pay', session: one });
    const id = approvalIn(first);
    for (let n = 0; n < 12; n++)
      assert.equal(approvalIn(await opened.call({ tool: 'pay', session: two })), id, 'equal calls share one');
    approvalIn(await opened.call({ tool: 'pay', session: one }));
    for (const session of [one, two]) waitsFor([id], '1 approval pending', await complete(opened, session));
    assert.deepEqual((await awaitedIn(opened, one)).length, 0, 'whose call waits is known without it');
    const [awaited, ...more] = await awaitedIn(opened, two);
    assert.deepEqual([awaited?.call, awaited?.body, more], [first.call_id, `{"approval":"${id}"}`, []], 'once');
    successOf(await complete(opened, three));
    await opened.close();

    const next = await openApprovals(t, [pay], { agents });
    waitsFor([id], '1 approval pending', await complete(next, two));
    assert.ok((await next.approvals.approve(id, ana, {})).ok);
    for (const session of [one, two]) waitsFor([id], '1 approval granted and not used', await complete(next, session));
    assert.equal(successOf(await next.call({ tool: 'pay', session: one })).call_id, first.call_id);
    for (const session of [one, two]) successOf(await complete(next, session));
  });

  test('[C4-complete-2] is free as soon as a person says no, or the agent gives the call up', async (t) => {
    const opened = await openApprovals(t, [pay], { agents });
    for (const end of ['denied', 'cancelled'] as const) {
      const [one, two] = [await opened.gateway.openSession(), await opened.gateway.openSession()];
      const first = await opened.call({ tool: 'pay', args: { end }, session: one });
      const id = approvalIn(await opened.call({ tool: 'pay', args: { end }, session: two }));
      waitsFor([id], '1 approval pending', await complete(opened, two));
      if (end === 'denied') assert.ok((await opened.approvals.deny(id, ana, {})).ok);
      else assert.equal(await opened.gateway.cancel({ call: first.call_id }), 'cancelled');
      successOf(await complete(opened, two));
    }
  });

  test('[C4-complete-4] does not begin to wait while it is completed, however close it comes', async (t) => {
    const opened = await openApprovals(t, [pay], { agents });
    const later = async (n: number): Promise<void> => (n > 0 ? giveWay().then(() => later(n - 1)) : undefined);
    const id = approvalIn(await opened.call({ tool: 'pay' }));
    const rounds = 48;
    let completed = 0;
    for (let round = 0; round < rounds; round++) {
      const session = await opened.gateway.openSession();
      const asks = () => later(round % 6).then(() => opened.call({ tool: 'pay', session }));
      const before = round % 2 === 0 ? asks() : null;
      // In every eighth round it waits for certain.
      if (round % 8 === 0) await before;
      const word = later(round % 7).then(() => complete(opened, session));
      const [reply, asked] = [await word, await (before ?? asks())];
      if ('error' in reply) {
        waitsFor([id], '1 approval pending', reply);
        assert.equal(approvalIn(asked), id);
        continue;
      }
      completed += 1;
      assert.equal(errorOf(asked, 'session_error').code, 'UnknownSession', `round ${round}: waits in a closed session`);
      assert.deepEqual(await awaitedIn(opened, session), []);
    }
    assert.ok(completed > 0 && completed < rounds, `${completed} of ${rounds} were completed`);
  });
});

describe('a session in which a body waits for an approval', () => {
  const calling = (name: string, of: string) => async (_args: unknown, ctx: ToolContext) => {
    const reply = await ctx.tools.call(name, { of });
    return 'error' in reply ? reply.error : 'done';
  };
  const buy = aTool('buy', calling('pay', 'one'));
  const order = aTool('order', calling('buy', 'another'));

  test('[C4-complete-2] is blocked by what its body asked for, through other bodies, too, until that has run', async (t) => {
    const opened = await openApprovals(t, [pay, buy, order], { agents });
    const [one, two] = [await opened.gateway.openSession(), await opened.gateway.openSession()];
    assert.equal(successOf(await opened.call({ tool: 'buy', session: one })).result, 'denied');
    successOf(await opened.call({ tool: 'order', session: two }));
    const [{ approval_id: id } = assert.fail(), ...others] = await opened.all();
    assert.deepEqual(others, [], 'equal calls share one, whoever makes them');
    for (const [session, through] of [
      [one, 'buy'],
      [two, 'order'],
    ] as const) {
      waitsFor([id], '1 approval pending', await complete(opened, session));
      const bodies = (await awaitedIn(opened, session)).map(({ body }) => JSON.parse(body) as object);
      assert.deepEqual(bodies, [{ approval: id, through }]);
    }
    assert.ok((await opened.approvals.approve(id, ana, {})).ok);
    for (const session of [one, two])
      waitsFor([id], '1 approval granted and not used', await complete(opened, session));
    assert.equal(successOf(await opened.call({ tool: 'buy', session: one })).result, 'done');
    for (const session of [one, two]) successOf(await complete(opened, session));
  });

  test('[C4-complete-2] is blocked where the body reaches no further than its session, too', async (t) => {
    const reading = aTool('reading', calling('pay', 'x'), { effect: 'pure' });
    const payRead = aTool('pay', () => 'paid', { effect: 'pure' });
    const opened = await openApprovals(t, [payRead, reading], { agents });
    const session = await opened.gateway.openSession({ mode: 'read_only' });
    assert.equal(successOf(await opened.call({ tool: 'reading', session })).result, 'denied');
    const [{ approval_id: id, call_id: waiting } = assert.fail()] = await opened.all();
    const where = (await opened.shell.ports.store.call(waiting as CallId))?.session;
    const standing = await opened.shell.ports.store.standingSession(local.tenant, local.agent);
    assert.ok(where !== session && where !== standing?.id, 'it waits in a session of its own');
    waitsFor([id], '1 approval pending', await complete(opened, session));
    assert.ok((await opened.approvals.deny(id, ana, {})).ok);
    successOf(await complete(opened, session));
  });
});
