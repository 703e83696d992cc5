/** The client and the daemon's own door, with what really happens on the way: lost answers, long calls, wrong keys. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { CallError, createClient, httpTransport } from '../../../src/client/index.ts';
import { tool } from '../../../src/index.ts';
import { openHttp } from '../http/open-http.ts';

/** Carries bytes both ways, and cuts the line when the first answers are about to pass. */
async function startCuttingProxy(t: TestContext, to: URL, cuts: number) {
  const sockets = new Set<Socket>();
  let left = cuts;
  const server = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}));
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      if (left > 0) {
        left -= 1;
        client.destroy();
        upstream.destroy();
      } else client.write(chunk);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function countingRefund() {
  let runs = 0;
  const refund = tool({ name: 'refund', input: {}, run: async () => ({ runs: (runs += 1) }) });
  return { refund, runs: () => runs };
}

for (const cuts of [1, 2])
  test(`a refund whose answer is lost ${cuts === 1 ? 'once' : 'twice'} happens once`, async (t) => {
    const { refund, runs } = countingRefund();
    const { url, keys } = await openHttp(t, { tools: [refund] });
    const transport = httpTransport({ url: await startCuttingProxy(t, url, cuts), key: keys.agent });
    const reply = await createClient({ transport }).send<{ runs: number }>('refund', { order: 'ord_1' });
    assert.deepEqual([reply.result, reply.replayed, runs()], [{ runs: 1 }, true, 1]);
  });

test('a refund whose answers are all lost is in doubt; its key settles the doubt later', async (t) => {
  const { refund, runs } = countingRefund();
  const { url, keys } = await openHttp(t, { tools: [refund] });
  const lossy = httpTransport({ url: await startCuttingProxy(t, url, 1), key: keys.agent });
  const error: unknown = await createClient({ transport: lossy, maxResends: 0 })
    .call('refund')
    .catch((thrown: unknown) => thrown);
  assert.ok(error instanceof CallError && error.effect === 'unknown' && error.key !== null);
  const later = createClient({ transport: httpTransport({ url: url.href, key: keys.agent }) });
  assert.deepEqual(await later.call('refund', {}, { key: error.key }), { runs: 1 });
  assert.equal(runs(), 1);
});

test('a call that is longer than its wait is polled to its end', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = tool({ name: 'slow', input: {}, run: async () => promise });
  const { url, server, keys } = await openHttp(t, { tools: [slow] });
  const asked: string[] = [];
  server.on('request', ({ method = '' }) => {
    asked.push(method);
    if (asked.length === 2) resolve('done');
  });
  const client = createClient({ transport: httpTransport({ url: url.href, key: keys.agent }), waitSeconds: 0.05 });
  assert.equal(await client.call('slow'), 'done');
  assert.deepEqual([asked[0], asked[1], asked.includes('POST', 1)], ['POST', 'GET', false]);
});

test('a key that the daemon does not know lets nothing in, and nothing ran', async (t) => {
  const { refund, runs } = countingRefund();
  const { url } = await openHttp(t, { tools: [refund] });
  const client = createClient({ transport: httpTransport({ url: url.href, key: 'rk_of_nobody' }) });
  const error: unknown = await client.call('refund').catch((thrown: unknown) => thrown);
  assert.ok(error instanceof CallError);
  assert.deepEqual([error.error, error.code, error.effect, runs()], ['turned_away', 'Unauthenticated', 'none', 0]);
  assert.ok(!JSON.stringify(error).includes('rk_of_nobody'));
});

test('the reply of an earlier call can be read, and that of nobody cannot', async (t) => {
  const { url, keys } = await openHttp(t, { tools: [countingRefund().refund] });
  const client = createClient({ transport: httpTransport({ url: url.href, key: keys.agent }) });
  const { call_id, result } = await client.send('refund');
  const found = await client.reply(call_id);
  assert.deepEqual('result' in found && found.result, result);
  await assert.rejects(
    client.reply('call_of_nobody'),
    (error) => error instanceof CallError && error.error === 'turned_away' && error.code === 'UnknownCall',
  );
});
