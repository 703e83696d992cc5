/**
 * A call that a person must approve: whoever works on it dies at every act of the asking, the approving and the asking
 * again, before it and right after it took effect. It is started again, and everybody says once more what they had
 * said: the approval is there, and there is one effect, or none and the record says so.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSuccess } from '../../src/core/call/reply.ts';
import { person } from './approvers.ts';
import type { SimulatedPolicy, Stance } from './approval-setting.ts';
import { noFaults } from './fault-mix.ts';
import { checkChains, checkLiveness, checkRecords } from './final-checks.ts';
import { makeOperation } from './operations.ts';
import { isDeferral, isFenced } from './reply-rules.ts';
import type { Life } from './scheduler.ts';
import type { Fate } from './simulated-store.ts';
import { classOf, type ToolName, toolNames } from './setting.ts';
import { createWorld } from './world.ts';

interface Death {
  readonly act: number;
  readonly fate: Exclude<Fate, 'lives'>;
}

interface Story {
  readonly tool: ToolName;
  readonly key: string | null;
  readonly stance: Stance;
  /** At which gateway the person decides; the agent asks the first. */
  readonly at: 'the same' | 'another';
  readonly edits: boolean;
}

/** Looked at once a second, whether or not anything happens. */
const routine =
  /^read (due|uncounted|approvalsToRun|overdueSpending|dueReversals|lateReversals|runningRollbacks|dueTasks|dueSessions|idleSessions|countSessions)$/;

async function live({ tool, key, stance, at, edits }: Story, deaths: readonly Death[]) {
  const acts: string[] = [];
  let counting = false;
  const fate = (life: Life, act: string): Fate => {
    if (!counting || routine.test(act)) return 'lives';
    acts.push(`${life.node} ${act}`);
    return deaths.find((death) => death.act === acts.length - 1)?.fate ?? 'lives';
  };
  const stances = Object.fromEntries(toolNames.map((name) => [name, stance])) as SimulatedPolicy['stances'];
  const world = createWorld({
    seed: 7,
    mix: noFaults,
    gateways: at === 'another' ? 2 : 1,
    fate,
    approvals: { stances, layout: 0 },
  });
  const { scheduler, clients, gateways, witness, state, tools, approvers } = world;
  const who = { tenant: 'acme', agent: 'ann' };
  const args = { amount: 4, operation: 'o' };
  const operation = makeOperation({ name: 'o', who, tool, key, session: null, turn: null, manner: 'patient', args });
  operation.deferrals = 30;
  operation.patience = 60;
  for (const [index, gateway] of gateways.entries()) gateway.boot(index === 0 ? 'everything' : 'nothing');
  scheduler.after(500, null, '', () => {
    counting = true;
    clients.start(operation);
  });
  const needed = stance.startsWith('two') ? 2 : 1;
  const decide = () => {
    const [open] = [...state.approvals.values()].filter((row) => row.state === 'pending');
    const voted = open?.votes.length ?? 0;
    if (open !== undefined)
      approvers.say(
        edits && voted === 0 ? 'edit' : 'approve',
        open.id,
        person(['ana', 'ben'][voted] ?? 'ana'),
        false,
        0,
      );
    if (scheduler.nowMs() < 150_000) scheduler.after(2_000, null, '', decide);
  };
  scheduler.after(2_500, null, '', decide);
  const isOver = () =>
    counting &&
    operation.lastReply !== null &&
    state.unfinished.size === 0 &&
    clients.isQuiet() &&
    tools.underWay() === 0 &&
    gateways.every((one) => one.isReady() && one.shell()?.live.runsApproved.size === 0);
  while (witness.broken() === null && !isOver() && scheduler.nowMs() < 300_000) await scheduler.step();
  checkLiveness(state, clients.unanswered(), witness);
  checkRecords(state, witness);
  checkChains(state, witness);
  const reply = operation.lastReply;
  const told =
    reply === null || 'pending' in reply
      ? 'nothing'
      : isSuccess(reply)
        ? 'success'
        : isDeferral(reply)
          ? 'to wait'
          : reply.effect === 'none' && !isFenced(reply)
            ? 'none'
            : 'unknown';
  let effects = 0;
  for (const call of witness.calls.values())
    effects = classOf[tool] === 'pure' ? Math.min(1, effects + call.executions) : effects + call.effects;
  const broken = witness.broken();
  const approvals = [...state.approvals.values()];
  return {
    acts,
    effects,
    told,
    approvals,
    needed,
    problem: broken === null ? null : `${broken.invariant}: ${broken.detail}`,
  };
}

const stories: readonly (readonly [string, Omit<Story, 'tool' | 'key'>])[] = [
  ['who asks again runs it', { stance: 'one waits', at: 'the same', edits: false }],
  ['it is changed, and the person decides in another process', { stance: 'one waits', at: 'another', edits: true }],
  ['two must approve', { stance: 'two wait', at: 'another', edits: false }],
  ['the gateway runs it', { stance: 'one runs', at: 'the same', edits: false }],
  ['it is changed, another process runs it', { stance: 'two run', at: 'another', edits: true }],
];

const fates = ['dies before', 'dies after'] as const;
let worlds = 0;
let applied = 0;

for (const [name, story] of stories)
  for (const tool of toolNames)
    test(`a ${classOf[tool]} call survives a death at every act: ${name}`, async () => {
      for (const key of ['k', null]) {
        const healthy = await live({ ...story, tool, key }, []);
        assert.deepEqual([healthy.told, healthy.effects, healthy.problem], ['success', 1, null]);
        assert.deepEqual(
          healthy.approvals.map(({ state }) => state),
          ['used'],
        );
        for (let act = 0; act < healthy.acts.length; act++)
          for (const fate of fates) {
            const ending = await live({ ...story, tool, key }, [{ act, fate }]);
            const where = `${fate} act ${act} (${ending.acts[act]}), ${key === null ? 'without' : 'with'} a key`;
            worlds += 1;
            applied += ending.effects;
            assert.equal(ending.problem, null, where);
            assert.ok(ending.effects <= 1, `${where}: ${ending.effects} effects`);
            assert.notEqual(ending.told, 'nothing', `${where}: the agent never heard how it ended`);
            if (ending.told === 'success') assert.equal(ending.effects, 1, where);
            if (ending.told === 'none') assert.equal(classOf[tool] === 'pure' ? 0 : ending.effects, 0, where);
            // Without a key, and with others alive who know of no death, it cannot know when it may ask again.
            if (key !== null || story.at === 'the same') assert.notEqual(ending.told, 'to wait', where);
            // It outlived the death, and was used: nobody had to decide twice, except about a read, which answers for
            // no other.
            const used = ending.approvals.filter(({ state }) => state === 'used');
            const most = classOf[tool] === 'pure' && key === null ? 2 : 1;
            assert.ok(
              used.length >= 1 && ending.approvals.length <= most,
              `${where}: ${used.length} of ${ending.approvals.length} were used`,
            );
            assert.ok(
              used.every(({ votes }) => new Set(votes.map(({ by }) => by)).size >= ending.needed),
              where,
            );
          }
      }
    });

test('the deaths were many', (context) => {
  context.diagnostic(`${worlds} worlds, each with one death; ${applied} of them with an effect`);
  assert.ok(worlds > 1_000 && applied > worlds / 2);
});
