/**
 * kill -9 at any moment, again and again on one file: whatever was acknowledged stays, whatever ran ran once, and what
 * nobody can know is said to be unknown.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Head } from '../../src/core/journal/verify.ts';
import { createGateway, isRefusal, type Reply } from '../../src/index.ts';
import type { StoredCall, StoreReader } from '../../src/ports/store.ts';
import { createRandom } from '../simulation/random.ts';
import { checkReply } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { checkFile, checkPath, verifyJournal, withReader } from '../support/read-journal.ts';
import { askKeysAgain, askUnansweredAgain } from './ask-again.ts';
import { type Killed, type Request, runAndKill, together } from './chaos-round.ts';
import type { Moment } from './kill-child.ts';
import { chaosTools, linesIn } from './chaos-tools.ts';
import { checkLines, checkStates } from './check-world.ts';

const rounds = process.env['RECOURSE_SOAK'] === '1' ? 500 : 25;
const seed = Number(process.env['RECOURSE_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const mostReplies = 80;
const mostMsAfterwards = 30;
const startMs = 400;
const manyCalls = 1_000_000;

const count = {
  calls: 0,
  acknowledged: 0,
  unacknowledged: 0,
  recovered: 0,
  inDoubt: 0,
  handedOver: 0,
  beforeOpening: 0,
};

test(`[C6-chaos-1] ${rounds} rounds of kill -9, from seed ${seed}`, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-chaos-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'recourse.db');
  const log = path.join(folder, 'world.log');
  const tools = chaosTools(log);
  const random = createRandom(seed, 'moments');
  let head: Head | null = null;
  let newest = '';
  let oldKeys: readonly Request[] = [];
  const unchecked: Killed[] = [];
  const started = performance.now();
  for (let round = 1; round <= rounds; round++) {
    const moment: Moment = random.chance(0.15)
      ? { after: 'start', delayMs: random.between(0, startMs) }
      : { after: random.between(1, mostReplies), delayMs: random.between(0, mostMsAfterwards) };
    try {
      const killed = await runAndKill({ file, log, seed, round, oldKeys: oldKeys.slice(-40) }, moment);
      if (!killed.opened) count.beforeOpening += 1;
      unchecked.push(killed);
      // Sometimes the next process has to recover what this one left, and is killed at that, or soon after.
      if (round < rounds && random.chance(0.3)) continue;
      ({ head, newest, oldKeys } = await recoverAndCheck(together(unchecked.splice(0)), {
        file,
        log,
        tools,
        head,
        newest,
        oldKeys,
      }));
    } catch (error) {
      t.diagnostic(`seed ${seed}, round ${round}, killed ${moment.delayMs} ms after ${JSON.stringify(moment.after)}`);
      throw error;
    }
  }
  const report = await checkFile(file);
  const { calls, acknowledged, unacknowledged, recovered, inDoubt, handedOver, beforeOpening } = count;
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  t.diagnostic(
    `${rounds} rounds (${beforeOpening} killed before they had opened) in ${seconds} s: ${calls} calls, ` +
      `${acknowledged} acknowledged, ${unacknowledged} committed but not acknowledged, ${recovered} found dispatched, ` +
      `${inDoubt} in doubt, ${handedOver} handed over unseen; ${report.records} records in ${report.epochs} epochs hold`,
  );
  // How much was done is decided by the moments; here it only matters that the kills came in the middle of work.
  assert.ok(acknowledged > 0 && recovered > 0, 'the rounds were rounds of work');
  assert.ok(handedOver <= rounds / 4, 'replies on record that reached nobody are found after the crash');
});

interface Progress {
  readonly head: Head | null;
  /** The newest call that was checked. */
  readonly newest: string;
  readonly oldKeys: readonly Request[];
}

interface Place {
  readonly file: string;
  readonly log: string;
  readonly tools: ReturnType<typeof chaosTools>;
}

async function recoverAndCheck(killed: Killed, before: Progress & Place): Promise<Progress> {
  const { file, log, tools, newest } = before;
  const left = existsSync(file) ? await leftBehind(killed, file, newest) : [];
  const gateway = await createGateway({
    file,
    tools,
    agent: 'chaos',
    limits: { sweepEveryMs: 20 },
    onNotice: (notice) => assert.equal(notice.kind, 'recovered', JSON.stringify(notice)),
  });
  try {
    return await withReader(file, async (reader) => {
      for (const { id, owner } of left) {
        const now = await reader.call(id);
        assert.ok(now !== null && (now.state !== 'DISPATCHED' || now.owner !== owner), `${id} is left dispatched`);
      }
      const around = { tools: tools.map(({ name }) => name), folder: path.dirname(file) };
      await checkAcknowledged(
        killed,
        (callId) => gateway.reply(callId),
        (reply) => checkReply(reply, around),
      );
      const keyed = await askKeysAgain(killed, gateway, log);
      count.handedOver += await askUnansweredAgain(killed, gateway, reader, log);
      await eventually('everything is settled', async () => (await reader.unfinished('', 1)).length === 0);
      const lines = linesIn(log);
      checkLines(lines);
      const calls = await callsAfter(newest, reader);
      checkStates(calls, lines);
      for (const call of calls) await checkPath(call, reader);
      count.inDoubt += calls.filter(({ state }) => state === 'IN_DOUBT').length;
      const report = await verifyJournal(reader, before.head);
      assert.deepEqual(report.problems, []);
      return { head: report.head, newest: calls[0]?.id ?? newest, oldKeys: [...before.oldKeys, ...keyed] };
    });
  } finally {
    await gateway.close();
  }
}

/** Counts what the dead process had recorded, and returns what it was sending. */
async function leftBehind(killed: Killed, file: string, newest: string): Promise<readonly StoredCall[]> {
  return withReader(file, async (reader) => {
    const acknowledged = new Set([...killed.answered.values()].map(({ call_id: callId }) => callId));
    const calls = await callsAfter(newest, reader);
    const ended = calls.filter(({ state }) => state !== 'DISPATCHED' && state !== 'RETRY_WAIT');
    const dispatched = (await reader.unfinished('', manyCalls)).filter(({ state }) => state === 'DISPATCHED');
    count.calls += killed.asked.size;
    count.acknowledged += killed.answered.size;
    count.unacknowledged += ended.filter(({ id }) => !acknowledged.has(id)).length;
    count.recovered += dispatched.length;
    return dispatched;
  }).catch((error: Error) => {
    // Killed before the file had its tables.
    assert.match(error.message, /is empty/);
    assert.equal(killed.opened, false);
    return [];
  });
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

/** INVARIANT: an acknowledged reply can be read again, and is the same. */
async function checkAcknowledged(
  killed: Killed,
  read: (callId: string) => Promise<Reply | null>,
  check: (reply: unknown) => Reply,
): Promise<void> {
  for (const reply of killed.answered.values()) {
    check(reply);
    if (isRefusal(reply)) assert.ok(!['Unexpected', 'StoreUnavailable'].includes(reply.code), JSON.stringify(reply));
    const stored = await read(reply.call_id);
    // Whoever got the result of an earlier call is told so beside it.
    const told = reply.notices === undefined ? {} : { notices: reply.notices };
    assert.deepEqual('replayed' in reply ? { ...stored, replayed: true, ...told } : stored, reply);
  }
}
