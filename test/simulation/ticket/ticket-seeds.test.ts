/**
 * People from seeds: they take and answer a ticket late, twice and at once, in two processes, while processes die. What
 * was forbidden happens once at most, and nothing stays undone for ever.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { TicketAnswer } from '../../../src/core/ticket/answers.ts';
import { createRandom, type Random } from '../random.ts';
import { liveTickets, type TicketStory } from './ticket-world.ts';

const answers: readonly (TicketAnswer | 'take')[] = [
  'take',
  { answer: 'retry' },
  { answer: 'retry' },
  { answer: 'approve' },
  { answer: 'replace', args: { amount: 4, operation: 'o' } },
  { answer: 'give_up' },
  { answer: 'it_did_not', force: true },
  { answer: 'it_happened' },
];

function draw(seed: number): Omit<TicketStory, 'seed'> {
  const random: Random = createRandom(seed, 'tickets');
  let deaths = random.between(0, 3);
  const failure = random.chance(0.7) ? '403_forbidden' : '401_unauthenticated';
  return {
    gateways: random.between(1, 2),
    failure,
    people: Array.from({ length: random.between(1, 5) }, (_, nth) => ({
      // Often at the same moment.
      afterMs: random.pick([1_000, 2_000, 2_000, 5_000, 9_000, 15_000]),
      by: random.pick(['ana', 'ben', 'eva']),
      says: nth === 0 ? (answers[1] as TicketAnswer) : random.pick(answers),
      at: random.between(0, 1),
    })),
    // One ask at most that is not fenced: two would be two calls, as its agent meant them.
    asksAgainMs: failure === '403_forbidden' && random.chance(0.5) ? [random.pick([1_500, 2_000, 2_001])] : [],
    fate: (_life, act) => {
      if (deaths === 0 || act.startsWith('read due') || !random.chance(0.004)) return 'lives';
      deaths -= 1;
      return random.chance(0.5) ? 'dies before' : 'dies after';
    },
  };
}

const seeds = process.env['RECOURSE_SOAK'] === '1' ? 5_000 : 300;
const first = Number(process.env['RECOURSE_SEED'] ?? 1);

test('[C5-answer-2] [C5-answer-6] people and deaths from seeds: one effect at most, and no answer is lost', async (context) => {
  let effects = 0;
  const count = process.env['RECOURSE_SEED'] === undefined ? seeds : 1;
  for (let seed = first; seed < first + count; seed++) {
    const ended = await liveTickets({ seed, ...draw(seed) });
    const where = `seed ${seed}, with ${ended.said.join(', ')}; RECOURSE_SEED=${seed} repeats it`;
    assert.equal(ended.problem, null, where);
    assert.ok(ended.effects <= 1, `${ended.effects} effects: ${where}`);
    assert.ok(ended.isOver, `something never ends: ${where}`);
    for (const { end, work } of ended.tickets)
      if (end === 'retry' || end === 'replace' || end === 'approve') assert.notEqual(work, 'due', where);
    effects += ended.effects;
  }
  context.diagnostic(`${count} seeds, ${effects} of them with an effect`);
  if (count > 1) assert.ok(effects > count / 3);
});
