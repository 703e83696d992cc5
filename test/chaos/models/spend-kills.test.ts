/**
 * kill -9 of two gateways on one store, while 64 clients stream answers of models and spend budgets in dollars: no
 * budget is passed but by what is on record as over, and at rest what was charged is what the providers billed, and
 * what was held where nobody told the use.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openKeysOf } from '../../../src/compose/state/key-files.ts';
import { callStates } from '../../../src/core/taxonomy.ts';
import { createRandom } from '../../simulation/random.ts';
import { eventually } from '../../support/eventually.ts';
import { startProvider } from '../../support/models/start-provider.ts';
import { allCalls, checkFile, withReader } from '../../support/read-journal.ts';
import { type Duo, type Gateway, openDuo } from '../duo-gateways.ts';
import { checkRest, replayAccounts, type Sums } from './spend-check.ts';
import { spend, type Tally } from './spend-clients.ts';
import { agentCount, agentOf, clientsAtOnce, projectOf, scriptFor } from './spend-world.ts';
import { watchBudgets } from './watch-budgets.ts';

const isSoak = process.env['RECOURSE_SOAK'] === '1';
const seed = Number(process.env['RECOURSE_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const rounds = isSoak ? 100 : 12;
/** In `npm test` a slow machine makes fewer rounds; how many is printed. */
const boxMs = isSoak ? Infinity : 20_000;
const maxDollars = isSoak ? 800 : 80;
const restMs = 240_000;

test(`[C6-metered-2] kill -9 while ${clientsAtOnce} clients stream from models, from seed ${seed}`, async (t) => {
  const drawn = createRandom(seed, 'providers');
  const provider = await startProvider(t, { always: (asked) => scriptFor(asked, drawn) });
  const duo = await openDuo(t, projectOf(provider, maxDollars));
  const keyOf = await addKeys(duo.file);
  const tally: Tally = { answers: 0, streams: 0, left: 0, refusals: 0, beyondBudget: 0, lost: 0 };
  let over = false;
  const spenders = { duo, keyOf, tally, isOver: () => over };
  const clients = Array.from({ length: clientsAtOnce }, (_, at) =>
    spend(`c${at}`, createRandom(seed, `client ${at}`), spenders),
  );
  const watching = new AbortController();
  const watched = watchBudgets(duo.file, maxDollars * 1_000_000, watching.signal);

  const began = performance.now();
  try {
    await Promise.race([killRounds(duo, tally), watched]);
  } finally {
    over = true;
  }
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  await Promise.all(clients);
  await eventually('every call rests', () => isAtRest(duo.file), restMs);
  watching.abort();
  const looks = await watched;
  await Promise.all(duo.running().map((gateway) => endOf(gateway)));

  const sums = await withReader(duo.file, async (reader) => {
    const accounts = await replayAccounts(reader, maxDollars * 1_000_000);
    const asked = provider.ledger.filter(({ method }) => method === 'POST');
    return checkRest(reader, asked, accounts);
  });
  await checkFile(duo.file);
  t.diagnostic(`${duo.counts().kills} kills in ${seconds} s, ${looks} looks at the accounts; ${summary(tally, sums)}`);
  assert.ok(duo.counts().kills > 0 && sums.abandoned > 0, 'gateways were killed in the middle of answers');
});

async function killRounds(duo: Duo, tally: Tally): Promise<void> {
  const random = createRandom(seed, 'kills');
  const began = performance.now();
  for (let round = 0; round < rounds && (performance.now() - began < boxMs || round === 0); round++) {
    const enough = tally.answers + random.between(20, 120);
    // Where budgets are used up nothing is answered any more.
    await eventually('work', async () => tally.answers >= enough || performance.now() - began > boxMs);
    await pause(random.between(0, 100));
    const victims = random.chance(0.3) ? duo.running() : [random.pick(duo.running())];
    await Promise.all(victims.map((gateway) => gateway && duo.replace(gateway, random.between(0, 300))));
  }
}

/** Without a process for each. */
async function addKeys(file: string): Promise<ReadonlyMap<string, string>> {
  const opened = await openKeysOf(file);
  if (opened.kind === 'refused') throw new Error(opened.message);
  const keyOf = new Map<string, string>();
  for (let at = 0; at < agentCount; at++) {
    const name = agentOf(at);
    const holder = { tenant: 'default', role: 'agent', name, createdBy: 'test', expiresAtMs: null } as const;
    keyOf.set(name, (await opened.keyring.add(holder, Date.now())).key);
  }
  await opened.keyring.close();
  return keyOf;
}

async function endOf({ child, ended }: Gateway): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

const isAtRest = (file: string): Promise<boolean> =>
  withReader(file, async (reader) =>
    (await allCalls(reader)).every(({ state }) => callStates[state as 'FAILED'].terminal),
  );

const dollars = (micros: number): string => `$${(micros / 1_000_000).toFixed(2)}`;

const summary = (tally: Tally, sums: Sums): string =>
  `${sums.calls} calls with ${sums.attempts} attempts, ${sums.requests} requests; ${tally.answers} answers, ` +
  `${tally.streams} of them streams, ${tally.left} left, ${tally.refusals} failed, ${tally.lost} lost, ` +
  `${tally.beyondBudget} beyond a budget; ${dollars(sums.charged)} charged = ${dollars(sums.billed)} billed + ` +
  `${dollars(sums.inDoubt)} of ${sums.untold} attempts of which nobody told the use, ${sums.abandoned} of them of ` +
  `processes that were killed; ${dollars(sums.over)} over`;
