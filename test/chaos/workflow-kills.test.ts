/**
 * kill -9 while sessions of workflows are walked, again and again on one file: no acknowledged step is lost, no body
 * runs twice, and the state of each session is what its history and the world say.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { isSuccess } from '../../src/index.ts';
import type { StoreReader } from '../../src/ports/store.ts';
import { createRandom } from '../simulation/random.ts';
import { eventually } from '../support/eventually.ts';
import { checkFile, withReader } from '../support/read-journal.ts';
import { checkHistory, wholeHistory } from '../support/workflow-history.ts';
import type { Moment } from './kill-child.ts';
import { type Heard, walkAndKill } from './workflow-round.ts';
import { askAgain, type ChaosGateway, openChaos, settleDoubts, stepsInDoubt } from './workflow-settle.ts';
import { worldLines } from './workflow-world.ts';

const isSoak = process.env['RECOURSE_SOAK'] === '1';
const rounds = isSoak ? 300 : 20;
const seed = Number(process.env['RECOURSE_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const workMs = 300;
const startMs = 400;
/** In `npm test` a slow machine makes fewer rounds; what is left out is printed. */
const boxMs = isSoak ? Infinity : 30_000;
const fewestRounds = 10;

const count = { steps: 0, acknowledged: 0, inDoubt: 0, adopted: 0, lifted: 0, handedOver: 0 };

test(`[C6-chaos-2] ${rounds} rounds of kill -9 in the middle of workflows, from seed ${seed}`, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-chaos-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'recourse.db');
  const log = path.join(folder, 'world.log');
  const random = createRandom(seed, 'moments');
  const sessions = await openSessions(file, log);
  const started = performance.now();
  let heard: Heard = { asked: new Map(), answered: new Map() };
  let done = 0;
  for (let round = 1; round <= rounds; round++) {
    if (round > fewestRounds && performance.now() - started > boxMs) break;
    const moment: Moment = random.chance(0.15)
      ? { after: 'start', delayMs: random.between(0, startMs) }
      : { after: 'opened', delayMs: random.between(0, workMs) };
    try {
      await walkAndKill({ file, log, seed, round, sessions }, moment, heard);
      done += 1;
      // Sometimes the next process has to recover what this one left, and is killed at that, or soon after.
      if (round < rounds && random.chance(0.25)) continue;
      await recoverAndCheck(sessions, heard, file, log);
      heard = { asked: new Map(), answered: new Map() };
    } catch (error) {
      t.diagnostic(`seed ${seed}, round ${round}, killed ${moment.delayMs} ms after ${moment.after}`);
      throw error;
    }
  }
  if (heard.asked.size > 0) await recoverAndCheck(sessions, heard, file, log);
  const report = await checkFile(file);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const { steps, acknowledged, inDoubt, adopted, lifted, handedOver } = count;
  t.diagnostic(
    `${done} of ${rounds} rounds in ${seconds} s: ${steps} steps asked, ${acknowledged} acknowledged, ${inDoubt} in doubt ` +
      `(${adopted} adopted, ${lifted} lifted), ${handedOver} handed over unseen; ${report.records} records in ${report.epochs} epochs hold`,
  );
  assert.ok(acknowledged > 0 && inDoubt > 0, 'the rounds were rounds of work');
});

async function openSessions(file: string, log: string): Promise<readonly string[]> {
  const gateway = await openChaos(file, log);
  const opened: string[] = [];
  for (const workflow of ['bar', 'bar', 'tally', 'tally']) {
    const view = await gateway.sessions.open(workflow);
    assert.ok(!('error' in view), JSON.stringify(view));
    opened.push(view.session);
  }
  await gateway.close();
  return opened;
}

async function recoverAndCheck(sessions: readonly string[], heard: Heard, file: string, log: string): Promise<void> {
  count.steps += heard.asked.size;
  count.acknowledged += heard.answered.size;
  const gateway = await openChaos(file, log);
  try {
    await withReader(file, async (reader) => {
      await eventually('reads that were cut off have run again', async () => isIdle(reader));
      for (const session of sessions) {
        await checkAcknowledged(session, heard, gateway);
        count.inDoubt += (await stepsInDoubt(session, reader)).length;
        const settled = await settleDoubts(session, gateway, reader, log);
        count.adopted += settled.adopted;
        count.lifted += settled.lifted;
      }
      count.handedOver += await askAgain(heard, gateway, reader, log);
      for (const session of sessions) await checkSession(session, gateway, reader, log);
    });
  } finally {
    await gateway.close();
  }
}

const isIdle = async (reader: StoreReader) => (await reader.unfinished('', 1)).length === 0;

/**
 * INVARIANT: a success that an agent has heard of is in the history, where the reply said, and its state was not taken
 * back.
 */
async function checkAcknowledged(session: string, { answered }: Heard, gateway: ChaosGateway): Promise<void> {
  const view = await gateway.sessions.look(session);
  assert.ok(!('error' in view), JSON.stringify(view));
  const entries = await wholeHistory(session, gateway.sessions);
  const replies = [...answered.values()]
    .filter((reply) => isSuccess(reply))
    .filter((reply) => reply.session === session);
  for (const reply of replies) {
    assert.ok(reply.seq <= view.seq, `step ${reply.seq} was acknowledged, the session is at ${view.seq}`);
    const entry = entries.find(({ call_id: callId, kind }) => kind === 'attempt' && callId === reply.call_id);
    assert.deepEqual([entry?.outcome, entry?.seq], ['succeeded', reply.seq], JSON.stringify(reply));
    if (reply.seq === view.seq) assert.deepEqual(view.state, reply.state);
    const settled = entries.every(({ outcome }) => outcome === null || outcome === 'succeeded');
    if (reply.seq === view.seq && settled) assert.deepEqual(view.valid_next_actions, reply.valid_next_actions);
  }
}

/** What the world shows, what the state says and what the history tells are one and the same. */
async function checkSession(session: string, gateway: ChaosGateway, reader: StoreReader, log: string): Promise<void> {
  const view = await gateway.sessions.look(session);
  assert.ok(!('error' in view), JSON.stringify(view));
  checkHistory(await wholeHistory(session, gateway.sessions), view);
  assert.equal((await reader.session(session as never))?.workflow?.turn ?? null, null, 'nobody has the turn any more');
  assert.ok(view.valid_next_actions.length > 0, 'the walk can go on');
  const lines = worldLines(log).filter((line) => line.session === session);
  const marks = new Set(lines.map(({ mark }) => mark));
  assert.equal(marks.size, lines.length, 'no step had its effect twice');
  const { done } = (view.state as { context: { done: number } }).context;
  assert.equal(done, lines.length, `${lines.length} effects, and the state counts ${done}`);
}
