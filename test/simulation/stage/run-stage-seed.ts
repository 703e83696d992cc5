/** One world with a stage from one seed: faults for a while, then none, and the stage is asked for until it is done. */
import type { Attempt } from '../../../src/ports/upstream.ts';
import { faultMixes, type FaultMix } from '../fault-mix.ts';
import { checkChains, checkRecords, checkWalks } from '../final-checks.ts';
import { nameOf } from '../memory-state.ts';
import { createRandom } from '../random.ts';
import { follow, open, step, then, type Walk } from '../workflow-scripts.ts';
import { countIn } from '../workflow-setting.ts';
import { createWorld, type World } from '../world.ts';
import { deliversInTheEnd, stagePorts, stageWorkflows } from './stage-setting.ts';

const faultyMs = 60_000;
const boundMs = 900_000;

export interface StageReport {
  readonly seed: number;
  readonly broken: string | null;
  readonly seq: number;
  /** How often the stage was sent. */
  readonly attempts: number;
  /** What happened last; empty unless traced. */
  readonly story: readonly string[];
}

/** What is heard twice or not at all says nothing about stages: what matters here is who dies, and when. */
function mixOf(seed: number): FaultMix {
  const random = createRandom(seed, 'stage mix');
  return { ...faultMixes.everything, crashAtAct: random.pick([0.01, 0.03, 0.08]), stallAtAct: 0.002 };
}

export async function runStageSeed(
  seed: number,
  tamper?: (attempt: Attempt) => Attempt,
  traced = false,
): Promise<StageReport> {
  const made: { world: World | null } = { world: null };
  const world = createWorld({
    seed,
    mix: mixOf(seed),
    gateways: 1,
    traced,
    workflows: () => stageWorkflows,
    tampering: stagePorts(() => made.world, tamper),
  });
  made.world = world;
  const { scheduler, gateways, witness, state, tools } = world;
  const walk: Walk = { world, session: null, succeeded: false };
  let over = false;
  gateways[0]?.boot('everything');
  const phases = [
    open('parcel'),
    step('deliver', 'k', 'answer'),
    then('faults go on', () => undefined),
    deliversInTheEnd,
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
  while (witness.broken() === null && !isOver() && scheduler.nowMs() < boundMs) await scheduler.step();
  if (!over) witness.breaks('19', 'the stage never came to its end');
  const seq = judgeEnd(world, walk);
  const broken = witness.broken();
  const stages = [...state.calls.values()].filter(({ call }) => call.tool === 'deliver');
  return {
    seed,
    broken: broken === null ? null : `${broken.invariant}: ${broken.detail}`,
    seq,
    story: scheduler.story(),
    attempts: stages.reduce((sum, { call }) => sum + call.attempt, 0),
  };
}

/** The state has seen every step that succeeded, and at least one has. */
function judgeEnd({ state, witness }: World, { session }: Walk): number {
  checkRecords(state, witness);
  checkWalks(state, witness);
  checkChains(state, witness);
  const seq = state.sessions.get(session ?? '')?.seq ?? -1;
  const count = countIn(state.snapshots.get(nameOf(session ?? '', String(seq))) ?? '{"context":{"count":-1}}');
  if (seq < 1 || count !== seq) witness.breaks('state', `seq ${seq}, count ${count}`);
  return seq;
}
