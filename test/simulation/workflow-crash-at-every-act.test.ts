/**
 * The gateway dies at every act of a workflow session, before it and right after it took effect: of a step, a timer, a
 * reset, a fork, an adoption, a migration. It starts again, and whoever lost the reply asks again: one effect, a whole
 * state, no turn held.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Workflow } from '../../src/core/workflow/workflow.ts';
import { noFaults, type UpstreamBehaviour } from './fault-mix.ts';
import { checkChains, checkLiveness, checkRecords, checkWalks } from './final-checks.ts';
import { nameOf } from './memory-state.ts';
import type { Fate } from './simulated-store.ts';
import { countIn, simulatedWorkflows } from './workflow-setting.ts';
import {
  arrive,
  follow,
  fork,
  look,
  open,
  type Phase,
  reset,
  settle,
  step,
  stepInTheEnd,
  then,
  type Walk,
} from './workflow-scripts.ts';
import { timed, versioned, waitingElsewhere } from './workflows-that-change.ts';
import { createWorld } from './world.ts';

interface Death {
  readonly act: number;
  readonly fate: Exclude<Fate, 'lives'>;
}

interface Ending {
  readonly acts: readonly string[];
  readonly effects: number;
  readonly count: number;
  readonly seq: number;
  /** The kinds of the session's records. */
  readonly kinds: readonly string[];
  /** When the session's next timer is due, as its row has it. */
  readonly timerAtMs: number | null;
  /** What other sessions of the workflow count. */
  readonly others: readonly number[];
  readonly problem: string | null;
}

interface Story {
  readonly name: string;
  readonly phases: (world: { version: number }) => readonly Phase[];
  readonly behaviour?: UpstreamBehaviour;
  readonly workflows?: (version: number) => ReadonlyMap<string, Workflow>;
  readonly judge: (ending: Ending, where: string) => void;
}

/** The sweeper looks around all the time: its looking alone is no act of the session. */
const idle: ReadonlySet<string> = new Set([
  'read due',
  'read uncounted',
  'read overdueSpending',
  'read dueReversals',
  'read lateReversals',
  'read runningRollbacks',
  'read dueSessions',
  'read idleSessions',
  'read countSessions',
]);

async function live(story: Story, deaths: readonly Death[]): Promise<Ending> {
  const acts: string[] = [];
  let over = false;
  const fate = (_life: unknown, act: string): Fate => {
    if (over || idle.has(act)) return 'lives';
    acts.push(act);
    return deaths.find((death) => death.act === acts.length - 1)?.fate ?? 'lives';
  };
  const serving = { version: 1 };
  const world = createWorld({
    seed: 7,
    mix: { ...noFaults, upstream: { [story.behaviour ?? 'answers']: 1 } },
    gateways: 1,
    fate,
    workflows: () => story.workflows?.(serving.version) ?? simulatedWorkflows,
  });
  const { scheduler, gateways, witness, state, tools } = world;
  const walk: Walk = { world, session: null, succeeded: false };
  gateways[0]?.boot('everything');
  scheduler.after(500, null, '', () => follow(walk, story.phases(serving), fate, () => (over = true)));
  const isOver = () => over && state.unfinished.size === 0 && tools.underWay() === 0 && gateways[0]?.isReady() === true;
  while (witness.broken() === null && !isOver() && scheduler.nowMs() < 400_000) await scheduler.step();
  if (!over) witness.breaks('19', 'the agent never heard how it ended');
  checkLiveness(state, [], witness);
  checkRecords(state, witness);
  checkWalks(state, witness);
  checkChains(state, witness);
  const broken = witness.broken();
  const sessions = [...state.sessions.values()].filter(({ workflow }) => workflow !== null);
  const counts = sessions.map(
    ({ id, seq }) => [id, countIn(state.snapshots.get(nameOf(id, String(seq))) ?? '')] as const,
  );
  return {
    acts,
    effects: [...witness.calls.values()].reduce((sum, { effects }) => sum + effects, 0),
    count: counts.find(([id]) => id === walk.session)?.[1] ?? -1,
    seq: state.sessions.get(walk.session ?? '')?.seq ?? -1,
    kinds: (state.recordsBySession.get(walk.session ?? '') ?? []).map(({ kind }) => kind),
    timerAtMs: state.sessions.get(walk.session ?? '')?.workflow?.timerAtMs ?? null,
    others: counts.filter(([id]) => id !== walk.session).map(([, count]) => count),
    problem: broken === null ? null : `${broken.invariant}: ${broken.detail}`,
  };
}

const many = (kinds: readonly string[], kind: string) => kinds.filter((one) => one === kind).length;

/**
 * One effect, and a state that has seen it once, whoever asked how often. A key keeps the word that nothing happened.
 */
const once =
  (key: string | null) =>
  ({ effects, count, seq }: Ending, where: string) => {
    assert.deepEqual([count, seq], [effects, effects], where);
    assert.ok(effects === 1 || (effects === 0 && key !== null), `${where}: ${effects} effects`);
  };

const upgrade = (serving: { version: number }): Phase =>
  then('a new version is installed', (world) => {
    serving.version = 2;
    const life = world.gateways[0]?.life() ?? null;
    if (life !== null) world.scheduler.after(50, null, '', () => world.crash(life, 'to be upgraded'));
  });

