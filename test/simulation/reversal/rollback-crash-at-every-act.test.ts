/**
 * The gateway dies at every act of a rollback of three calls, before it and right after it took effect, and once more
 * later. It starts again, doubts are settled as things are, and every call was undone once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noFaults } from '../fault-mix.ts';
import { checkChains, checkLiveness, checkRecords } from '../final-checks.ts';
import type { Fate } from '../simulated-store.ts';
import { follow, type Walk } from '../workflow-scripts.ts';
import { createWorld } from '../world.ts';
import {
  call,
  checkReversals,
  judgeUndone,
  openPlain,
  startRollback,
  undoable,
  undoneInTheEnd,
} from './reversal-setting.ts';

interface Death {
  readonly act: number;
  readonly fate: Exclude<Fate, 'lives'>;
}

const idle = /^read (due|uncounted|overdueSpending|dueReversals|lateReversals|runningRollbacks|approvalsToRun)/;

async function live(deaths: readonly Death[]) {
  const acts: string[] = [];
  let [counting, over] = [false, false];
  const fate = (_life: unknown, act: string): Fate => {
    if (!counting || over || idle.test(act)) return 'lives';
    acts.push(act);
    return deaths.find((death) => death.act === acts.length - 1)?.fate ?? 'lives';
  };
  const mix = { ...noFaults, upstream: { answers: 1 } };
  const world = createWorld({ seed: 7, mix, gateways: 1, fate, tampering: { catalogue: undoable } });
  const { scheduler, gateways, witness, state, tools } = world;
  const walk: Walk = { world, session: null, succeeded: false };
  gateways[0]?.boot('everything');
  const begins = {
    ...startRollback,
    act: (...asked: Parameters<typeof startRollback.act>) => ((counting = true), startRollback.act(...asked)),
  };
  const phases = [
    openPlain,
    call('charge', 'k1'),
    call('refund', 'k2'),
    call('charge', 'k3'),
    begins,
    undoneInTheEnd(true),
  ];
  scheduler.after(500, null, '', () => follow(walk, phases, fate, () => (over = true)));
  const isOver = () => over && state.unfinished.size === 0 && tools.underWay() === 0 && gateways[0]?.isReady() === true;
  while (witness.broken() === null && !isOver() && scheduler.nowMs() < 600_000) {
    await scheduler.step();
    checkReversals(world);
  }
  if (!over) witness.breaks('19', 'the rollback never came to its end');
  checkLiveness(state, [], witness);
  checkRecords(state, witness);
  checkChains(state, witness);
  const undone = judgeUndone(world, walk.session);
  const broken = witness.broken();
  return { acts, undone, problem: broken === null ? null : `${broken.invariant}: ${broken.detail}` };
}

const fates = ['dies before', 'dies after'] as const;
let worlds = 0;

const judge = async (deaths: readonly Death[]) => {
  const ending = await live(deaths);
  worlds += 1;
  const where = deaths.map(({ act, fate }) => `${fate} act ${act} (${ending.acts[act]})`).join(', then ');
  assert.deepEqual([ending.problem, ending.undone], [null, 3], where);
  return ending;
};

test('a rollback survives a death at every act, and a second one', async (context) => {
  const healthy = await judge([]);
  for (let act = 0; act < healthy.acts.length; act++)
    for (const fate of fates) {
      const ending = await judge([{ act, fate }]);
      for (let second = act + 1 + (act % 17); second < ending.acts.length; second += 17)
        await judge([
          { act, fate },
          { act: second, fate: fates[(act + second) % 2] ?? 'dies before' },
        ]);
    }
  context.diagnostic(`${healthy.acts.length} acts, ${worlds} worlds`);
  assert.ok(healthy.acts.length > 30 && worlds > 100);
});
