/**
 * kill -9 of two gateways on one store, while 64 callers spend budgets at a payment service that fails: what its ledger
 * has is what was charged, and with what is held in doubt it is exactly the budget. No budget is passed at any instant.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { callStates } from '../../../src/core/taxonomy.ts';
import { createGateway, isPending, type Reply } from '../../../src/index.ts';
import { createRandom } from '../../simulation/random.ts';
import { eventually } from '../../support/eventually.ts';
import { openFaults } from '../../support/faults/open-faults.ts';
import { allCalls, checkFile, withReader } from '../../support/read-journal.ts';
import { folder } from '../../support/recourse-process.ts';
import { type GatewayProcess, startGateway } from '../recovery/gateway-process.ts';
import { paymentTools } from '../recovery/payment-tools.ts';
import { limits } from '../recovery/recovery-orders.ts';
import { checkNow, checkRows, heldIn, replayBudgets } from './budget-check.ts';
import {
  accountOf,
  agentOf,
  aPayment,
  type BudgetOrders,
  type BudgetPayment,
  budgetPolicy,
  callers,
  maxDollars,
} from './budget-world.ts';

const isSoak = process.env['RECOURSE_SOAK'] === '1';
const seed = Number(process.env['RECOURSE_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const rounds = isSoak ? 200 : 12;
/** In `npm test` a slow machine makes fewer rounds; how many is printed. */
const boxMs = isSoak ? Infinity : 25_000;
const faultRate = 0.2;
const restMs = 240_000;
const scale = 1_000_000;

interface Asked {
  readonly payment: BudgetPayment;
  reply: Reply | null;
}

test(`[C6-budget-3] kill -9 while ${callers} callers spend budgets, from seed ${seed}`, async (t) => {
  const faults = await openFaults(t, { rate: faultRate, seed, onRepeat: seed % 2 === 0 ? 'replay' : 'conflict' });
  const url = faults.url.slice(0, -1);
  const file = path.join(folder(t), 'recourse.db');
  const random = createRandom(seed, 'budget kills');
  const asked = new Map<string, Asked>();
  const problems: string[] = [];
  const count = { rounds: 0, kills: 0, answers: 0, refused: 0, limited: 0, samples: 0 };
  let [started, generations] = [0, 1];

  const hears = {
    asked: (payment: BudgetPayment) => {
      if (!asked.has(payment.key)) asked.set(payment.key, { payment, reply: null });
      generations = Math.max(generations, Number(payment.agent.slice(1)) + 1);
    },
    answered: (payment: BudgetPayment, reply: Reply) => {
      const known = asked.get(payment.key);
      if (known !== undefined) known.reply = reply;
      count.answers += 1;
      if ('error' in reply && reply.code === 'BUDGET_EXCEEDED') count.refused += 1;
    },
    ended: (why: string) => void problems.push(why),
  };
  const start = (open: readonly BudgetPayment[]) => {
    const orders: BudgetOrders = { file, url, seed, name: `g${++started}`, open, generation: generations - 1 };
    return startGateway<BudgetPayment>(t, orders, hears, '../limits/budget-child.ts');
  };
  const unanswered = () => [...asked.values()].filter(({ reply }) => reply === null).map(({ payment }) => payment);

  const began = performance.now();
  const slots: GatewayProcess[] = [start([]), start([])];
  const watching = new AbortController();
  const watch = watchBudgets(file, () => generations, count, watching.signal);
  while (count.rounds < rounds && (performance.now() - began < boxMs || count.rounds === 0)) {
    const before = count.answers;
    const more = random.between(5, 80);
    await eventually('work', async () => problems.length > 0 || count.answers >= before + more);
    await pause(random.between(0, 200));
    const victims = random.chance(0.4) ? [0, 1] : [random.between(0, 1)];
    for (const slot of victims) {
      await slots[slot]?.kill();
      count.kills += 1;
    }
    await withReader(file, (reader) => checkNow(reader, generations));
    for (const slot of victims) slots[slot] = start(unanswered().slice(0, callers));
    count.rounds += 1;
    assert.deepEqual(problems, []);
  }
  for (const process of slots) await process.kill();
  watching.abort();
  await watch;
  await withReader(file, async (reader) => checkRows(reader, await replayBudgets(reader), false));

  await faults.ask('/faults', { method: 'DELETE' });
  await faults.fault({ fault: 'none', times: 1_000_000 });
  const effects = () => dollarsByOrder(faults.entries(), asked);
  const { inDoubt, admitted } = await finish(file, url, generations, asked, effects);
  await checkFile(file);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const { settled } = { settled: [...effects().values()].reduce((sum, dollars) => sum + dollars, 0) };
  t.diagnostic(
    `${count.rounds} rounds, ${count.kills} kills in ${seconds} s: ${asked.size} payments, ${admitted} admitted, ` +
      `${count.refused} beyond a budget, ${generations} budgets of $${maxDollars} used up, $${settled} in the ledger, ` +
      `${inDoubt} calls in doubt, ${count.samples} looks at the accounts`,
  );
});

/** Reads the accounts again and again, beside the gateways. */
async function watchBudgets(
  file: string,
  generations: () => number,
  count: { samples: number },
  signal: AbortSignal,
): Promise<void> {
  const isThere = () => withReader(file, async () => true).catch(() => false);
  while (!signal.aborted && !(await isThere())) await pause(20);
  while (!signal.aborted) {
    await withReader(file, (reader) => checkNow(reader, generations()));
    count.samples += 1;
    await pause(10);
  }
}

