/**
 * Killed between a delivery and its cursor, again and again: everything is told at least once, in order, under one id
 * each.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { compiledEnvironment } from '../../../test/support/compile-cache.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { folder } from '../../../test/support/recourse-process.ts';
import { startReceiver } from '../../../test/support/webhook-receiver.ts';

const program = path.join(import.meta.dirname, '../../../test/support/webhook-child.ts');

async function startChild(t: TestContext, file: string, url: string) {
  const env = compiledEnvironment();
  const child: ChildProcess = spawn(process.execPath, [program, file, url], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  });
  const gone = once(child, 'close');
  t.after(() => child.kill('SIGKILL'));
  assert.ok(child.stdout !== null);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'open');
  return {
    gone,
    kill: () => child.kill('SIGKILL'),
    async record(): Promise<string> {
      child.stdin?.write('record\n');
      return String((await lines.next()).value ?? '');
    },
  };
}

test('kill -9 between a delivery and its cursor: told again under the same id, and nothing is lost', async (t) => {
  const file = path.join(folder(t), 'recourse.db');
  const receiver = await startReceiver(t);
  const places: string[] = [];
  const rounds = 2;
  /** Of each round one is told once, and the one over which the process dies twice. */
  let told = 0;
  for (let round = 0; round < rounds; round++) {
    receiver.answer(() => 200);
    const child = await startChild(t, file, receiver.url);
    // What the last one was killed over comes first.
    await eventually('what was left', async () => receiver.got.length === told);
    places.push(await child.record());
    await eventually('the first of this round', async () => receiver.got.length === told + 1);
    // It has the message and says so; whoever sent it never hears that.
    receiver.answer(() => {
      child.kill();
      return 200;
    });
    // Its own answer may be lost as well.
    places.push(await Promise.race([child.record(), child.gone.then(() => '')]));
    await child.gone;
    told += 3;
  }
  receiver.answer(() => 200);
  const last = await startChild(t, file, receiver.url);
  await eventually('the last one again', async () => receiver.got.length === told);
  // It writes into the folder that is about to be removed.
  last.kill();
  await last.gone;
  const ids = receiver.ids().map((id) => id.split('_')[2] ?? '');
  const expected = Array.from({ length: rounds }, (_, round) => [ids[round * 3], ids[round * 3 + 1]]).flat();
  assert.deepEqual([...new Set(ids)], expected, 'in the order in which they happened');
  for (const [at, id] of ids.entries()) if (at % 3 === 2) assert.equal(id, ids[at - 1], 'the same once more');
  for (const [at, place] of places.entries()) if (place !== '') assert.equal(place, expected[at]);
});
