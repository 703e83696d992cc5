/**
 * `/readyz` says no whenever a call could not be recorded, whatever the reason, and yes again once it could: without
 * any call.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startGoverned } from '../support/governed-up.ts';
import { bin, folder } from '../support/recourse-process.ts';
import { smallServer } from '../support/small-server.ts';
import { whyNoSmallDisk, within } from '../support/small-disk.ts';

const yaml = `tools:\n${smallServer()}`;
const words = ['--file', 'recourse.db', '--agent', 'bot'];
const longMs = 60_000;

const readyAt = async (url: string): Promise<number> => (await fetch(`${url}/readyz`)).status;
const turns = (url: string, status: number) =>
  eventually(`/readyz answers ${status}`, async () => (await readyAt(url)) === status, longMs);

async function call(url: string, args: object = {}) {
  const response = await fetch(`${url}/v1/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ tool: 'small/echo', args }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** `recourse up` on a disk of its own, of 4 MB, which the test reaches through the process. */
async function startOnSmallDisk(t: TestContext) {
  const home = folder(t);
  const disk = path.join(home, 'disk');
  mkdirSync(disk);
  writeFileSync(path.join(home, 'recourse.yaml'), yaml);
  const [command = '', ...line] = within(disk);
  const file = path.join(disk, 'recourse.db');
  const up = [process.execPath, bin, 'up', '--listen', '127.0.0.1:0', '--file', file, '--agent', 'bot'];
  const child = spawn(command, [...line, ...up], { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [, url = ''] = await eventually('its address', async () => /starting at (http:\S+)/.exec(said), longMs);
  await turns(url, 200);
  const filler = path.join(`/proc/${child.pid}/root`, disk, 'filler');
  const fill = () => {
    for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1)
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
      } catch {
        // No room for so many any more.
      }
  };
  return { url, fill, free: () => rmSync(filler), said: () => said };
}

describe('on a disk that is full', { skip: whyNoSmallDisk() }, () => {
  test('it is not ready, before any call has met it, and it is again when there is room', async (t) => {
    const { url, fill, free } = await startOnSmallDisk(t);
    assert.equal((await call(url)).status, 200);
    fill();
    await turns(url, 503);
    assert.deepEqual(await (await fetch(`${url}/readyz`)).json(), { status: 'store_unavailable' });
    free();
    await turns(url, 200);
    assert.equal((await call(url)).status, 200);
  });

  test('once a caller was told, every later one is told at once, whatever else is tried meanwhile', async (t) => {
    const { url, fill, said } = await startOnSmallDisk(t);
    assert.equal((await call(url)).status, 200);
    fill();
    const waited = call(url, { first: true });
    const joined = Array.from({ length: 5 }, (_, at) => call(url, { at }));
    for (const { status } of await Promise.all([waited, ...joined])) assert.ok(status >= 500, String(status));
    assert.match(said(), /store_unavailable/);
    // A caller who waited for the schedule of the store would outlast these: a hundred, one after the other.
    for (let at = 0; at < 100; at++) {
      const { status, body } = await call(url, { at, text: 'x'.repeat((at % 10) * 1_000) });
      assert.deepEqual([status, body['code'], body['effect']], [503, 'StoreUnavailable', 'none']);
    }
    assert.equal(said().split('store_recovered').length, 1, 'a small commit that fits is no recovery');
  });
});

test('beside an owner that is stopped a forwarder is not ready, answers so at once, and is again when it goes on', async (t) => {
  const first = await startGoverned(t, yaml, words);
  await first.ready();
  const second = await startGoverned(t, yaml, words, first.home);
  await second.ready();
  first.signal('SIGSTOP');
  await turns(second.url, 503);
  first.signal('SIGCONT');
  await turns(second.url, 200);
  assert.equal((await call(second.url)).status, 200);
});

test('an owner that was replaced is not ready, and stays so', async (t) => {
  const up = await startGoverned(t, yaml, words);
  await up.ready();
  const database = new DatabaseSync(path.join(up.home, 'recourse.db'), { timeout: 5_000 });
  database.exec(`INSERT INTO epochs (epoch, chain, opened_at) SELECT max(epoch) + 1, x'00', 0 FROM epochs`);
  database.close();
  await turns(up.url, 503);
  const { status, body } = await call(up.url);
  assert.deepEqual([status, body['code']], [503, 'StoreUnavailable']);
  assert.equal(await readyAt(up.url), 503);
});
