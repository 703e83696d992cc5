import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { DaemonWish } from '../../doors/cli/daemon.ts';
import { findDaemon } from './ask-daemon.ts';

const keys = { own: `rk_ct9zajjrgfyphj1r_${'A'.repeat(43)}`, other: `rk_ct9zajjrgfyphj1r_${'B'.repeat(43)}` };

async function aListener(t: TestContext, host: string) {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end('{}');
  }).listen(0, host);
  t.after(() => server.close());
  await once(server, 'listening');
  return { seen, url: `http://${host}:${(server.address() as AddressInfo).port}` };
}

function aStore(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-ask-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'recourse.db.token'), `${keys.own}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'other.key'), `${keys.other}\n`);
  return folder;
}

const wish = (folder: string, more: Partial<DaemonWish>): DaemonWish => ({
  url: undefined,
  config: join(folder, 'recourse.yaml'),
  file: join(folder, 'recourse.db'),
  key: undefined,
  keyFile: undefined,
  envKey: undefined,
  as: 'operator',
  ...more,
});

async function sent(given: DaemonWish): Promise<void> {
  const found = await findDaemon(given);
  assert.ok(found.kind === 'found');
  assert.equal((await found.daemon.ask({ method: 'GET', path: '/v1/status' })).kind, 'answered');
}

test('which key is sent: that of the command line, else of the operator beside the store, else of the environment', async (t) => {
  const folder = aStore(t);
  const { seen, url } = await aListener(t, '127.0.0.1');
  writeFileSync(join(folder, 'recourse.yaml'), `runtime: { listen: "${url.slice(7)}" }\n`);
  await sent(wish(folder, {}));
  await sent(wish(folder, { envKey: keys.other }));
  await sent(wish(folder, { url, envKey: keys.other }));
  await sent(wish(folder, { keyFile: join(folder, 'other.key') }));
  await sent(wish(folder, { key: keys.other }));
  await sent(wish(folder, { file: join(folder, 'another.db'), envKey: keys.other }));
  await sent(wish(folder, { file: join(folder, 'another.db') }));
  const { own, other } = keys;
  const expected = [own, own, other, other, other, other].map((key) => `Bearer ${key}`);
  assert.deepEqual(seen, [...expected, undefined]);
});

test("INVARIANT: the operator's own key never leaves this machine", async (t) => {
  const outward = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  if (outward === undefined) return t.skip('this machine has no address but its own');
  const { seen, url } = await aListener(t, outward);
  await sent(wish(aStore(t), { url }));
  assert.deepEqual(seen, [undefined]);
});

test('what is no key is refused without being repeated', async (t) => {
  const folder = aStore(t);
  writeFileSync(join(folder, 'wrong.key'), 'very-secret');
  const wrong: readonly (readonly [Partial<DaemonWish>, RegExp])[] = [
    [{ key: 'very-secret' }, /--key: that is no key/],
    [{ keyFile: join(folder, 'wrong.key') }, /wrong\.key': that is no key/],
    [{ keyFile: join(folder, 'absent.key') }, /cannot be read \(ENOENT\)/],
    [{ as: 'agent', envKey: 'very-secret' }, /RECOURSE_KEY: that is no key/],
    [{ as: 'agent' }, /a call needs the key of an agent/],
    [{ key: keys.own, keyFile: join(folder, 'other.key') }, /name two keys/],
  ];
  for (const [more, says] of wrong) {
    const found = await findDaemon(wish(folder, more));
    assert.ok(found.kind === 'refused');
    assert.match(found.message, says);
    assert.doesNotMatch(found.message, /very-secret|AAAA/);
  }
});
