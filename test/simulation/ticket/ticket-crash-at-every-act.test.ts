/**
 * An answered ticket, and whoever works on it dies at every act, before it and right after it took effect. The call
 * goes on once, whoever tries and however often people answer; and bugs that would break that are found.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Store, Transition } from '../../../src/ports/store.ts';
import type { Fate } from '../simulated-store.ts';
import { liveTickets, type TicketStory } from './ticket-world.ts';

type Live = Omit<TicketStory, 'seed' | 'fate'>;

const retry = { answer: 'retry' } as const;

const stories: Readonly<Record<string, Live>> = {
  'one answers, and its agent asks again': {
    gateways: 1,
    failure: '403_forbidden',
    people: [
      { afterMs: 1_000, by: 'ana', says: 'take', at: 0 },
      { afterMs: 2_000, by: 'ana', says: retry, at: 0 },
      { afterMs: 9_000, by: 'ana', says: retry, at: 0 },
    ],
    asksAgainMs: [14_000],
  },
  'two answer at once in two processes, and its agent asks at that moment': {
    gateways: 2,
    failure: '403_forbidden',
    people: [
      { afterMs: 2_000, by: 'ana', says: retry, at: 0 },
      { afterMs: 2_000, by: 'ben', says: { answer: 'replace', args: { amount: 4, operation: 'o' } }, at: 1 },
      { afterMs: 9_000, by: 'ana', says: retry, at: 1 },
    ],
    asksAgainMs: [2_000],
  },
  'its agent does it again before a late answer': {
    gateways: 2,
    failure: '401_unauthenticated',
    people: [{ afterMs: 9_000, by: 'ana', says: retry, at: 1 }],
    // Nothing is fenced, so its client asks again by itself.
    asksAgainMs: [],
  },
};

const isSoak = process.env['RECOURSE_SOAK'] === '1';
/** Looked at once a second, whether or not anything happens. */
const routine =
  /^read (due|uncounted|approvalsToRun|overdueSpending|dueTasks|dueSessions|idleSessions|countSessions|dueTickets|ticketsToRun|ticketsToSignIn|due[A-Z]\w*)$/;

async function live(story: Live, death: { readonly act: number; readonly fate: Exclude<Fate, 'lives'> } | null) {
  const acts: string[] = [];
  const ended = await liveTickets({
    ...story,
    seed: 7,
    fate: (life, act) => {
      if (routine.test(act)) return 'lives';
      acts.push(`${life.node} ${act}`);
      return death?.act === acts.length - 1 ? death.fate : 'lives';
    },
  });
  return { ...ended, acts };
}

let worlds = 0;
for (const [name, story] of Object.entries(stories))
  test(`[C5-answer-6] ${name}: one effect, whoever dies`, async () => {
    const healthy = await live(story, null);
    assert.deepEqual([healthy.problem, healthy.effects, healthy.isOver], [null, 1, true], JSON.stringify(healthy.said));
    // Every act in a soak; otherwise every second one, another one with each fate.
    const stride = isSoak ? 1 : 2;
    for (const [nth, fate] of (['dies before', 'dies after'] as const).entries())
      for (let act = nth; act < healthy.acts.length; act += stride) {
        const ending = await live(story, { act, fate });
        worlds += 1;
        const where = `${fate} act ${act} (${ending.acts[act]}): ${ending.said.join(', ')}`;
        assert.equal(ending.problem, null, where);
        assert.ok(ending.effects <= 1, `${where}: ${ending.effects} effects`);
        assert.ok(ending.isOver, `${where}: something never ends`);
        // INVARIANT: an answer that was acknowledged is not lost: the call went on, whatever became of it then.
        for (const { end, work, continuation } of ending.tickets)
          if (end === 'retry' || end === 'replace') assert.ok(work !== 'due' && continuation !== null, where);
      }
  });

test('the deaths were many', (context) => {
  context.diagnostic(`${worlds} worlds, each with one death`);
  assert.ok(worlds > 30);
});

const withCommits = (store: Store, change: (transition: Transition) => Transition): Store => ({
  ...store,
  commit: (transitions) => store.commit(transitions.map(change)),
});

/** Each is put in by a store that forgets a precondition; if nothing notices, the rig is broken. */
const planted: Readonly<Record<string, readonly [Live, (transition: Transition) => Transition]>> = {
  'a late answer acts on a settled call': [
    stories['its agent does it again before a late answer'] as Live,
    (transition) => ({
      ...transition,
      tickets: transition.tickets.map((write) => {
        if (write.kind !== 'change') return write;
        const { unlessEqual: _, ...bare } = write;
        return bare;
      }),
    }),
  ],
  'a resolution runs twice after a crash': [
    stories['one answers, and its agent asks again'] as Live,
    (transition) => ({
      ...transition,
      key: transition.key?.key.startsWith('tkt:') === true ? null : transition.key,
      tickets: transition.tickets.filter(({ kind }) => kind !== 'work'),
    }),
  ],
};

for (const [name, [story, change]] of Object.entries(planted))
  test(`a planted bug is found: ${name}`, async () => {
    const ended = await liveTickets({
      ...story,
      seed: 7,
      ports: (ports) => ({ ...ports, store: withCommits(ports.store, change) }),
    });
    assert.ok(ended.effects > 1 || ended.problem !== null, `${ended.effects} effects, ${ended.said.join(', ')}`);
  });
