/**
 * The gateway dies at every act of a call, before it and right after it took effect, and once more at every act of what
 * follows. It is started again, recovers, and the agent asks again: never a second effect, never a silent unknown.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSuccess } from '../../src/core/call/reply.ts';
import { noFaults, type UpstreamBehaviour } from './fault-mix.ts';
import { checkChains, checkLiveness, checkRecords } from './final-checks.ts';
import { makeOperation } from './operations.ts';
import { checkDoubts } from './recovery/check-doubts.ts';
import { isFenced } from './reply-rules.ts';
import type { Fate } from './simulated-store.ts';
import { classOf, type ToolName, toolNames } from './setting.ts';
import { isProbing } from './run-seed.ts';
import { createWorld } from './world.ts';

interface Death {
  readonly act: number;
  readonly fate: Exclude<Fate, 'lives'>;
}

/** Looked at once a second, whether or not anything happens. */
const routine = /^read (due|uncounted|overdueSpending|dueReversals|lateReversals|runningRollbacks)$/;

/** Calls with a key have budgets and a rate limit, too wide to be met. */
const quotas = { dollars: 25, calls: 14, raise: null, rate: 600, burst: 50 };

interface Ending {
  readonly acts: readonly string[];
  readonly effects: number;
  readonly told: 'success' | 'unknown' | 'none' | 'nothing';
  readonly problem: string | null;
}

async function live(
  tool: ToolName,
  key: string | null,
  behaviour: UpstreamBehaviour,
  deaths: readonly Death[],
): Promise<Ending> {
  const acts: string[] = [];
  let counting = false;
  const fate = (_life: unknown, act: string): Fate => {
    if (!counting || routine.test(act)) return 'lives';
    acts.push(act);
    return deaths.find((death) => death.act === acts.length - 1)?.fate ?? 'lives';
  };
  const mix = { ...noFaults, upstream: { [behaviour]: 1 } };
  const world = createWorld({ seed: 7, mix, gateways: 1, fate, ...(key === null ? {} : { quotas }) });
  const { scheduler, clients, gateways, witness, state, tools } = world;
  const who = { tenant: 'acme', agent: 'ann' };
  const operation = makeOperation({
    name: 'o',
    who,
    tool,
    key,
    session: null,
    turn: null,
    manner: 'patient',
    args: { amount: 1, operation: 'o' },
  });
  // While the gateway retries, the agent is told that its call is in flight.
  operation.patience = 30;
  gateways[0]?.boot('everything');
  scheduler.after(500, null, '', () => {
    counting = true;
    clients.start(operation);
  });
  // What is sent after the second death is answered: the world is not against us for ever.
  const isOver = () =>
    counting &&
    state.unfinished.size === 0 &&
    clients.isQuiet() &&
    tools.underWay() === 0 &&
    !isProbing(state) &&
    gateways[0]?.isReady() === true;
  while (witness.broken() === null && !isOver() && scheduler.nowMs() < 200_000) await scheduler.step();
  checkLiveness(state, clients.unanswered(), witness);
  checkRecords(state, witness);
  checkDoubts(state, true, witness);
  checkChains(state, witness);
  // Whoever died where: nothing is held but by a doubt, and what happened was paid for.
  world.quotas?.checkAtRest(true, witness.calls.values());
  const reply = operation.lastReply;
  const told =
    reply === null || 'pending' in reply
      ? 'nothing'
      : isSuccess(reply)
        ? 'success'
        : reply.effect === 'none' && !isFenced(reply)
          ? 'none'
          : 'unknown';
  let effects = 0;
  // A read may happen as often as it likes; here it only has to happen at all.
  for (const call of witness.calls.values())
    effects = classOf[tool] === 'pure' ? Math.min(1, effects + call.executions) : effects + call.effects;
  const broken = witness.broken();
  return { acts, effects, told, problem: broken === null ? null : `${broken.invariant}: ${broken.detail}` };
}

const fates = ['dies before', 'dies after'] as const;
let worlds = 0;

for (const tool of toolNames)
  for (const key of ['k', null])
    test(`a ${classOf[tool]} call ${key === null ? 'without' : 'with'} a key survives a death at every act, and a second one`, async () => {
      const healthy = await live(tool, key, 'answers', []);
      assert.deepEqual([healthy.told, healthy.effects, healthy.problem], ['success', 1, null]);
      const story = (deaths: readonly Death[], { acts }: Ending, behaviour: string) =>
        `${deaths.map(({ act, fate }) => `${fate} act ${act} (${acts[act]})`).join(', then ')}; the tool ${behaviour}`;
      const judge = (ending: Ending, deaths: readonly Death[], behaviour: UpstreamBehaviour) => {
        worlds += 1;
        const where = story(deaths, ending, behaviour);
        assert.equal(ending.problem, null, where);
        assert.ok(ending.effects <= 1, `${where}: ${ending.effects} effects`);
        assert.notEqual(ending.told, 'nothing', `${where}: the agent never heard how it ended`);
        if (ending.told === 'success') assert.equal(ending.effects, 1, where);
        if (ending.told === 'none') assert.equal(classOf[tool] === 'pure' ? 0 : ending.effects, 0, where);
        // A tool that can be asked again, or knows its own work, never leaves a doubt behind.
        if (behaviour === 'answers' && (classOf[tool] === 'pure' || classOf[tool] === 'keyed'))
          assert.equal(ending.told, 'success', where);
      };
      for (const behaviour of ['answers', 'answer lost', 'executes late', 'request lost'] as const)
        for (let act = 0; act < healthy.acts.length; act++)
          for (const fate of fates) {
            const first = { act, fate };
            const ending = await live(tool, key, behaviour, [first]);
            judge(ending, [first], behaviour);
            if (behaviour !== 'answers') continue;
            for (let second = act + 1; second < ending.acts.length; second++) {
              const deaths = [first, { act: second, fate: fates[(act + second) % 2] ?? 'dies before' }];
              judge(await live(tool, key, behaviour, deaths), deaths, behaviour);
            }
          }
    });

test('the deaths were many', (context) => {
  context.diagnostic(`${worlds} worlds, each with one death or two`);
  assert.ok(worlds > 1_000);
});
