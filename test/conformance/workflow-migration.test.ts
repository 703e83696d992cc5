/**
 * What carrying a session over must not leave behind: timers of a state that it is not in, and states whose timer
 * nobody set.
 */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { createMachine } from 'xstate';
import { mount } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';

const minute = 60_000;

/** `go` is what every machine here knows. */
const version = (number: string, config: object, migratesTo: unknown = null, delays: object = {}) =>
  mount(createMachine({ id: 'patience', context: {}, ...config } as never, { delays } as never), {
    version: number,
    actions: { go: { run: async () => ({}) } },
    ...(migratesTo === null ? {} : { migrations: { '1': () => ({ value: migratesTo, context: {} }) } }),
  } as never);

const waiting = (after: object) => ({
  initial: 'waiting',
  states: {
    waiting: { after, on: { go: 'calm' } },
    calm: { on: { go: 'late' } },
    late: { on: { go: 'waiting' } },
  },
});

const other = mount(createMachine({ id: 'other', ...waiting({ [minute]: 'late' }) } as never), {
  actions: { go: { run: async () => ({}) } },
} as never);

/**
 * A step that is refused moves nothing itself: the session is carried over before it is judged, and what is due fires.
 */
async function touch({ ask }: Awaited<ReturnType<typeof openWorkflow>>, session: string): Promise<void> {
  refusal(await ask('nothing', {}, { session }), 'unknown_action');
}

/** As the file has it: the timers of the session's last state, and the row that the sweeper looks for. */
function timersIn(file: string, session: string): Readonly<Record<string, number>> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const last = database.prepare('SELECT text FROM snapshots WHERE session = ? ORDER BY seq DESC LIMIT 1');
    const { timers } = JSON.parse(String(last.get(session)?.['text'])) as { timers: { id: string; dueAtMs: number }[] };
    const rows = database.prepare(`SELECT due_at FROM timers WHERE kind = 'session' AND subject = ?`).all(session);
    assert.deepEqual(
      rows.map((row) => row['due_at']),
      timers.slice(0, 1).map(({ dueAtMs }) => dueAtMs),
    );
    return Object.fromEntries(timers.map(({ id, dueAtMs }) => [id.replace('xstate.after.', ''), dueAtMs]));
  } finally {
    database.close();
  }
}

