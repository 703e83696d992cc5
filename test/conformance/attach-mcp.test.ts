/**
 * CONTRACT section 6: whose place may an MCP client take? Its own, and that of a client which is lost; never that of
 * one which is there.
 */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import type { CallId } from '../../src/core/call/call.ts';
import { isSuccess, type Reply } from '../../src/index.ts';
import type { Shell } from '../../src/shell/shell.ts';
import { aTool } from '../support/builders.ts';
import { eventually } from '../support/eventually.ts';
import {
  connectHttp,
  connectInMemory,
  type ConnectedClient,
  type Revision,
  revisions,
  serveHttp,
} from '../support/mcp-connect.ts';
import { openDoor } from '../support/mcp-gateway.ts';
import { base, createPayments, send } from '../support/resend.ts';

interface Served {
  readonly shell: Shell;
  readonly payments: ReturnType<typeof createPayments>;
  connect(): Promise<ConnectedClient>;
}

async function open(
  t: TestContext,
  way: 'in memory' | 'over HTTP',
  revision: Revision,
): Promise<Served & { url: URL }> {
  const payments = createPayments();
  const { door, shell } = await openDoor(t, {
    tools: [{ ...aTool({ name: 'pay', timeoutMs: 60_000 }), run: payments.run }],
  });
  t.after(() => payments.finishAll());
  const { url } = await serveHttp(t, door);
  const connect = () => (way === 'in memory' ? connectInMemory(t, door, revision) : connectHttp(t, url, revision));
  return { shell, payments, connect, url };
}

/** A client asks, and cancels while the tool runs. The call is in doubt then. */
async function payAndCancel(client: ConnectedClient, { shell, payments }: Served): Promise<CallId> {
  const cancel = new AbortController();
  const called = assert.rejects(client.call('pay', { n: 1 }, { signal: cancel.signal }));
  await payments.begun(1);
  const [id] = shell.live.running.keys();
  assert.ok(id !== undefined);
  cancel.abort('enough');
  await called;
  await eventually('the doubt', async () => (await shell.ports.store.call(id))?.state === 'IN_DOUBT');
  return id;
}

const pay = async (client: ConnectedClient): Promise<Reply> => (await client.call('pay', { n: 1 })).reply;

async function runsAnew(client: ConnectedClient, { payments }: Served): Promise<void> {
  const asked = pay(client);
  await payments.begun(1, 2);
  payments.finish(1);
  const reply = await asked;
  assert.ok(isSuccess(reply) && reply.replayed === undefined, JSON.stringify(reply));
}

function isFencedBy(id: CallId, reply: Reply): void {
  assert.ok('error' in reply && reply.error === 'fenced' && reply.blocking_call_id === id, JSON.stringify(reply));
}

const withConnections = [
  ['in memory', '2025-11-25'],
  ['in memory', '2026-07-28'],
  ['over HTTP', '2025-11-25'],
] as const;

for (const [way, revision] of withConnections)
  describe(`a call that its client cancelled ${way} in ${revision}`, () => {
    test('[C6-attach-17] fences the same client, and another one that is there runs anew', async (t) => {
      const served = await open(t, way, revision);
      const [one, other] = [await served.connect(), await served.connect()];
      const id = await payAndCancel(one, served);
      isFencedBy(id, await pay(one));
      isFencedBy(id, await pay(one));
      await runsAnew(other, served);
    });

    test('[C6-attach-17] fences another client once its own is lost', async (t) => {
      const served = await open(t, way, revision);
      const [one, other] = [await served.connect(), await served.connect()];
      const id = await payAndCancel(one, served);
      await one.client.close();
      await eventually('the loss', async () => (await served.shell.ports.store.call(id))?.requesterLeftAtMs !== null);
      isFencedBy(id, await pay(other));
      assert.equal(served.payments.times(1), 1);
    });

    test('[C6-attach-17] has its result for the same client, once its body came back', async (t) => {
      const served = await open(t, way, revision);
      const [one, other] = [await served.connect(), await served.connect()];
      const id = await payAndCancel(one, served);
      served.payments.finish(1);
      await eventually('its end', async () => (await served.shell.ports.store.call(id))?.state === 'SUCCEEDED');
      const reply = await pay(one);
      assert.ok(isSuccess(reply) && reply.call_id === id && reply.replayed === true, JSON.stringify(reply));
      await runsAnew(other, served);
    });
  });

test('[C6-attach-11] a call of 2026-07-28 that its client cancelled over HTTP fences whoever asks for the same: nobody is told apart', async (t) => {
  const served = await open(t, 'over HTTP', '2026-07-28');
  const [one, other] = [await served.connect(), await served.connect()];
  const id = await payAndCancel(one, served);
  for (const client of [one, other]) isFencedBy(id, await pay(client));
});

describe('a session of 2025-11-25 whose stream breaks', () => {
  async function broken(t: TestContext, listens: boolean) {
    const served = await open(t, 'over HTTP', '2025-11-25');
    const { url, payments, shell } = served;
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const answer = await fetch(url, { method: 'POST', headers: base, body });
    await answer.text();
    const headers = { ...base, 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' };
    const listening = httpRequest(url, {
      method: 'GET',
      headers: { ...headers, accept: 'text/event-stream' },
      agent: false,
    });
    listening.on('error', () => undefined);
    t.after(() => void listening.destroy());
    if (listens) await new Promise((resolve) => listening.on('response', resolve).end());
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay', arguments: { n: 1 } } };
    const first = send(url, headers, JSON.stringify(call));
    await payments.begun(1);
    const [id] = shell.live.running.keys();
    first.destroy();
    const again = () => send(url, headers, JSON.stringify({ ...call, id: 2 }));
    return { ...served, id: id as CallId, again, listening, other: await served.connect() };
  }

  test('[C6-attach-17] takes its own place, while it listens, and another one runs anew', async (t) => {
    const { again, other, payments, id, ...served } = await broken(t, true);
    await runsAnew(other, { ...served, payments });
    const text = (await again().answer) ?? '';
    assert.ok(text.includes(id) && text.includes('"replayed":true'), text);
  });

  test('[C6-attach-17] is taken for lost when nothing of it is open: another one gets the result', async (t) => {
    const { other, payments, id } = await broken(t, false);
    const asked = pay(other);
    payments.finish(1);
    const reply = await asked;
    assert.ok(isSuccess(reply) && reply.call_id === id && reply.replayed === true, JSON.stringify(reply));
  });

  test('[C6-attach-17] is taken for lost when it listens no longer', async (t) => {
    const { other, payments, id, listening } = await broken(t, true);
    listening.destroy();
    const asked = pay(other);
    payments.finish(1);
    const reply = await asked;
    assert.ok(isSuccess(reply) && reply.call_id === id && reply.replayed === true, JSON.stringify(reply));
  });
});

for (const revision of revisions)
  test(`[C6-attach-17] a connection that ends with its call under way, in ${revision}, leaves it to the next`, async (t) => {
    const served = await open(t, 'in memory', revision);
    const one = await served.connect();
    const called = assert.rejects(one.call('pay', { n: 1 }));
    await served.payments.begun(1);
    await one.client.close();
    await called;
    const asked = pay(await served.connect());
    served.payments.finish(1);
    const reply = await asked;
    assert.ok(isSuccess(reply) && reply.replayed === true, JSON.stringify(reply));
    assert.equal(served.payments.times(1), 1);
  });