/** What each order cost the service, by its own ledger. INVARIANT: no order has two effects. */
function dollarsByOrder(
  entries: readonly Record<string, unknown>[],
  asked: ReadonlyMap<string, Asked>,
): ReadonlyMap<string, number> {
  const effects = new Map<string, number>();
  for (const { kind, args } of entries) {
    if (kind !== 'effect') continue;
    const { order } = args as { order: string };
    assert.ok(!effects.has(order), `${order} took effect twice`);
    effects.set(order, asked.get(order)?.payment.dollars ?? 0);
  }
  return effects;
}

const isAtRest = (file: string): Promise<boolean> =>
  withReader(file, async (reader) =>
    (await allCalls(reader)).every(
      ({ state, dueAtMs }) => callStates[state].terminal || (state === 'IN_DOUBT' && dueAtMs === null),
    ),
  );

/** The service is well again: everything comes to rest, every budget is used up to the cent, every doubt is settled. */
async function finish(
  file: string,
  url: string,
  generations: number,
  asked: Map<string, Asked>,
  effects: () => ReadonlyMap<string, number>,
) {
  const policy = budgetPolicy();
  const gateway = await createGateway({ file, tools: paymentTools(url), policy, limits, onNotice: () => undefined });
  try {
    await eventually('every call rests', () => isAtRest(file), restMs);
    await Promise.all(Array.from({ length: generations }, (_, at) => useUp(gateway, at, asked)));
    await eventually('every call rests', () => isAtRest(file), restMs);
    const { calls, ledgers, admitted } = await withReader(file, async (reader) => {
      const told = await replayBudgets(reader);
      await checkRows(reader, told, true);
      return told;
    });
    checkLedgers(generations, calls, ledgers, effects(), asked);
    const doubts = calls.filter(({ state }) => state === 'IN_DOUBT');
    for (const { id, key } of doubts) {
      const happened = effects().has(key ?? '') ? 'yes' : 'no';
      await gateway.settle(id, { happened, by: 'ana', force: true });
    }
    await withReader(file, async (reader) => {
      const told = await replayBudgets(reader);
      await checkRows(reader, told, true);
      // Nothing is held any more, and what was charged is what the service has.
      for (const [account, ledger] of told.ledgers) assert.equal(heldIn(ledger), 0, account);
      checkLedgers(null, told.calls, told.ledgers, effects(), asked);
    });
    return { inDoubt: doubts.length, admitted };
  } finally {
    await gateway.close();
  }
}

type Spender = Pick<Awaited<ReturnType<typeof createGateway>>, 'handle'>;

/** All callers at once ask for a dollar each, until the budget has none left. */
async function useUp(gateway: Spender, generation: number, asked: Map<string, Asked>): Promise<void> {
  let [made, isUsedUp] = [0, false];
  const spend = async () => {
    while (!isUsedUp) {
      const payment = aPayment('refund', `last-${generation}-${made++}`, agentOf(generation), 1);
      asked.set(payment.key, { payment, reply: null });
      const { tool, args, key, agent } = payment;
      for (;;) {
        const reply = await gateway.handle({ tool, args, key, wait_seconds: 60 }, { agent });
        if ('error' in reply && reply.code === 'BUDGET_EXCEEDED') isUsedUp = true;
        else if (isPending(reply) || 'error' in reply) {
          assert.ok(isPending(reply) || ['RATE_EXCEEDED', 'Busy'].includes(reply.code), JSON.stringify(reply));
          await pause(50);
          continue;
        }
        break;
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, spend));
}

/** `generations` null: doubts were settled, so budgets have room again. */
function checkLedgers(
  generations: number | null,
  calls: Awaited<ReturnType<typeof replayBudgets>>['calls'],
  ledgers: Awaited<ReturnType<typeof replayBudgets>>['ledgers'],
  effects: ReadonlyMap<string, number>,
  asked: ReadonlyMap<string, Asked>,
): void {
  const succeeded = new Map<string, number>();
  for (const { key, state, agent } of calls) {
    if (state === 'DENIED') continue;
    const dollars = effects.get(key ?? '');
    if (state === 'SUCCEEDED') assert.ok(dollars !== undefined, `${key} SUCCEEDED without effect`);
    else if (state !== 'IN_DOUBT') assert.equal(dollars, undefined, `${key} is ${state}, and took effect`);
    if (state === 'SUCCEEDED')
      succeeded.set(agent, (succeeded.get(agent) ?? 0) + (asked.get(key ?? '')?.payment.dollars ?? 0));
  }
  for (const [account, ledger] of ledgers) {
    const agent = account.split('/')[1] ?? '';
    assert.equal(ledger.settled, (succeeded.get(agent) ?? 0) * scale, `${account} beside the ledger of the service`);
  }
  for (let at = 0; at < (generations ?? 0); at++) {
    const ledger = ledgers.get(accountOf(agentOf(at)));
    assert.ok(ledger !== undefined);
    // INVARIANT: exactly the budget: what took effect, and what is held in doubt.
    assert.equal(ledger.settled + heldIn(ledger), maxDollars * scale, agentOf(at));
  }
}