const unknownThenSettled = (key: string | null): readonly Phase[] => [
  open('tally'),
  step('increment', key, 'answer'),
  settle,
  then('the upstream answers again', (world) => world.heal()),
  stepInTheEnd('increment', key),
];

const stories: readonly Story[] = [
  ...(['bill', 'peek'] as const).map((action): Story => ({
    name: `a step that may be sent again (${action}) with a key`,
    phases: () => [open('tally'), step(action, 'k', 'end')],
    judge: ({ count, seq }, where) => assert.deepEqual([count, seq], [1, 1], where),
  })),
  {
    name: 'a keyed step without a key of its own',
    phases: () => [open('tally'), step('bill', null, 'end')],
    judge: ({ count, seq }, where) => assert.deepEqual([count, seq], [1, 1], where),
  },
  {
    name: 'a read without a key',
    phases: () => [open('tally'), step('peek', null, 'end')],
    // Asked again after a lost reply it is one more step, for a read attaches to nothing; but none runs that nobody
    // asked for.
    judge: ({ count, seq, kinds }, where) => assert.deepEqual([count, many(kinds, 'retry_planned')], [seq, 0], where),
  },
  ...['k', null].map((key): Story => ({
    name: `a plain step ${key === null ? 'without' : 'with'} a key, its doubts settled`,
    phases: () => [open('tally'), step('increment', key, 'answer'), settle, stepInTheEnd('increment', key)],
    judge: once(key),
  })),
  ...['k', null].map((key): Story => ({
    name: `the adoption of a result ${key === null ? 'without' : 'with'} a key`,
    behaviour: 'answer lost',
    phases: () => unknownThenSettled(key),
    judge: once(key),
  })),
  {
    name: 'a timer that fires',
    workflows: () => new Map([['timed', timed()]]),
    phases: () => [open('timed'), look(({ seq }) => seq > 0)],
    judge: ({ count, seq, kinds }, where) =>
      assert.deepEqual([count, seq, many(kinds, 'timer_fired')], [1, 1, 1], where),
  },
  {
    name: 'a reset',
    phases: () => [open('tally'), step('bill', 'k', 'end'), reset],
    // Asked again after a lost reply it is one more reset: nothing is lost by that, and nothing runs.
    judge: ({ count, seq, kinds }, where) =>
      assert.deepEqual([count, seq], [0, 1 + many(kinds, 'session_reset')], where),
  },
  {
    name: 'a fork',
    phases: () => [open('tally'), step('bill', 'k', 'end'), fork],
    judge({ count, seq, others }, where) {
      assert.deepEqual([count, seq], [1, 1], where);
      assert.ok(others.includes(1), `${where}: no fork stands where the session stood`);
    },
  },
  {
    name: 'a migration',
    workflows: (version) => new Map([['versioned', versioned(version)]]),
    phases: (serving) => [
      open('versioned'),
      step('increment', null, 'answer'),
      settle,
      stepInTheEnd('increment', null),
      upgrade(serving),
      arrive(({ snapshot }) => Number(snapshot.context['count']) > 1),
    ],
    judge: ({ effects, count, seq, kinds }, where) =>
      assert.deepEqual([effects, count, seq, many(kinds, 'session_migrated')], [1, 10, 2, 1], where),
  },
  {
    name: 'a migration to a state that waits',
    workflows: (version) => new Map([['elsewhere', waitingElsewhere(version)]]),
    phases: (serving) => [open('elsewhere'), upgrade(serving), arrive(({ seq }) => seq > 1)],
    judge: ({ count, kinds, timerAtMs }, where) =>
      assert.deepEqual(
        [count, kinds.filter((kind) => kind !== 'session_resumed'), timerAtMs],
        [1, ['session_opened', 'session_migrated', 'timer_fired'], null],
        where,
      ),
  },
];

const fates = ['dies before', 'dies after'] as const;
let worlds = 0;

for (const story of stories)
  test(`${story.name} survives a death at every act, and a second one`, async () => {
    const healthy = await live(story, []);
    assert.equal(healthy.problem, null);
    story.judge(healthy, 'nobody dies');
    const judge = async (deaths: readonly Death[]): Promise<Ending> => {
      const ending = await live(story, deaths);
      worlds += 1;
      const where = deaths.map(({ act, fate }) => `${fate} act ${act} (${ending.acts[act]})`).join(', then ');
      assert.equal(ending.problem, null, where);
      story.judge(ending, where);
      return ending;
    };
    for (let act = 0; act < healthy.acts.length; act++)
      for (const fate of fates) {
        const ending = await judge([{ act, fate }]);
        // Every fifth act of what follows is enough to die at once more: which ones differs from act to act.
        for (let second = act + 1 + (act % 5); second < ending.acts.length; second += 5)
          await judge([
            { act, fate },
            { act: second, fate: fates[(act + second) % 2] ?? 'dies before' },
          ]);
      }
  });

test('the deaths were many', (context) => {
  context.diagnostic(`${worlds} worlds, each with one death or two`);
  assert.ok(worlds > 1_000);
});
