/** One world with reversals from one seed: faults for a while, then none, and the rollback comes to its end. */
import { faultMixes, type FaultMix } from '../fault-mix.ts';
import { checkChains, checkRecords } from '../final-checks.ts';
import { createRandom } from '../random.ts';
import type { Tampering } from '../simulated-gateway.ts';
import { follow, type Phase, then, type Walk } from '../workflow-scripts.ts';
import { createWorld } from '../world.ts';
import {
  call,
  checkReversals,
  judgeUndone,
  openPlain,
  redeemEverything,
  startRollback,
  undoable,
  undoneInTheEnd,
} from './reversal-setting.ts';

const faultyMs = 60_000;
const boundMs = 1_200_000;

export interface ReversalReport {
  readonly seed: number;
  readonly broken: string | null;
  /** Calls that were undone. */
  readonly undone: number;
  /** Reversing calls that were made. */
  readonly tried: number;
  readonly story: readonly string[];
}

function mixOf(seed: number): FaultMix {
  const random = createRandom(seed, 'reversal mix');
  return { ...faultMixes.everything, crashAtAct: random.pick([0, 0.01, 0.03]), stallAtAct: 0.002 };
}

/** What the agent does before the rollback, in an order of the seed's. */
function callsOf(seed: number): readonly Phase[] {
  const random = createRandom(seed, 'reversal phases');
  const calls = [call('charge', 'k1'), call('refund', 'k2'), call('read', 'k3'), call('charge', 'k4')];
  return calls.flatMap((each) => (random.chance(0.5) ? [each, redeemEverything] : [each]));
}

export async function runReversalSeed(
  seed: number,
  tamper: Pick<Tampering, 'ports'> = {},
  traced = false,
): Promise<ReversalReport> {
  const world = createWorld({
    seed,
    mix: mixOf(seed),
    gateways: 1,
    traced,
    tampering: { catalogue: undoable, ...tamper },
  });
  const { scheduler, gateways, witness, state, tools } = world;
  const walk: Walk = { world, session: null, succeeded: false };
  let over = false;
  gateways[0]?.boot('everything');
  const phases = [
    openPlain,
    ...callsOf(seed),
    startRollback,
    then('faults go on', () => undefined),
    undoneInTheEnd(false),
  ];
  scheduler.after(500, null, '', () =>
    follow(
      walk,
      phases,
      () => 'lives',
      () => (over = true),
    ),
  );
  scheduler.after(faultyMs, null, '', () => world.heal());
  const isOver = () => over && scheduler.nowMs() > faultyMs && state.unfinished.size === 0 && tools.underWay() === 0;
  while (witness.broken() === null && !isOver() && scheduler.nowMs() < boundMs) {
    await scheduler.step();
    checkReversals(world);
  }
  if (!over) witness.breaks('19', 'the rollback never came to its end');
  checkRecords(state, witness);
  checkChains(state, witness);
  const undone = witness.broken() === null ? judgeUndone(world, walk.session) : 0;
  const broken = witness.broken();
  return {
    seed,
    broken: broken === null ? null : `${broken.invariant}: ${broken.detail}`,
    undone,
    tried: [...state.calls.values()].filter(({ call: each }) => each.key?.startsWith('rev:') === true).length,
    story: scheduler.story(),
  };
}
