/**
 * kill -9 at every event of a rollback of three calls: before each commit, after it, and when a reversal has done its
 * work. The next process goes on: no reversal twice, and in the end every call is undone.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { SessionId } from '../../../src/core/call/call.ts';
import type { RollbackView } from '../../../src/core/reversal/reversal-view.ts';
import { openGateway } from '../../../src/main.ts';
import { compiledEnvironment } from '../../support/compile-cache.ts';
import { eventually } from '../../support/eventually.ts';
import { checkFile } from '../../support/read-journal.ts';
import { folder } from '../../support/recourse-process.ts';
import { limits, linesOf, tripTools } from './trip-tools.ts';

const isSoak = process.env['RECOURSE_SOAK'] === '1';
/** In `npm test` a slow machine makes fewer kills; how many is printed. */
const boxMs = isSoak ? Infinity : 40_000;
const maxActs = 200;

interface Said {
  readonly session: SessionId | null;
  readonly acts: number | null;
}

async function runChild(orders: object): Promise<Said> {
  const program = path.join(import.meta.dirname, 'rollback-child.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: compiledEnvironment(),
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child, 'close');
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { session?: SessionId; acts?: number });
  return {
    session: lines.find(({ session }) => session !== undefined)?.session ?? null,
    acts: lines.find(({ acts }) => acts !== undefined)?.acts ?? null,
  };
}

const asked = { by: 'ben', reason: 'go on' } as const;

/** The next process: what was asked for goes on by itself, doubts are settled as the ledger says, nothing is left. */
async function goesOn(t: TestContext, file: string, ledger: string, session: SessionId): Promise<RollbackView> {
  const { gateway, shell } = await openGateway({ file, tools: tripTools(ledger), limits, onNotice: () => undefined });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  const { store } = shell.ports;
  const before = await store.rollback(session);
  if (before !== null)
    await eventually('it goes on by itself', async () => (await store.rollback(session))?.state === 'finished');
  let view: RollbackView | null = null;
  await eventually('nothing is left', async () => {
    for (const call of await store.listCalls({ state: 'IN_DOUBT', limit: 10 })) {
      const args = await store.args(call.id);
      const { id } = args.kind === 'text' ? (JSON.parse(args.text) as { id: string }) : { id: '' };
      const isDone = linesOf(ledger).includes(`${call.tool} ${id}`);
      if (isDone) await gateway.settle(call.id, { happened: 'yes', by: 'ann', result: { booking: `b-${id}` } });
      else await gateway.settle(call.id, { happened: 'no', by: 'ann', force: true });
    }
    view = await gateway.reversals.rollBack(session, asked);
    return view?.state === 'finished' && view.left === 0;
  });
  assert.ok(view !== null);
  await gateway.close({ drain_seconds: 0 });
  return view;
}

function checkLedger(ledger: string, where: string): void {
  const lines = linesOf(ledger);
  for (const id of ['a', 'b', 'c'])
    for (const what of ['book', 'cancel'])
      assert.equal(
        lines.filter((line) => line === `${what} ${id}`).length,
        1,
        `${what} ${id}, ${where}: ${String(lines)}`,
      );
}

test('[C6-rollback-8] kill -9 at every event of a rollback: it converges, and nothing is undone twice', async (t) => {
  const began = performance.now();
  const home = folder(t);
  const whole = await runChild({ file: path.join(home, 'whole.db'), ledger: path.join(home, 'whole'), at: -1 });
  const acts = whole.acts ?? 0;
  assert.ok(acts > 8 && acts < maxActs, `${acts} acts`);
  checkLedger(path.join(home, 'whole'), 'undisturbed');
  let kills = 0;
  for (let at = 0; at < acts; at++)
    for (const fate of ['before', 'after'] as const) {
      if (performance.now() - began > boxMs && kills > 0) continue;
      const where = `killed ${fate} act ${at} of ${acts}`;
      const [file, ledger] = [path.join(home, `${at}-${fate}.db`), path.join(home, `${at}-${fate}`)];
      const { session, acts: ended } = await runChild({ file, ledger, at, fate });
      assert.ok(session !== null && ended === null, where);
      const view = await goesOn(t, file, ledger, session);
      assert.deepEqual(
        view.steps.map(({ outcome }) => outcome),
        ['reversed', 'reversed', 'reversed'],
        where,
      );
      checkLedger(ledger, where);
      await checkFile(file);
      kills += 1;
    }
  t.diagnostic(`${kills} kills at ${acts} acts in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
});
