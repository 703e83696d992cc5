/**
 * The lives of children: killed between and during calls, restarted, ended with everything they started, never in
 * anyone's way.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { suite, test } from 'node:test';
import { createMcpUpstreams } from '../../../src/adapters/upstream-mcp/mcp-upstreams.ts';
import { eventually } from '../../support/eventually.ts';
import {
  call,
  connected,
  failureOf,
  isAlive,
  openUpstreams,
  outputOf,
  ownServer,
  realProgram,
  saidBy,
  statusOf,
  stdioServer,
} from '../../support/upstream-mcp.ts';

/** On a busy machine a real server needs more than the usual second or two to come back. */
const patient = { limits: { maxSendDelayMs: 60_000 } };

suite('a child that is killed', { concurrency: 2 }, () => {
  test('between calls: the next call waits for the restart and works', async (t) => {
    const upstreams = await openUpstreams(t, [stdioServer('real', [realProgram('everything')])], patient);
    const { pid } = statusOf(upstreams, 'real');
    assert.ok(pid !== null);
    process.kill(pid, 'SIGKILL');
    await eventually('its end', async () => statusOf(upstreams, 'real').state !== 'connected');
    outputOf(await call(upstreams, 'real/echo', { message: 'back' }));
    const after = statusOf(upstreams, 'real');
    assert.notEqual(after.pid, pid);
    assert.deepEqual([after.reconnects, after.problem], [1, null]);
  });

  test('during calls: each of them is typed, and the next works', async (t) => {
    const upstreams = await openUpstreams(t, [stdioServer('real', [realProgram('everything')])], patient);
    const { pid } = statusOf(upstreams, 'real');
    const slow = { duration: 30, steps: 3 };
    const running = [1, 2, 3].map(() => call(upstreams, 'real/trigger-long-running-operation', slow));
    outputOf(await call(upstreams, 'real/echo', { message: 'they were sent before this' }));
    process.kill(pid ?? 0, 'SIGKILL');
    for (const failure of (await Promise.all(running)).map(failureOf)) {
      assert.deepEqual([failure.kind, failure.effect], ['unknown', null]);
      assert.match(failure.message, /it was ended by SIGKILL/);
    }
    outputOf(await call(upstreams, 'real/echo', { message: 'back' }));
  });

  test('again and again: it is started no more often than the backoff allows', async (t) => {
    const limits = { backoffInitialMs: 100, maxSendDelayMs: 100 };
    const upstreams = await openUpstreams(t, [ownServer('bad', 'dies_at_once')], { limits });
    const starts = () => statusOf(upstreams, 'bad').stderr.length;
    const began = performance.now();
    await eventually('some restarts', async () => (await call(upstreams, 'bad/echo'), starts() >= 4));
    // 100, 200, 400, 800 ms: calls do not hurry a child that keeps dying.
    const [count, tookMs] = [starts(), performance.now() - began];
    const restedMs = 100 * (2 ** (count - 2) - 1);
    assert.ok(tookMs >= restedMs, `started ${count} times in ${tookMs} ms`);
  });
});

suite('closing', { concurrency: 2 }, () => {
  test('ends children, also those that do not listen to signals, and calls under way are typed', async (t) => {
    const limits = { termGraceMs: 300 };
    const upstreams = await openUpstreams(t, [ownServer('polite'), ownServer('deaf', 'ignores_signals')], { limits });
    const pids = upstreams.status().map(({ pid }) => pid ?? 0);
    assert.ok(pids.every(isAlive));
    const running = call(upstreams, 'deaf/hang');
    await call(upstreams, 'deaf/pid');
    await upstreams.close();
    assert.equal(failureOf(await running).kind, 'unknown');
    assert.deepEqual(pids.filter(isAlive), []);
    assert.equal(failureOf(await call(upstreams, 'polite/echo')).kind, 'never_sent');
    assert.deepEqual(
      upstreams.status().map(({ state }) => state),
      ['closed', 'closed'],
    );
  });

  test('ends a child that is just being started', async () => {
    const limits = { connectTimeoutMs: 3_600_000 };
    const hanging = createMcpUpstreams([ownServer('own', 'hang_in_initialize')], { limits });
    await eventually('its start', async () => statusOf(hanging, 'own').stderr.length > 0);
    await hanging.close();
  });

  test('ends what a child has started itself', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own', 'has_grandchild')]);
    const pid = await eventually('the grandchild', async () => {
      const line = statusOf(upstreams, 'own').stderr.find((said) => said.startsWith('grandchild'));
      return line !== undefined && Number(line.split(' ')[1]);
    });
    assert.ok(isAlive(pid));
    await upstreams.close();
    await eventually('its end', async () => !isAlive(pid));
  });

  test('what a child has started does not outlive it either when it is killed', async (t) => {
    const upstreams = await openUpstreams(t, [ownServer('own', 'has_grandchild')]);
    const pid = await eventually('the grandchild', async () => {
      const line = statusOf(upstreams, 'own').stderr.find((said) => said.startsWith('grandchild'));
      return line !== undefined && Number(line.split(' ')[1]);
    });
    process.kill(statusOf(upstreams, 'own').pid ?? 0, 'SIGKILL');
    await eventually('its end', async () => !isAlive(pid));
  });

  test('a process that exits without closing leaves nobody behind', async (t) => {
    const program = path.join(import.meta.dirname, '../../support/upstream-exits.ts');
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const pids = JSON.parse(line) as number[];
    assert.equal(pids.length, 2);
    if (child.exitCode === null) await once(child, 'exit');
    await eventually('their end', async () => !pids.some(isAlive));
  });
});

test('a server that dies, hangs and floods does not disturb the one beside it', async (t) => {
  // One of them hangs for as long as this test may take: a call that waited for it would never be answered.
  const limits = { backoffInitialMs: 50, backoffMaxMs: 100, connectTimeoutMs: 3_600_000 };
  const bad = ['good', 'hang_in_initialize', 'flood'].map((mode, at) => ownServer(`bad${at}`, mode));
  const upstreams = createMcpUpstreams([...bad, ownServer('good')], { limits });
  t.after(() => upstreams.close());
  await connected(upstreams, 'good');
  let calm = false;
  const storm = bad.map(async ({ name }) => {
    while (!calm) await call(upstreams, `${name}/die`);
  });
  try {
    for (let at = 0; at < 1_000; at++) assert.equal(typeof saidBy(await call(upstreams, 'good/pid')), 'number');
    assert.equal(statusOf(upstreams, 'good').reconnects, 0);
  } finally {
    calm = true;
    await upstreams.close();
    await Promise.all(storm);
  }
});
