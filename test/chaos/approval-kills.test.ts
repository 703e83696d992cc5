/**
 * kill -9 while people decide, at any moment and on either side of every durable act: what was decided stays decided,
 * and what was approved runs once, in the form that was approved. Nothing runs that nobody approved.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Head } from '../../src/core/journal/verify.ts';
import type { StoredCall, StoreReader } from '../../src/ports/store.ts';
import { createRandom } from '../simulation/random.ts';
import { eventually } from '../support/eventually.ts';
import { checkFile, checkPath, verifyJournal, withReader } from '../support/read-journal.ts';
import { checkAnswers, checkDecisions, checkEffects, checkWaiting } from './approval-check.ts';
import { clearTable, type Finish, finishCase, openCases } from './approval-finish.ts';
import { acts, type Death, openApprovalGateway } from './approval-gateway.ts';
import { decideAndKill, type Heard, nothingHeard } from './approval-round.ts';
import { ledgerLines } from './approval-world.ts';
import type { Moment } from './kill-child.ts';

const isSoak = process.env['RECOURSE_SOAK'] === '1';
const seed = Number(process.env['RECOURSE_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const randomRounds = isSoak ? 400 : 6;
/** How often a process dies at each act, before and after it. */
const deathsEach = isSoak ? 20 : 1;
const workMs = 300;
const startMs = 400;
/** In `npm test` a slow machine makes fewer rounds; what is left out is printed. */
const boxMs = isSoak ? Infinity : 18_000;
const fewestRounds = 6;

/** When the process of a round dies: at a moment, or at an act of its own. */
type End = { readonly moment: Moment; readonly death: null } | { readonly moment: null; readonly death: Death };

test(`[C6-chaos-3] kill -9 among asks and decisions, at random and at each act, from seed ${seed}`, async (t) => {
  const count = await runRounds(t, endsOf(createRandom(seed, 'ends')));
  const { rounds, told, effects, inDoubt, finishes } = count;
  assert.ok(told > 0 && effects > 0 && inDoubt > 0, 'the rounds were rounds of work');
  assert.ok(
    (finishes.get('handed over') ?? 0) <= rounds / 4,
    'replies on record that reached nobody are found after the crash',
  );
});

/** First either side of every act, in the order of the list. */
function endsOf(random: ReturnType<typeof createRandom>): readonly End[] {
  const deaths: Death[] = [];
  for (let time = 1; time <= deathsEach; time++)
    for (const act of acts)
      for (const moment of ['before', 'after'] as const) deaths.push({ act, moment, nth: random.between(1, 3) });
  const moments = Array.from({ length: randomRounds }, (): Moment => {
    if (random.chance(0.25)) return { after: 'start', delayMs: random.between(0, startMs) };
    return { after: 'opened', delayMs: random.between(0, workMs) };
  });
  return [...deaths.map((death) => ({ death, moment: null })), ...moments.map((moment) => ({ moment, death: null }))];
}

async function runRounds(t: TestContext, ends: readonly End[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-chaos-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'recourse.db');
  const ledger = path.join(folder, 'ledger.log');
  const random = createRandom(seed, 'chains');
  const count = { rounds: 0, asked: 0, told: 0, effects: 0, inDoubt: 0, finishes: new Map<Finish, number>() };
  const started = performance.now();
  let heard = nothingHeard();
  let progress: Progress = { head: null, newest: '' };
  for (const [round, end] of ends.entries()) {
    if (round >= fewestRounds && performance.now() - started > boxMs) break;
    try {
      await decideAndKill({ file, ledger, seed, round, death: end.death }, end.moment, heard);
      count.rounds += 1;
      // Often the next process has to recover what this one left, and is killed at that, or soon after.
      if (round < ends.length - 1 && random.chance(0.65)) continue;
      progress = await recoverAndCheck(heard, { file, ledger, ...progress }, count);
      heard = nothingHeard();
    } catch (error) {
      t.diagnostic(`seed ${seed}, round ${round}, ${JSON.stringify(end)}`);
      throw error;
    }
  }
  if (heard.asked.size > 0) await recoverAndCheck(heard, { file, ledger, ...progress }, count);
  const report = await checkFile(file);
  count.effects = new Set(ledgerLines(ledger).map((line) => line.call_id)).size;
  const atActs = ends.slice(0, count.rounds).filter(({ death }) => death !== null).length;
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const finishes = [...count.finishes].map(([finish, times]) => `${times} ${finish}`).join(', ');
  t.diagnostic(
    `${count.rounds} of ${ends.length} rounds, each ended by a kill (${atActs} of ${2 * acts.length * deathsEach} at acts), in ${seconds} s: ${count.asked} asks, ${count.told} decisions ` +
      `acknowledged, ${count.effects} calls ran, ${count.inDoubt} in doubt; asked again: ${finishes}; ` +
      `${report.records} records in ${report.epochs} epochs hold`,
  );
  return count;
}

interface Progress {
  readonly head: Head | null;
  /** The newest call that was checked. */
  readonly newest: string;
}

interface Count {
  asked: number;
  told: number;
  inDoubt: number;
  readonly finishes: Map<Finish, number>;
}

async function recoverAndCheck(
  heard: Heard,
  { file, ledger, head, newest }: Progress & { readonly file: string; readonly ledger: string },
  count: Count,
): Promise<Progress> {
  const gateway = await openApprovalGateway(file, ledger, (notice) =>
    assert.equal(notice.kind, 'recovered', JSON.stringify(notice)),
  );
  try {
    return await withReader(file, async (reader) => {
      assert.deepEqual(await reader.unanswered(1), [], 'whoever did not get their reply is on record as gone');
      await checkWaiting(reader);
      await checkAnswers(heard, reader, (callId) => gateway.gateway.reply(callId));
      count.asked += heard.asked.size;
      count.told += await checkDecisions(heard, reader);
      await Promise.all(
        openCases(heard).map(async (request) => {
          const finish = await finishCase(request, { gateway, reader, ledger, heard });
          count.finishes.set(finish, (count.finishes.get(finish) ?? 0) + 1);
        }),
      );
      await eventually('only what waits for a person is left', async () => isIdle(reader));
      await checkWaiting(reader);
      await clearTable(gateway, heard);
      await eventually('nothing is left', async () => (await reader.unfinished('', 1)).length === 0);
      await checkDecisions(heard, reader);
      const calls = await callsAfter(newest, reader);
      await checkEffects(calls, ledgerLines(ledger), reader);
      for (const call of calls) await checkPath(call, reader);
      count.inDoubt += calls.filter(({ state }) => state === 'IN_DOUBT').length;
      const report = await verifyJournal(reader, head);
      assert.deepEqual(report.problems, []);
      return { head: report.head, newest: calls[0]?.id ?? newest };
    });
  } finally {
    await gateway.gateway.close();
  }
}

async function isIdle(reader: StoreReader): Promise<boolean> {
  const left = await reader.unfinished('', 10_000);
  return left.every(({ state }) => state === 'AWAITING_APPROVAL') && (await reader.approvalsToRun('', 1)).length === 0;
}

/** Newest first, down to the newest that was checked before. */
async function callsAfter(newest: string, reader: StoreReader): Promise<readonly StoredCall[]> {
  const calls: StoredCall[] = [];
  for (;;) {
    const last = calls.at(-1);
    const page = await reader.listCalls({ limit: 500, ...(last === undefined ? {} : { before: last.id }) });
    const fresh = page.filter(({ id }) => id > newest);
    calls.push(...fresh);
    if (fresh.length < 500) return calls;
  }
}
