/**
 * kill -9 of two gateways on one store, while they retry and probe at a payment service that fails: its own ledger is
 * compared with what callers were told. No effect twice, nothing lost that was acknowledged, nobody forgotten.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { callStates } from '../../../src/core/taxonomy.ts';
import { createGateway, isSuccess, type Reply } from '../../../src/index.ts';
import { createRandom } from '../../simulation/random.ts';
import { eventually } from '../../support/eventually.ts';
import { openFaults } from '../../support/faults/open-faults.ts';
import { allCalls, checkFile, withReader } from '../../support/read-journal.ts';
import { folder } from '../../support/recourse-process.ts';
import { type GatewayProcess, startGateway } from './gateway-process.ts';
import { paymentTools } from './payment-tools.ts';
import { limits, type Payment } from './recovery-orders.ts';

const isSoak = process.env['RECOURSE_SOAK'] === '1';
const seed = Number(process.env['RECOURSE_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const rounds = isSoak ? 200 : 12;
/** In `npm test` a slow machine makes fewer rounds; how many is printed. */
const boxMs = isSoak ? Infinity : 25_000;
const faultRate = 0.35;
const restMs = 240_000;

interface Told {
  readonly payment: Payment;
  reply: Reply | null;
}

test(`kill -9 with retries and probes at a faulty service, from seed ${seed}`, async (t) => {
  const onRepeat = seed % 2 === 0 ? 'replay' : 'conflict';
  const faults = await openFaults(t, { rate: faultRate, seed, onRepeat });
  const url = faults.url.slice(0, -1);
  const file = path.join(folder(t), 'recourse.db');
  const random = createRandom(seed, 'kills');
  const told = new Map<string, Told>();
  const problems: string[] = [];
  const count = { rounds: 0, kills: 0, answers: 0, beforeOpening: 0 };
  let started = 0;

  const hears = {
    asked: (payment: Payment) => void (told.has(payment.key) || told.set(payment.key, { payment, reply: null })),
    answered: (payment: Payment, reply: Reply) => {
      const known = told.get(payment.key);
      if (known !== undefined) known.reply = reply;
      count.answers += 1;
    },
    ended: (why: string) => void problems.push(why),
  };
  const start = (open: readonly Payment[]) => startGateway(t, { file, url, seed, name: `g${++started}`, open }, hears);
  const unanswered = () => [...told.values()].filter(({ reply }) => reply === null).map(({ payment }) => payment);

  const began = performance.now();
  const slots: GatewayProcess[] = [start([]), start([])];
  while (count.rounds < rounds && (performance.now() - began < boxMs || count.rounds === 0)) {
    const answersBefore = count.answers;
    await eventually('work', async () => problems.length > 0 || count.answers >= answersBefore + random.between(3, 20));
    await pause(random.between(0, 300));
    const victims = random.chance(0.3) ? [0, 1] : [random.between(0, 1)];
    for (const slot of victims) {
      count.beforeOpening += slots[slot]?.isOpened() === true ? 0 : 1;
      await slots[slot]?.kill();
      count.kills += 1;
    }
    // What the others are still asked for is asked twice, under one key.
    for (const slot of victims) slots[slot] = start(unanswered().slice(0, 40));
    count.rounds += 1;
    assert.deepEqual(problems, []);
    checkLedger(told, effectsByOrder(faults.entries()));
  }
  for (const process of slots) await process.kill();

  await faults.ask('/faults', { method: 'DELETE' });
  await faults.fault({ fault: 'none', times: 1_000_000 });
  const ends = await finish(file, url, unanswered(), told);
  const effects = effectsByOrder(faults.entries());
  checkLedger(told, effects);
  checkStates(ends, effects);
  await checkFile(file);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const states = Map.groupBy(ends.values(), ({ state }) => state);
  const tally = [...states].map(([state, all]) => `${all.length} ${state}`).join(', ');
  const retried = [...ends.values()].filter(({ attempt }) => attempt > 1).length;
  t.diagnostic(
    `${count.rounds} rounds, ${count.kills} kills (${count.beforeOpening} before opening) in ${seconds} s, repeats ${onRepeat}: ` +
      `${told.size} payments, ${count.answers} answers, ${effects.size} with an effect, ${retried} sent more than once; ${tally}`,
  );
});

