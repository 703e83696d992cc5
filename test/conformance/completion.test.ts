/** CONTRACT section 4 for COMPLETION_BLOCKED, on a real store: what stands against an agent that says it is done. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as giveWay } from 'node:timers/promises';
import type { CallId, SessionId } from '../../src/core/call/call.ts';
import type { WrittenAgent, WrittenCompletion } from '../../src/core/policy/policy.ts';
import { httpStatusOf, type Reply } from '../../src/index.ts';
import { completeSession } from '../../src/shell/completion/complete.ts';
import { settleDoubt } from '../../src/shell/ending/settle-doubt.ts';
import { anAgent, type Said } from '../support/a-policy.ts';
import { blocked } from '../support/blocked-completion.ts';
import { checkReply, errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { ana, openApprovals } from '../support/open-approvals.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { aTool, createHeldTool } from '../support/tools.ts';

const [local, no] = [{ tenant: 'default', agent: 'local' }, { happened: 'no', by: 'ana', force: true } as const];
const act = aTool('act', () => 'done');
const pay = aTool('pay', () => 'paid');
const lost = aTool('lost', () => new Promise(() => undefined), { timeout_seconds: 0.05 });

const rules: readonly Said[] = [
  ['defer', 'pay'],
  ['permit', '**'],
];

const agents = (completion?: Partial<WrittenCompletion>, agent = 'local'): readonly WrittenAgent[] => {
  const written = { require: [], when: null, condition: null, ref: 'recourse.yaml:20', ...completion };
  return [anAgent(agent, rules, completion === undefined ? {} : { completion: written })];
};

type Opened = Awaited<ReturnType<typeof openApprovals>>;

async function ask({ shell, file }: Opened, raw: unknown = {}, who = local): Promise<Reply> {
  const tools = [...shell.catalogue().keys()];
  return checkReply(await completeSession(raw, who, shell), { tools, folder: file });
}

const complete = (opened: Opened, session?: string) => ask(opened, session === undefined ? {} : { session });

function approvalIn(reply: Reply): string {
  const { resolution } = errorOf(reply, 'denied');
  return resolution.type === 'pending_approval' ? resolution.approval_id : assert.fail(JSON.stringify(reply));
}

const recordsIn = async ({ shell }: Opened, session: string) =>
  (await shell.ports.store.entries({ epoch: 0, seq: 0 }, 5_000)).filter((entry) => entry.session === session);

describe('a completion', () => {
  test('[C4-complete-1] [S002-complete-1] [S002-complete-2] is blocked by approvals in the form of the seed, and clears when they are resolved', async (t) => {
    const opened = await openApprovals(t, [act, pay], { agents: agents() });
    const { call, approvals } = opened;
    const first = approvalIn(await call({ tool: 'pay', args: { n: 1 } }));
    const second = approvalIn(await call({ tool: 'pay', args: { n: 2 } }));
    const denied = blocked(await complete(opened));
    assert.equal(denied.human_message, 'agent cannot complete: 2 approvals pending');
    assert.deepEqual(denied.resolution, { type: 'pending_approvals', approval_ids: [first, second] });
    assert.equal(denied.rule_ref, undefined);
    successOf(await complete(opened, await opened.gateway.openSession()));
    assert.ok((await approvals.deny(first, ana, {})).ok);
    assert.ok((await approvals.approve(second, ana, {})).ok);
    const granted = blocked(await complete(opened));
    assert.equal(granted.human_message, 'agent cannot complete: 1 approval granted and not used');
    assert.deepEqual(granted.resolution, { type: 'pending_approvals', approval_ids: [second] });
    const ran = successOf(await call({ tool: 'pay', args: { n: 2 } }));
    const { call_id: callId, ...said } = successOf(await complete(opened));
    assert.match(callId, /^call_/);
    assert.deepEqual(said, {
      action: 'complete',
      result: { completed: true },
      state: null,
      valid_next_actions: [],
      session: ran.session,
      seq: 1,
      done: true,
    });
  });

  test('[C4-complete-1] lists everything that blocks, and is on record with what was seen', async (t) => {
    const held = createHeldTool('held');
    const opened = await openApprovals(t, [act, pay, lost, held.definition], {
      agents: agents({ require: ['act', 'verify'], condition: 'session.seq > 5' }),
    });
    const { call, gateway, shell } = opened;
    const session = await gateway.openSession();
    const approval = approvalIn(await call({ tool: 'pay', session }));
    const doubt = await call({ tool: 'lost', session });
    const running = call({ tool: 'held', session });
    const run = await held.begun();
    const denied = blocked(await complete(opened, session));
    assert.equal(
      denied.human_message,
      "agent cannot complete: 1 approval pending, 1 call in doubt, 1 call under way, 'act' not done, 'verify' not done, its condition does not hold",
    );
    assert.deepEqual(denied.resolution, { type: 'pending_approvals', approval_ids: [approval] });
    assert.deepEqual([denied.rule_ref, denied.session], ['recourse.yaml:20', session]);
    const [record] = await shell.ports.store.recordsOf(denied.call_id as CallId);
    const body = JSON.parse(record?.body ?? '') as { code: string; rule: string; facts: { completion: object } };
    assert.deepEqual([record?.kind, body.code, body.rule], ['refused', 'COMPLETION_BLOCKED', 'recourse.yaml:20']);
    assert.deepEqual(body.facts.completion, {
      approvals_pending: [approval],
      approvals_granted: [],
      in_doubt: [doubt.call_id],
      under_way: [run.context.call_id],
      required: ['act', 'verify'],
      not_done: ['act', 'verify'],
      condition_holds: false,
    });
    run.finish('end');
    await running;
  });

  test('[C4-complete-2] is blocked by a call in doubt until somebody settles it, and by one under way until it ends', async (t) => {
    const held = createHeldTool('held');
    const opened = await openApprovals(t, [lost, held.definition], { agents: agents() });
    const { call, shell } = opened;
    const doubt = await call({ tool: 'lost' });
    const inDoubt = blocked(await complete(opened));
    assert.equal(inDoubt.human_message, 'agent cannot complete: 1 call in doubt');
    assert.deepEqual(inDoubt.resolution, { type: 'reconcile', call_id: doubt.call_id });
    assert.equal(await settleDoubt(doubt.call_id as CallId, no, shell), 'settled');
    const running = call({ tool: 'held' });
    const run = await held.begun();
    const underWay = blocked(await complete(opened));
    assert.equal(underWay.human_message, 'agent cannot complete: 1 call under way');
    assert.deepEqual(underWay.resolution, { type: 'reconcile', call_id: run.context.call_id });
    successOf(await complete(opened, await opened.gateway.openSession()));
    run.finish('end');
    successOf(await running);
    successOf(await complete(opened));
  });

  test('[C4-complete-2] is not blocked by an approval that has expired, whether or not anybody wrote that down', async (t) => {
    const clock = createShiftedClock();
    const limits = { sweepEveryMs: 3_600_000 };
    const opened = await openApprovals(t, [pay], { agents: agents(), clock, limits });
    const id = approvalIn(await opened.call({ tool: 'pay' }));
    blocked(await complete(opened));
    clock.forward(25 * 3_600_000);
    assert.equal((await opened.shell.ports.store.approval(id as never))?.state, 'pending', 'nobody swept');
    successOf(await complete(opened));
  });

  test('[C4-complete-2] looks at its own session only, and is not softened by audit mode', async (t) => {
    const opened = await openApprovals(t, [act, pay, lost], { agents: agents({ require: ['act'] }), mode: 'audit' });
    const { call, gateway } = opened;
    const [one, two] = [await gateway.openSession(), await gateway.openSession()];
    await call({ tool: 'lost', session: one });
    successOf(await call({ tool: 'act', session: two }));
    assert.match(blocked(await complete(opened, one)).human_message, /1 call in doubt, 'act' not done$/);
    successOf(await complete(opened, two));
  });
});

describe('what a completion requires', () => {
  test('[C4-complete-3] is a success in this session, by the name of the tool, and the reply says what is missing', async (t) => {
    const broken = aTool('verify', ({ ok }) => (ok === true ? 'fine' : Promise.reject(new Error('no'))), {
      effect: 'pure',
    });
    const opened = await openApprovals(t, [act, broken], { agents: agents({ require: ['verify', 'act'] }) });
    const { call, gateway } = opened;
    const session = await gateway.openSession();
    successOf(await call({ tool: 'verify', args: { ok: true } }));
    const none = blocked(await complete(opened, session));
    assert.equal(none.human_message, "agent cannot complete: 'verify' not done, 'act' not done");
    successOf(await call({ tool: 'act', session }));
    errorOf(await call({ tool: 'verify', args: { ok: false }, session }), 'action_error');
    const failed = blocked(await complete(opened, session));
    assert.equal(failed.human_message, "agent cannot complete: 'verify' not done");
    assert.deepEqual(failed.resolution, { type: 'choose_action', actions: ['verify'] });
    assert.equal(failed.rule_ref, 'recourse.yaml:20');
    successOf(await call({ tool: 'verify', args: { ok: true }, session }));
    successOf(await complete(opened, session));
  });

  const conditions = [
    ['counts-only-then', { require: ['act'], when: 'session.seq > 0' }, null],
    ['counts-if-unclear', { require: ['act'], when: 'state.value == "x"' }, "'act' not done"],
    ['holds', { condition: 'session.seq == 0 && agent.name == "holds"' }, null],
    ['holds-not', { condition: 'session.seq > 0' }, 'its condition does not hold'],
    ['unclear', { condition: 'state.value == "x"' }, 'its condition does not hold'],
  ] as const;
  test('[C4-complete-3] counts and holds by its conditions, and what cannot be judged stands against it', async (t) => {
    const all = conditions.flatMap(([name, completion]) => agents(completion, name));
    const opened = await openApprovals(t, [act], { agents: all });
    for (const [agent, , reason] of conditions) {
      const session = await opened.gateway.openSession({ agent });
      const reply = await ask(opened, { session }, { ...local, agent });
      if (reason === null) successOf(reply);
      else {
        const denied = blocked(reply);
        assert.equal(denied.human_message, `agent cannot complete: ${reason}`);
        assert.deepEqual(denied.resolution, { type: 'choose_action', actions: ['act'] });
      }
    }
  });
});

describe('a session that is complete', () => {
  test('[C4-complete-4] is closed for good, also after a restart; the standing one stays open and only the word is kept', async (t) => {
    const opened = await openApprovals(t, [act], { agents: agents() });
    const { call, gateway } = opened;
    const session = await gateway.openSession();
    successOf(await complete(opened, session));
    const standing = successOf(await complete(opened));
    successOf(await complete(opened));
    assert.equal(successOf(await call({ tool: 'act' })).session, standing.session);
    await opened.close();
    const next = await openApprovals(t, [act], { agents: agents() });
    for (const reply of [await complete(next, session), await next.call({ tool: 'act', session })]) {
      const over = errorOf(reply, 'session_error');
      assert.deepEqual([over.class, over.code, over.session], ['Session', 'UnknownSession', session]);
      assert.equal(over.message, 'the session was closed (completed); open a new one.');
    }
    assert.equal(successOf(await next.call({ tool: 'act' })).session, standing.session);
    const kinds = async (id: string) => (await recordsIn(next, id)).map(({ kind }) => kind);
    assert.deepEqual(await kinds(session), ['session_opened', 'session_completed', 'refused', 'refused']);
    const words = (await kinds(standing.session ?? '')).filter((kind) => kind === 'session_completed');
    assert.equal(words.length, 2);
  });

  test('[C4-complete-4] was completed by its own agent: to others it is not there', async (t) => {
    const opened = await openApprovals(t, [act], { agents: [...agents(), anAgent('eve', [['permit', '**']])] });
    const session = await opened.gateway.openSession();
    for (const other of [{ agent: 'eve' }, { tenant: 'acme' }]) {
      const reply = errorOf(await ask(opened, { session }, { ...local, ...other }), 'session_error');
      assert.deepEqual([reply.code, reply.session, httpStatusOf(reply)], ['UnknownSession', null, 404]);
    }
    successOf(await complete(opened, session));
  });

  const unreadable = [
    ['nothing that is an object', 'ses_1', ''],
    ['a list', [], ''],
    ['null', null, ''],
    ['a field that is not known', { sesion: 'ses_1' }, '/sesion'],
    ['a session that is no text', { session: 7 }, '/session'],
    [
      'a getter that throws',
      {
        get session(): string {
          throw new Error('mine');
        },
      },
      '',
    ],
  ] as const;
  test('[C4-complete-4] is not completed by what cannot be read', async (t) => {
    const opened = await openApprovals(t, [act], { agents: agents() });
    for (const [name, raw, path] of unreadable) {
      const reply = errorOf(await ask(opened, raw), 'validation_failed');
      const told = [reply.requested, reply.errors[0]?.path, httpStatusOf(reply)];
      assert.deepEqual(told, ['complete', path, 422], name);
    }
    const entries = await opened.shell.ports.store.entries(null, 100);
    assert.ok(!entries.some(({ kind }) => kind === 'session_completed'));
  });

  test('[C4-complete-4] is not completed by a gateway that is closing', async (t) => {
    const opened = await openApprovals(t, [act], { agents: agents() });
    await opened.close();
    assert.equal(errorOf(await ask(opened), 'denied').code, 'DAEMON_NOT_READY');
  });

  test('[C4-complete-4] has no call under way, however close it came', async (t) => {
    let ends = Promise.withResolvers<string>();
    const opened = await openApprovals(t, [aTool('held', () => ends.promise)], { agents: agents() });
    const { call, gateway, shell } = opened;
    const rounds = 48;
    let completed = 0;
    const openCalls = async (session: SessionId) =>
      (await shell.ports.store.unfinished('', 1_000)).filter((found) => found.session === session);
    const later = async (n: number): Promise<void> => (n > 0 ? giveWay().then(() => later(n - 1)) : undefined);
    for (let round = 0; round < rounds; round++) {
      ends = Promise.withResolvers();
      const session = (await gateway.openSession()) as SessionId;
      const begins = () => later(round % 6).then(() => call({ tool: 'held', args: { round }, session }));
      // Both orders: who is first in the queue of commits differs. In every eighth round the call is there for certain.
      const before = round % 2 === 0 ? begins() : null;
      if (round % 8 === 0) await eventually('it runs', async () => (await openCalls(session)).length === 1);
      const word = later(round % 7).then(() => complete(opened, session));
      const running = before ?? begins();
      const [reply, open] = [await word, await openCalls(session)];
      ends.resolve('end');
      const outcome = await running;
      if ('error' in reply) {
        assert.equal(blocked(reply).human_message, 'agent cannot complete: 1 call under way');
        successOf(outcome);
        continue;
      }
      completed += 1;
      assert.deepEqual(open, [], `round ${round}: closed over a call that runs`);
      assert.equal(errorOf(outcome, 'session_error').code, 'UnknownSession');
      const kinds = (await recordsIn(opened, session)).map(({ kind }) => kind);
      assert.deepEqual(kinds, ['session_opened', 'session_completed', 'refused'], `round ${round}`);
    }
    assert.ok(completed > 0 && completed < rounds, `${completed} of ${rounds} were completed`);
  });
});
