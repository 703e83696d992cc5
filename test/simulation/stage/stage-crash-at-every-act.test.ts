/**
 * The gateway dies at every act of a stage, before it and right after it took effect, and once more later. It starts
 * again, doubts of the tools are settled as things are, and the stage comes to its end: each of its calls had one
 * effect, and the state has seen one step.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noFaults } from '../fault-mix.ts';
import { checkChains, checkLiveness, checkRecords, checkWalks } from '../final-checks.ts';
import { nameOf } from '../memory-state.ts';
import type { Fate } from '../simulated-store.ts';
import { follow, open, step, then, type Walk } from '../workflow-scripts.ts';
import { countIn } from '../workflow-setting.ts';
import { createWorld, type World } from '../world.ts';
import { comesToItsEnd, effectsOf, stagePorts, stageWorkflows } from './stage-setting.ts';

interface Death {
  readonly act: number;
  readonly fate: Exclude<Fate, 'lives'>;
}

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

async function live({ workflow, fails }: Story, deaths: readonly Death[]) {
  const acts: string[] = [];
  let over = false;
  const fate = (_life: unknown, act: string): Fate => {
    if (over || idle.has(act)) return 'lives';
    acts.push(act);
    return deaths.find((death) => death.act === acts.length - 1)?.fate ?? 'lives';
  };
  const made: { world: World | null } = { world: null };
  const world = createWorld({
    seed: 7,
    mix: { ...noFaults, upstream: fails ? { 'refused 400': 1 } : { answers: 1 } },
    gateways: 1,
    fate,
    workflows: () => stageWorkflows,
    tampering: stagePorts(() => made.world),
  });
  made.world = world;
  const { scheduler, gateways, witness, state, tools } = world;
  const walk: Walk = { world, session: null, succeeded: false };
  gateways[0]?.boot('everything');
  const heals = then('the tools work again', () => world.heal());
  const phases = [open(workflow), step('deliver', 'k', 'answer'), heals, comesToItsEnd(true)];
  scheduler.after(500, null, '', () => follow(walk, phases, fate, () => (over = true)));
  const isOver = () => over && state.unfinished.size === 0 && tools.underWay() === 0 && gateways[0]?.isReady() === true;
  while (witness.broken() === null && !isOver() && scheduler.nowMs() < 600_000) await scheduler.step();
  if (!over) witness.breaks('19', 'the stage never came to its end');
  checkLiveness(state, [], witness);
  checkRecords(state, witness);
  checkWalks(state, witness);
  checkChains(state, witness);
  const broken = witness.broken();
  const seq = state.sessions.get(walk.session ?? '')?.seq ?? -1;
  return {
    acts,
    mails: effectsOf(world, 'mail'),
    charges: effectsOf(world, 'charge'),
    seq,
    count: countIn(state.snapshots.get(nameOf(walk.session ?? '', String(seq))) ?? '{"context":{"count":-1}}'),
    problem: broken === null ? null : `${broken.invariant}: ${broken.detail}`,
  };
}

interface Story {
  readonly name: string;
  readonly workflow: string;
  /** At first each call of the stage is refused. */
  readonly fails: boolean;
}

const stories: readonly Story[] = [
  { name: 'a stage', workflow: 'parcel', fails: false },
  { name: 'a stage that is tried again later', workflow: 'patient', fails: true },
];

const fates = ['dies before', 'dies after'] as const;

for (const story of stories)
  test(`[C6-stage-12] ${story.name} survives a death at every act of its phases, and a second one`, async (context) => {
    let worlds = 0;
    const judge = async (deaths: readonly Death[]) => {
      const ending = await live(story, deaths);
      worlds += 1;
      const where = deaths.map(({ act, fate }) => `${fate} act ${act} (${ending.acts[act]})`).join(', then ');
      assert.equal(ending.problem, null, where);
      assert.deepEqual([ending.mails, ending.charges, ending.count], [1, 1, 1], where);
      return ending;
    };
    const healthy = await judge([]);
    // Enough second deaths, and different ones for each act.
    const apart = Math.max(11, Math.round(healthy.acts.length / 4));
    for (let act = 0; act < healthy.acts.length; act++)
      for (const fate of fates) {
        const ending = await judge([{ act, fate }]);
        for (let second = act + 1 + (act % apart); second < ending.acts.length; second += apart)
          await judge([
            { act, fate },
            { act: second, fate: fates[(act + second) % 2] ?? 'dies before' },
          ]);
      }
    context.diagnostic(`${healthy.acts.length} acts, ${worlds} worlds`);
    assert.ok(healthy.acts.length > 10 && worlds > 100);
  });