describe('a session that is carried over', () => {
  for (const { from, to, later } of [
    { from: ['go'], to: 'waiting', later: 'late' },
    { from: [], to: 'calm', later: 'calm' },
  ] as const)
    test(`[C1-drift-3] to '${to}' is '${later}' when its time has come`, async (t) => {
      const clock = createShiftedClock();
      const config = waiting({ [minute]: 'late' });
      const first = await openWorkflow(t, [version('1', config)], { clock });
      const session = await first.open();
      for (const action of from) success(await first.ask(action, {}, { session }));
      await first.close();
      const second = await openWorkflow(t, [version('2', config, to)], { clock, file: first.file });
      await touch(second, session);
      const carried = await second.look(session);
      assert.deepEqual(carried.state, { value: to, context: {} });
      clock.forward(minute + 1_000);
      await touch(second, session);
      const after = await second.look(session);
      assert.deepEqual([after.state, after.seq - carried.seq], [{ value: later, context: {} }, later === to ? 0 : 1]);
    });

  const parallel = (waits: number) => ({
    type: 'parallel',
    after: { [9 * minute]: { actions: [] } },
    states: {
      one: { initial: 'x', states: { x: { after: { [2 * minute]: 'y' }, on: { go: 'y' } }, y: {} } },
      two: {
        initial: 'outer',
        states: {
          outer: {
            after: { [waits]: 'over' },
            initial: 'x',
            states: { x: { after: { [4 * minute]: 'y' } }, y: { after: { [5 * minute]: 'x' } } },
          },
          over: {},
        },
      },
    },
  });

  /** Each timer keeps the time it had, or waits this long from when it was carried over. */
  const cases: readonly {
    readonly what: string;
    readonly first: object;
    readonly second: object;
    /** Null: it stays where it is. */
    readonly to: unknown;
    readonly timers: Readonly<Record<string, 'kept' | number>>;
  }[] = [
    {
      what: 'keeps the time of a state that it was in',
      first: waiting({ [3 * minute]: 'late' }),
      second: waiting({ [3 * minute]: 'calm' }),
      to: null,
      timers: { '180000.workflow.waiting': 'kept' },
    },
    {
      what: 'waits anew where the delay is another',
      first: waiting({ [3 * minute]: 'late' }),
      second: waiting({ [5 * minute]: 'late' }),
      to: null,
      timers: { '300000.workflow.waiting': 5 * minute },
    },
    {
      what: 'does not wait where the delay is gone',
      first: waiting({ [3 * minute]: 'late' }),
      second: waiting({}),
      to: null,
      timers: {},
    },
    {
      what: 'waits for a delay that is new in its state',
      first: waiting({}),
      second: waiting({ [3 * minute]: 'late' }),
      to: null,
      timers: { '180000.workflow.waiting': 3 * minute },
    },
    {
      what: 'has the timers of every region and of every state around it',
      first: parallel(3 * minute),
      second: parallel(3 * minute),
      to: { one: 'y', two: { outer: 'y' } },
      timers: {
        '180000.workflow.two.outer': 'kept',
        '300000.workflow.two.outer.y': 5 * minute,
        '540000.workflow': 'kept',
      },
    },
    {
      what: 'waits anew around a state that it was in',
      first: parallel(3 * minute),
      second: parallel(6 * minute),
      to: null,
      timers: {
        '120000.workflow.one.x': 'kept',
        '240000.workflow.two.outer.x': 'kept',
        '360000.workflow.two.outer': 6 * minute,
        '540000.workflow': 'kept',
      },
    },
  ];

  for (const { what, first, second, to, timers } of cases)
    for (const by of to === null ? (['migration', 'acceptance'] as const) : (['migration'] as const))
      test(`[C1-drift-3] by ${by} ${what}`, async (t) => {
        const clock = createShiftedClock();
        const earlier = await openWorkflow(t, [version('1', first)], { clock });
        const session = await earlier.open();
        const { value } = (await earlier.look(session)).state as { value: unknown };
        await earlier.close();
        const before = timersIn(earlier.file, session);
        clock.forward(minute);
        const migratesTo = by === 'migration' ? (to ?? value) : null;
        const later = await openWorkflow(t, [version('2', second, migratesTo)], { clock, file: earlier.file });
        const fromMs = clock.nowMs();
        if (by === 'acceptance') success(await later.sessions.accept(session));
        else await touch(later, session);
        const carried = await later.look(session);
        const untilMs = clock.nowMs();
        assert.deepEqual([carried.seq, carried.state], [1, { value: to ?? value, context: {} }]);
        await later.close();
        const after = timersIn(earlier.file, session);
        assert.deepEqual(Object.keys(after).toSorted(), Object.keys(timers).toSorted());
        for (const [id, expected] of Object.entries(timers)) {
          const dueAtMs = after[id] ?? 0;
          if (expected === 'kept') assert.equal(dueAtMs, before[id], id);
          else assert.ok(dueAtMs >= fromMs + expected && dueAtMs <= untilMs + expected, `${id} is due at ${dueAtMs}`);
        }
      });

  test('[C1-drift-4] after its time had come is late before its step is judged', async (t) => {
    const clock = createShiftedClock();
    const first = await openWorkflow(t, [version('1', waiting({ [minute]: 'late' }))], { clock });
    const session = await first.open();
    await first.close();
    clock.forward(2 * minute);
    const config = {
      initial: 'waiting',
      states: { waiting: { after: { [minute]: 'late' }, on: { go: 'calm' } }, calm: {}, late: {} },
    };
    const limits = { sweepEveryMs: 86_400_000 };
    const second = await openWorkflow(t, [version('2', config, 'waiting')], { clock, file: first.file, limits });
    refusal(await second.ask('go', {}, { session }), 'invalid_transition');
    assert.deepEqual((await second.look(session)).state, { value: 'late', context: {} });
    assert.deepEqual(
      (await second.history(session)).map(({ kind }) => kind),
      ['session_opened', 'session_resumed', 'session_migrated', 'timer_fired', 'attempt'],
    );
  });

  test('[C1-drift-3] waits where it was put although nobody asks', async (t) => {
    const clock = createShiftedClock();
    const config = waiting({ [minute]: 'late' });
    const first = await openWorkflow(t, [version('1', config)], { clock });
    const session = await first.open();
    success(await first.ask('go', {}, { session }));
    await first.close();
    const limits = { sweepEveryMs: 20 };
    const second = await openWorkflow(t, [version('2', config, 'waiting')], { clock, file: first.file, limits });
    await touch(second, session);
    const { seq } = await second.look(session);
    clock.forward(minute + 1_000);
    await eventually('the sweeper fires the timer', async () => lastSeq(first.file, session) > seq);
  });

  for (const rests of ['drifted', 'served by nobody here'] as const)
    test(`[C1-timer-2] and the timers of others fire although more sessions than a sweep looks at are ${rests}`, async (t) => {
      const clock = createShiftedClock();
      const resting = rests === 'drifted' ? version('1', waiting({ [minute]: 'late' })) : other;
      const first = await openWorkflow(t, [resting], { clock });
      for (let opened = 0; opened < 3; opened++) await first.open();
      await first.close();
      clock.forward(minute + 1_000);
      const limits = { sweepEveryMs: 20, sweepBatch: 2 };
      const served = version('2', waiting({ [2 * minute]: 'late' }));
      const second = await openWorkflow(t, [served], { clock, file: first.file, limits });
      const session = await second.open();
      clock.forward(2 * minute);
      await eventually('the sweeper fires the timer', async () => lastSeq(first.file, session) > 0);
    });

  for (const [what, given] of [
    ['nothing', () => undefined],
    ['a promise', async () => ({ value: 'calm', context: {} })],
    ['a text', () => 'calm'],
  ] as const)
    test(`[C1-drift-2] stays as it was if its migration gives ${what}, and the refusal says what it must give`, async (t) => {
      const first = await openWorkflow(t, [version('1', waiting({}))]);
      const session = await first.open();
      await first.close();
      const changed = mount(createMachine({ id: 'patience', context: {}, ...waiting({}) } as never), {
        version: '2',
        actions: { go: { run: async () => ({}) } },
        migrations: { '1': given },
      } as never);
      const second = await openWorkflow(t, [changed], { file: first.file });
      const { code, message } = refusal(await second.ask('go', {}, { session }), 'session_error');
      assert.equal(code, 'ManifestDrift');
      assert.match(message, /its migration failed: it must return \{ value, context \}, and no promise of them\.$/);
    });

  test('[C1-drift-3] stays as it was if its new state cannot say how long to wait', async (t) => {
    const first = await openWorkflow(t, [version('1', waiting({ [minute]: 'late' }))]);
    const session = await first.open();
    await first.close();
    const before = timersIn(first.file, session);
    // A session that begins here has what the delay asks for; one that is carried over was not given it.
    const config = { ...waiting({ patience: 'late' }), context: { patienceMs: minute } };
    const patience = ({ context }: { context: { patienceMs: number } }) => context.patienceMs;
    const changed = version('2', config, 'waiting', { patience });
    const second = await openWorkflow(t, [changed], { file: first.file });
    const { code, message } = refusal(await second.ask('go', {}, { session }), 'session_error');
    assert.equal(code, 'ManifestDrift');
    assert.match(message, /its state does not fit any more: delay of after patience of state 'waiting'/);
    assert.equal((await second.look(session)).seq, 0);
    await second.close();
    assert.deepEqual(timersIn(first.file, session), before);
  });
});

function lastSeq(file: string, session: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare('SELECT seq FROM sessions WHERE id = ?').get(session)?.['seq']);
  } finally {
    database.close();
  }
}
