/** CONTRACT section 4 for RUNTIME_GAP, on a real store: what policy cannot decide is told, counted and on record. */
import { describe, test, type TestContext } from 'node:test';
import { createMachine } from 'xstate';
import type { CallId } from '../../src/core/call/call.ts';
import { mount, type MountedWorkflow, type OperatorNotice, type Reply, tool } from '../../src/index.ts';
import { openGateway } from '../../src/main.ts';
import { gapsOf, type GapKind, reportGap, recordPolicy } from '../../src/shell/upkeep/record-runtime.ts';
import { settleDoubt } from '../../src/shell/ending/settle-doubt.ts';
import type { Shell } from '../../src/shell/shell.ts';
import { createTenantView } from '../../src/shell/look/tenant-view.ts';
import { reportTask } from '../../src/shell/completion/tasks.ts';
import { aPolicy, anAgent } from '../support/a-policy.ts';
import { checkReply, errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { folderOf } from '../support/open-gateway.ts';
import { createShiftedClock, type ShiftedClock } from '../support/shifted-clock.ts';
import { aTool } from '../support/tools.ts';
import assert from 'node:assert/strict';
import path from 'node:path';

const local = { tenant: 'default', agent: 'local' };
const act = aTool('act', () => 'done');
const minute = 60_000;

async function open(
  t: TestContext,
  tools: readonly ReturnType<typeof aTool>[] = [act],
  limits: object = {},
  workflows: readonly MountedWorkflow[] = [],
) {
  const clock: ShiftedClock = createShiftedClock();
  const notices: OperatorNotice[] = [];
  const onNotice = (notice: OperatorNotice) => void notices.push(notice);
  const file = path.join(folderOf(t), 'recourse.db');
  const { gateway, shell } = await openGateway({ tools, workflows, file, onNotice, limits }, { clock });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  return { gateway, shell, clock, notices };
}

const recordsFor = async (tenant: string, shell: Shell, kind = 'runtime_gap') =>
  (await createTenantView(shell).records(tenant, null, 1_000)).records.filter((record) => record.kind === kind);

describe('a gap', () => {
  const sentences: readonly (readonly [GapKind, string, string])[] = [
    ['unknown_method', 'tasks/list', "method 'tasks/list' is not known to the gateway, and was not passed on"],
    [
      'call_in_notification',
      'refund',
      "tool 'refund' was called in a notification, which has no reply, and did not run",
    ],
    [
      'header_mismatch',
      'tools/call',
      "headers of 'tools/call' say something other than its message, which was refused",
    ],
    ['unreported_task', 'long_task', "tool 'long_task' completed asynchronously without recourse/tasks/complete"],
  ];
  test('[C4-gap-1] [S002-gap-1] [S002-gap-2] is a notice in the form of the seed, and on record for its tenant alone', async (t) => {
    const { shell } = await open(t);
    for (const [kind, subject, sentence] of sentences) {
      const notice = await reportGap({ kind, subject, who: local }, shell);
      assert.deepEqual(notice, {
        code: 'RUNTIME_GAP',
        human_message: sentence,
        resolution: { type: 'manual_audit' },
      });
    }
    await reportGap({ kind: 'unknown_method', subject: 'nobody', who: null }, shell);
    const told = (await recordsFor('default', shell)).map(({ body }) => JSON.parse(body) as unknown);
    assert.deepEqual(
      told,
      sentences.map(([kind, subject]) => ({ kind, subject, ...local })),
    );
    assert.deepEqual(await recordsFor('acme', shell), []);
    assert.deepEqual(
      gapsOf('default', shell),
      sentences.map(([kind]) => ({ kind, count: 1 })),
    );
    assert.deepEqual(gapsOf('acme', shell), []);
  });

  test('[C4-gap-1] that comes again and again is recorded once a minute, and counted each time', async (t) => {
    const { shell, clock } = await open(t);
    const again = (subject = 'x/y', who = local) => reportGap({ kind: 'unknown_method', subject, who }, shell);
    for (let n = 0; n < 5; n++) await again();
    await again('x/z');
    await again('x/y', { ...local, agent: 'eve' });
    assert.equal((await recordsFor('default', shell)).length, 3);
    clock.forward(minute);
    await again();
    assert.equal((await recordsFor('default', shell)).length, 4);
    assert.deepEqual(gapsOf('default', shell), [{ kind: 'unknown_method', count: 8 }]);
  });

  test('[C4-gap-1] keeps no secret and no flood of what it was about, and writes into nobody else’s story', async (t) => {
    const { shell, gateway } = await open(t);
    const session = await gateway.openSession({ agent: 'ada' });
    const theirs = successOf(await gateway.handle({ tool: 'act', session }, { agent: 'ada' }));
    const subject = `password=hunter22 ${'x'.repeat(5_000)}\ud800`;
    const gap = { kind: 'unknown_method', subject, who: local, callId: theirs.call_id, session } as const;
    const notice = await reportGap(gap, shell);
    assert.ok(notice.human_message.length < 300 && notice.human_message.includes('password=[redacted]'));
    const [foreign] = await recordsFor('default', shell);
    assert.deepEqual([foreign?.call, foreign?.session], [null, null]);
    assert.ok(!JSON.stringify(foreign).includes('hunter22'));
    await reportGap({ ...gap, who: { ...local, agent: 'ada' } }, shell);
    const own = (await recordsFor('default', shell)).at(-1);
    assert.deepEqual([own?.call, own?.session], [theirs.call_id, session]);
  });

  test('[C4-gap-1] that cannot be recorded is told all the same, and the operator hears of it', async (t) => {
    const { shell, gateway, notices } = await open(t);
    await gateway.close({ drain_seconds: 0 });
    const notice = await reportGap({ kind: 'unknown_method', subject: 'x', who: local }, shell);
    assert.equal(notice.code, 'RUNTIME_GAP');
    assert.deepEqual(gapsOf('default', shell), [{ kind: 'unknown_method', count: 1 }]);
    assert.ok(notices.some((told) => told.kind === 'suppressed' && /gap \(unknown_method\)/.test(told.what)));
  });

  test('[C4-gap-1] and a change of policy are records of no call, told to whom they name', async (t) => {
    const { shell } = await open(t);
    assert.ok(await recordPolicy({ next: aPolicy([anAgent('local', [])]), last: null, by: 'ana' }, shell));
    assert.equal((await recordsFor('default', shell, 'policy_applied')).length, 1);
    assert.equal((await recordsFor('acme', shell, 'policy_applied')).length, 0);
    assert.equal((await recordsFor('default', shell, 'epoch_open')).length, 0, "the journal's own are nobody's");
  });
});

const longTask = tool({
  name: 'long_task',
  input: {},
  reports_within_seconds: 600,
  run: async () => ({ started: true }),
});

describe('work that goes on after its call', () => {
  const report = async (callId: unknown, shell: Shell, who = local): Promise<Reply> =>
    checkReply(await reportTask(callId, who, shell), { tools: [...shell.catalogue().keys()], folder: '/recourse.db' });
  const kindsOf = async (callId: string, shell: Shell) =>
    (await shell.ports.store.recordsOf(callId as CallId)).map(({ kind }) => kind);
  const gap = {
    code: 'RUNTIME_GAP',
    human_message: "tool 'long_task' completed asynchronously without recourse/tasks/complete",
    resolution: { type: 'manual_audit' },
  };

  test('[C4-gap-2] is opened with the success, reported once by its agent, and then no gap', async (t) => {
    const { gateway, shell, clock } = await open(t, [act, longTask] as never);
    const started = successOf(await gateway.handle({ tool: 'long_task' }));
    assert.deepEqual(await kindsOf(started.call_id, shell), ['prepared', 'dispatched', 'settled', 'task_opened']);
    const plain = successOf(await gateway.handle({ tool: 'act' }));
    assert.equal(await shell.ports.store.task(plain.call_id as CallId), null);
    const foreign = { ...local, agent: 'eve' };
    for (const [callId, who] of [
      [started.call_id, foreign],
      [started.call_id, { ...local, tenant: 'acme' }],
      [plain.call_id, local],
      ['call_none', local],
      [7, local],
      [undefined, local],
    ] as const) {
      const no = errorOf(await report(callId, shell, who), 'validation_failed');
      assert.deepEqual([no.requested, no.errors.map((error) => error.path)], ['recourse/tasks/complete', ['/call_id']]);
    }
    for (let n = 0; n < 2; n++) {
      const done = successOf(await report(started.call_id, shell));
      assert.deepEqual(
        [done.action, done.result, done.session, done.valid_next_actions, done.notices],
        ['recourse/tasks/complete', { reported: true }, started.session, ['act', 'long_task'], undefined],
      );
    }
    assert.deepEqual((await kindsOf(started.call_id, shell)).slice(4), ['task_reported']);
    clock.forward(11 * minute);
    assert.deepEqual(await shell.ports.store.dueTasks(clock.nowMs(), 10), []);
    assert.deepEqual(gapsOf('default', shell), []);
  });

  test('[C4-gap-2] is a gap when it is late: told once in its session, and always beside the reply of its call', async (t) => {
    const { gateway, shell, clock } = await open(t, [act, longTask] as never, { sweepEveryMs: 10 });
    const session = await gateway.openSession();
    const started = successOf(await gateway.handle({ tool: 'long_task', session }));
    assert.equal(successOf(await gateway.reply(started.call_id)).notices, undefined);
    clock.forward(10 * minute);
    await eventually('a sweep', async () => (await kindsOf(started.call_id, shell)).includes('runtime_gap'));
    await eventually('it is counted', async () => gapsOf('default', shell).length > 0);
    assert.deepEqual(gapsOf('default', shell), [{ kind: 'unreported_task', count: 1 }]);
    assert.equal(successOf(await gateway.handle({ tool: 'act' })).notices, undefined, 'of another session');
    assert.deepEqual(successOf(await gateway.handle({ tool: 'act', session })).notices, [gap]);
    assert.equal(successOf(await gateway.handle({ tool: 'act', session })).notices, undefined);
    const stored = await shell.ports.store.reply(started.call_id as CallId);
    assert.ok(stored.kind === 'text' && !stored.text.includes('RUNTIME_GAP'));
    const seen = await createTenantView(shell).reply(started.call_id, { tenant: 'default', agent: null });
    for (const reply of [seen, await gateway.reply(started.call_id)])
      assert.deepEqual(reply, { ...started, notices: [gap] });
    for (let n = 0; n < 2; n++) {
      const late = successOf(await report(started.call_id, shell));
      assert.deepEqual([late.result, late.notices], [{ reported: true, late: true }, [gap]]);
    }
    assert.equal((await shell.ports.store.task(started.call_id as CallId))?.state, 'overdue');
    const kinds = await kindsOf(started.call_id, shell);
    assert.deepEqual(kinds.slice(3), ['task_opened', 'runtime_gap', 'task_reported']);
  });

  test('[C4-gap-2] is late by the time, although no sweeper came by', async (t) => {
    const { gateway, shell, clock } = await open(t, [longTask] as never, { sweepEveryMs: 3_600_000 });
    const { call_id: id } = successOf(await gateway.handle({ tool: 'long_task' }));
    clock.forward(10 * minute);
    const late = successOf(await report(id, shell));
    assert.deepEqual([late.result, late.notices], [{ reported: true, late: true }, [gap]], 'told once');
    assert.equal(successOf(await gateway.handle({ tool: 'long_task' })).notices, undefined);
    assert.deepEqual((await kindsOf(id, shell)).slice(3), ['task_opened', 'runtime_gap', 'task_reported']);
  });

  test('[C4-gap-2] is begun by a success that comes late, too, and by no failure', async (t) => {
    const end = Promise.withResolvers<string>();
    const slow = tool({
      name: 'slow',
      input: {},
      timeout_seconds: 0.05,
      reports_within_seconds: 600,
      run: async ({ fail }: { fail?: boolean }) => (fail === true ? Promise.reject(new Error('no')) : end.promise),
    });
    const { gateway, shell } = await open(t, [slow] as never);
    const failed = errorOf(await gateway.handle({ tool: 'slow', args: { fail: true } }), 'action_error');
    assert.equal(await shell.ports.store.task(failed.call_id as CallId), null);
    const doubt = errorOf(await gateway.handle({ tool: 'slow' }), 'action_timeout');
    assert.equal(await shell.ports.store.task(doubt.call_id as CallId), null);
    end.resolve('late');
    const task = await eventually('its task', () => shell.ports.store.task(doubt.call_id as CallId));
    assert.equal(task.state, 'open');
    assert.deepEqual((await kindsOf(doubt.call_id, shell)).slice(-3), ['settled', 'task_opened', 'orphaned']);
  });

  test('[C4-gap-2] is begun by a person who says that it happened, although they do not have the tool', async (t) => {
    const settings = { input: {}, timeout_seconds: 0.05, run: async () => new Promise<never>(() => undefined) };
    const lost = tool({ name: 'lost', reports_within_seconds: 600, ...settings });
    const brief = tool({ name: 'brief', ...settings });
    const machine = createMachine({ id: 'flow', initial: 'on', states: { on: { on: { lose: 'on' } } } });
    const flow = mount(machine, { actions: { lose: { tool: 'lost' } } });
    const first = await open(t, [lost, brief] as never, {}, [flow]);
    const inDoubt = async (reply: Promise<Reply>) => errorOf(await reply, 'action_timeout').call_id as CallId;
    const [plain, again, other] = [
      await inDoubt(first.gateway.handle({ tool: 'lost' })),
      await inDoubt(first.gateway.handle({ tool: 'lost', args: { again: true } })),
      await inDoubt(first.gateway.handle({ tool: 'brief' })),
    ];
    const step = await inDoubt(first.gateway.handleStep({ action: 'lose', inputs: {} }));
    await first.gateway.close({ drain_seconds: 0 });
    const { shell, clock } = await open(t, []);
    for (const [id, happened, task] of [
      [plain, 'yes', 'open'],
      [step, 'yes', 'open'],
      [again, 'no', undefined],
      [other, 'yes', undefined],
    ] as const) {
      assert.equal(await settleDoubt(id, { happened, by: 'ana', force: true }, shell), 'settled');
      const found = await shell.ports.store.task(id);
      assert.equal(found?.state, task);
      if (found !== null) assert.ok(found.dueAtMs > clock.nowMs() + 9 * minute, 'counted from now');
    }
    assert.deepEqual((await kindsOf(plain, shell)).slice(-2), ['settled', 'task_opened']);
    assert.deepEqual(successOf(await report(plain, shell)).result, { reported: true });
  });

  test('[C4-gap-2] is remembered over a restart', async (t) => {
    const first = await open(t, [longTask] as never);
    const { call_id: id } = successOf(await first.gateway.handle({ tool: 'long_task' }));
    await first.gateway.close();
    const next = await open(t, [longTask] as never);
    next.clock.forward(10 * minute);
    await eventually('a sweep', async () => (await kindsOf(id, next.shell)).includes('runtime_gap'));
    assert.deepEqual(successOf(await next.gateway.reply(id)).notices, [gap]);
  });
});
