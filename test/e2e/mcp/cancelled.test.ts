import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import test, { type TestContext } from 'node:test';
import type { CallId } from '../../../src/core/call/call.ts';
import type { Shell } from '../../../src/shell/shell.ts';
import { eventually } from '../../support/eventually.ts';
import { connectHttp, connectInMemory, type Revision, revisions, serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { createTalk } from '../../support/mcp-workflows.ts';

async function opened(t: TestContext) {
  const talk = createTalk();
  const { door, shell } = await openDoor(t, { workflow: talk.workflow });
  const began = () => eventually('the body runs', async () => talk.heard.includes('began'));
  return { door, shell, heard: talk.heard, began };
}

const idOf = (shell: Shell): CallId => {
  const [id] = shell.live.running.keys();
  assert.ok(id !== undefined, 'a call runs');
  return id;
};

const isRecordedAsGone = (shell: Shell, id: CallId) =>
  eventually('the requester is on record as gone', async () => {
    const call = await shell.ports.store.call(id);
    return call !== null && call.requesterLeftAtMs !== null;
  });

type Gateway = Awaited<ReturnType<typeof opened>>;
type Step = Awaited<ReturnType<typeof connectHttp>>['step'];

/** `close`: how the client ends its connection, where it has one: until then its place is its own. */
async function stopsWhenAborted(
  action: string,
  step: Step,
  { shell, heard, began }: Omit<Gateway, 'door'>,
  close: (() => Promise<void>) | null = null,
) {
  const cancel = new AbortController();
  const called = assert.rejects(step({ action }, { signal: cancel.signal }));
  await began();
  const id = idOf(shell);
  cancel.abort('enough');
  await called;
  await eventually('the body hears its signal', async () => heard.includes('stopped'));
  if (close !== null) {
    await eventually('the call has ended', async () => (await shell.ports.store.call(id))?.state !== 'DISPATCHED');
    assert.equal((await shell.ports.store.call(id))?.requesterLeftAtMs, null, 'its client is there');
    await close();
  }
  await isRecordedAsGone(shell, id);
}

const ways = {
  'in memory': async (t: TestContext, revision: Revision) => {
    const gateway = await opened(t);
    return { ...gateway, client: await connectInMemory(t, gateway.door, revision) };
  },
  'over HTTP': async (t: TestContext, revision: Revision) => {
    const gateway = await opened(t);
    const { url } = await serveHttp(t, gateway.door);
    return { ...gateway, client: await connectHttp(t, url, revision) };
  },
};

for (const [way, connect] of Object.entries(ways))
  for (const revision of revisions) {
    test(`a client that cancels stops the call, ${way}, in ${revision}`, async (t) => {
      const { client, ...gateway } = await connect(t, revision);
      const isStateless = way === 'over HTTP' && revision === '2026-07-28';
      await stopsWhenAborted('wait', client.step, gateway, isStateless ? null : () => client.client.close());
    });

    // Over HTTP, 2026-07-28 has one word for both: the stream is closed.
    const isLeaving = !(way === 'over HTTP' && revision === '2026-07-28');
    test(`a client that is gone ${isLeaving ? 'leaves its call running' : 'has cancelled its call'}, ${way}, in ${revision}`, async (t) => {
      const { client, shell, heard, began } = await connect(t, revision);
      const called = assert.rejects(client.step({ action: 'wait' }));
      await began();
      const id = idOf(shell);
      await client.client.close();
      await called;
      await isRecordedAsGone(shell, id);
      if (isLeaving) assert.ok(shell.live.running.has(id) && !heard.includes('stopped'));
      else await eventually('the body hears its signal', async () => heard.includes('stopped'));
    });
  }

test('a client of 2026-07-28 that came back with an answer cancels by closing that stream', async (t) => {
  const { door, ...gateway } = await opened(t);
  const { url } = await serveHttp(t, door);
  const { step } = await connectHttp(t, url, '2026-07-28', {
    capabilities: { elicitation: { form: {} } },
    prepare: (client) =>
      client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { milk: 'oat' } })),
  });
  await stopsWhenAborted('ask_and_wait', step, gateway);
});

test('a gateway that closes cuts the stream of 2026-07-28 itself, and cancels nothing by that', async (t) => {
  const { door, shell, heard, began } = await opened(t);
  const { url, handler, server } = await serveHttp(t, door);
  const { step } = await connectHttp(t, url, '2026-07-28');
  const called = assert.rejects(step({ action: 'wait' }));
  await began();
  const id = idOf(shell);
  await handler.close({ drainMs: 0 });
  server.closeAllConnections();
  await called;
  await isRecordedAsGone(shell, id);
  assert.ok(shell.live.running.has(id) && !heard.includes('stopped'));
});

test('a client of 2025-11-25 whose stream breaks has left its call, and its session stays', async (t) => {
  const { door, shell, heard, began } = await opened(t);
  const { url, handler } = await serveHttp(t, door);
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const answer = await fetch(url, { method: 'POST', headers, body: initialize });
  await answer.text();
  const session = answer.headers.get('mcp-session-id') ?? '';
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'step', arguments: { action: 'wait' } } };
  const broken = httpRequest(url, { method: 'POST', headers: { ...headers, 'mcp-session-id': session } });
  broken.on('error', () => undefined);
  broken.end(JSON.stringify(call));
  await began();
  const id = idOf(shell);
  broken.destroy();
  await isRecordedAsGone(shell, id);
  assert.ok(shell.live.running.has(id) && !heard.includes('stopped'));
  assert.equal(handler.sessions(), 1);
});