/** By its order, which each payment has of its own. */
function effectsByOrder(entries: readonly Record<string, unknown>[]): ReadonlyMap<string, number> {
  const effects = new Map<string, number>();
  for (const { kind, args } of entries) {
    if (kind !== 'effect') continue;
    const { order } = args as { order: string };
    effects.set(order, (effects.get(order) ?? 0) + 1);
  }
  return effects;
}

/** What was told counts for ever: it is compared again after every round. */
function checkLedger(told: ReadonlyMap<string, Told>, effects: ReadonlyMap<string, number>): void {
  for (const [order, { reply, payment }] of told) {
    const times = effects.get(order) ?? 0;
    const where = `${payment.tool} ${order}: ${JSON.stringify(reply)}`;
    assert.ok(times <= 1, `${times} effects of ${where}`);
    if (reply === null || 'pending' in reply) continue;
    const effect = isSuccess(reply) ? 'applied' : reply.effect;
    if (effect === 'applied') assert.equal(times, 1, where);
    if (effect === 'none') assert.equal(times, 0, where);
  }
}

type Ends = ReadonlyMap<string, { readonly state: string; readonly attempt: number; readonly hasTicket: boolean }>;

/** The service is well again: one gateway brings everything to its end, and every key is asked once more. */
async function finish(
  file: string,
  url: string,
  open: readonly Payment[],
  told: ReadonlyMap<string, Told>,
): Promise<Ends> {
  const gateway = await createGateway({
    file,
    tools: paymentTools(url),
    agent: 'chaos',
    limits,
    onNotice: () => undefined,
  });
  try {
    await eventually('every call rests', async () => isAtRest(file), restMs);
    for (const payment of open) {
      const known = told.get(payment.key);
      if (known !== undefined) known.reply = await gateway.handle({ ...payment, wait_seconds: 60 });
    }
    for (const { payment, reply } of told.values()) {
      const again = await gateway.handle({ ...payment, wait_seconds: 60 });
      // INVARIANT: a key answers with the same result for ever.
      if (reply !== null && isSuccess(reply)) assert.ok(isSuccess(again), `${payment.key}: ${JSON.stringify(again)}`);
    }
    await eventually('every call rests', async () => isAtRest(file), restMs);
    return await endsIn(file);
  } finally {
    await gateway.close();
  }
}

const isAtRest = (file: string): Promise<boolean> =>
  withReader(file, async (reader) =>
    (await allCalls(reader)).every(
      ({ state, dueAtMs }) => callStates[state].terminal || (state === 'IN_DOUBT' && dueAtMs === null),
    ),
  );

const endsIn = (file: string): Promise<Ends> =>
  withReader(file, async (reader) => {
    const ends = new Map<string, { state: string; attempt: number; hasTicket: boolean }>();
    for (const { id, key, state, attempt } of await allCalls(reader)) {
      if (key === null || state === 'DENIED') continue;
      const tickets = await reader.ticketsOf(id);
      ends.set(key, { state, attempt, hasTicket: tickets.some((ticket) => ticket.state === 'open') });
    }
    return ends;
  });

function checkStates(ends: Ends, effects: ReadonlyMap<string, number>): void {
  for (const [order, { state, hasTicket }] of ends) {
    const times = effects.get(order) ?? 0;
    if (state === 'SUCCEEDED') assert.equal(times, 1, `${order} SUCCEEDED`);
    else if (state === 'IN_DOUBT') assert.ok(hasTicket, `${order} is in doubt, and nobody was asked`);
    else assert.equal(times, 0, `${order} is ${state}`);
  }
}
