/**
 * Two gateways on one store, killed again and again, and clients over every door, with keys and without, that close,
 * send again or are cut off: nothing that was meant once is booked twice, and nothing is told as done that was not.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '../simulation/random.ts';
import { type Intention, intend, pursue } from './duo-clients.ts';
import { type Duo, openDuo } from './duo-gateways.ts';
import { type Ledger, openLedger } from './duo-ledger.ts';
import { createWire } from './duo-wire.ts';

const isSoak = process.env['RECOURSE_SOAK'] === '1';
const seed = Number(process.env['RECOURSE_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const kills = Number(process.env['RECOURSE_DUO_KILLS'] ?? (isSoak ? 60 : 20));
/** In `npm test` a slow machine makes fewer kills; how many is printed. */
const boxMs = isSoak ? Infinity : 25_000;
const clientsAtOnce = 8;
const agents = ['ada', 'bob', 'cyd'];

const projectOf = (ledgerUrl: string): string => `tools:
  ledger: { mcp: { url: "${ledgerUrl}" } }
workflows:
  till:
    initial: open
    actions:
      pay: { tool: ledger/pay, operation_key: inputs.mark }
    states:
      open: { on: { pay: open } }
agents:
${agents.map((name) => `  ${name}: { default: permit, rules: [] }\n`).join('')}`;

test(`[C6-chaos-4] two gateways, killed under clients that break off, from seed ${seed}`, async (t) => {
  const ledger = await openLedger(t);
  const duo = await openDuo(t, projectOf(ledger.url));
  const keys = agents.map((agent) => duo.keyOf(agent));
  const intentions: Intention[] = [];
  let over = false;
  const clients = Array.from({ length: clientsAtOnce }, async (_, client) => {
    const random = createRandom(seed, `client ${client}`);
    const wire = createWire(keys[client % keys.length] ?? '');
    for (let number = 0; !over; number++) {
      const intention = intend(`p${client}-${number}`, random);
      intentions.push(intention);
      await pursue(intention, { duo, ledger, wire, random });
    }
  });
  const started = performance.now();
  const isEnough = () => performance.now() - started > boxMs && intentions.length > clientsAtOnce;
  await killAgainAndAgain(duo, isEnough);
  over = true;
  await Promise.all(clients);

  const problems = intentions.flatMap((intention) => problemsOf(intention, ledger));
  t.diagnostic(summary(intentions, ledger, duo, performance.now() - started));
  if (problems.length > 0) t.diagnostic(`the gateways said: ${duo.said()}`);
  for (const problem of problems.slice(0, 3)) t.diagnostic(await duo.storyOf(problem.slice(0, problem.indexOf(':'))));
  assert.equal(problems.length, 0, `${problems.length} of ${intentions.length}:\n${problems.slice(0, 20).join('\n')}`);
  assert.ok(duo.counts().kills > 0 && intentions.length > clientsAtOnce, 'there was work, and there were kills');
});

async function killAgainAndAgain(duo: Duo, isEnough: () => boolean): Promise<void> {
  const random = createRandom(seed, 'kills');
  while (duo.counts().kills < kills && !isEnough()) {
    await pause(random.between(100, 1_200));
    // Now and then nobody is left who could take over at once.
    const victims = random.chance(0.15) ? duo.running() : [random.pick(duo.running())];
    await Promise.all(victims.map((gateway) => gateway && duo.replace(gateway, random.between(0, 400))));
  }
}

function problemsOf(intention: Intention, { booked }: Ledger): readonly string[] {
  const { mark, meant, unsent, fresh, replayed, problems } = intention;
  const times = booked.get(mark) ?? 0;
  const found = [...problems];
  if (times > meant - unsent) found.push(`booked ${times} times, meant ${meant} times, ${unsent} told as never sent`);
  if (new Set(fresh).size < fresh.length) found.push('one call was told twice as new');
  if (fresh.length > times) found.push(`told ${fresh.length} times as done, booked ${times} times`);
  if (replayed > 0 && times === 0) found.push('told as done before, and never booked');
  return found.map((problem) => `${mark}: ${problem}; ${JSON.stringify({ ...intention, problems: undefined })}`);
}

function summary(intentions: readonly Intention[], { booked }: Ledger, duo: Duo, ms: number): string {
  const sum = (of: (intention: Intention) => number) => intentions.reduce((total, each) => total + of(each), 0);
  const count = (of: (intention: Intention) => boolean) => intentions.filter(of).length;
  const total = [...booked.values()].reduce((all, times) => all + times, 0);
  const { kills: killed, stalls } = duo.counts();
  return (
    `${killed} kills and ${stalls} stalls in ${(ms / 1_000).toFixed(1)} s: ${intentions.length} payments, meant ${sum(({ meant }) => meant)} times, ` +
    `booked ${total} times; ${count(({ keyed }) => !keyed)} without a key, ${count(({ manner }) => manner === 'hasty' || manner === 'rash')} closed and sent again at once, ` +
    `${sum(({ breaks }) => breaks)} breaks; told ${sum(({ fresh }) => fresh.length)} new, ${sum((each) => each.replayed)} replayed, ` +
    `${sum(({ fenced }) => fenced)} fenced, ${sum(({ unknown }) => unknown)} unknown, ${sum(({ unsent }) => unsent)} never sent`
  );
}
