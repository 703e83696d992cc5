/**
 * The official server of version 1 with an event store: it ends the stream of a running call, and keeps what comes
 * later.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '../../support/eventually.ts';
import { listen } from '../../support/upstream-http.ts';
import { call, failureOf, httpServer, openUpstreams, outputOf, statusOf } from '../../support/upstream-mcp.ts';

function eventStore() {
  const events: { readonly id: string; readonly stream: string; readonly message: JSONRPCMessage }[] = [];
  return {
    async storeEvent(stream: string, message: JSONRPCMessage) {
      const id = `${stream}_${events.length}`;
      events.push({ id, stream, message });
      return id;
    },
    async replayEventsAfter(
      last: string,
      { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
    ): Promise<string> {
      const from = events.findIndex(({ id }) => id === last);
      const stream = events[from]?.stream ?? '';
      for (const event of events.slice(from + 1)) {
        if (event.stream === stream && 'jsonrpc' in event.message) await send(event.id, event.message);
      }
      return stream;
    },
  };
}

/** Its tool ends the stream of its own call at once; it finishes when it is let. */
async function listenWithStore(t: TestContext) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const finish = Promise.withResolvers<void>();
  let runs = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known !== undefined) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: eventStore(),
      retryInterval: 20,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    const server = new McpServer({ name: 'polled', version: '1.0.0' });
    server.registerTool('long', {}, async ({ closeSSEStream }) => {
      runs++;
      closeSSEStream?.();
      await finish.promise;
      return { content: [{ type: 'text', text: 'finished' }] };
    });
    await server.connect(transport as Transport);
    await transport.handleRequest(request, response);
  };
  const listening = await listen(t, (request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const resumed = () => listening.heard.filter((headers) => headers['last-event-id'] !== undefined);
  return { ...listening, sessions, finish: finish.resolve, runs: () => runs, resumed };
}

test('a call whose stream the server ends early gets its result, and is carried out once', async (t) => {
  const server = await listenWithStore(t);
  const upstreams = await openUpstreams(t, [httpServer('web', server.url, { 'x-token': 'secret' })]);
  assert.equal(statusOf(upstreams, 'web').protocolVersion, '2025-11-25');
  const running = call(upstreams, 'web/long');
  await eventually('the question for the rest', async () => server.resumed().length > 0);
  server.finish();
  assert.deepEqual(outputOf(await running)['content'], [{ type: 'text', text: 'finished' }]);
  assert.equal(server.runs(), 1);
  const [headers] = server.resumed();
  assert.ok(server.sessions.has(String(headers?.['mcp-session-id'])));
  assert.deepEqual([headers?.['x-token'], headers?.['mcp-protocol-version']], ['secret', '2025-11-25']);
  assert.equal(statusOf(upstreams, 'web').problem, null);
});

test('if the session is gone meanwhile, the answer is lost, and in doubt', async (t) => {
  const server = await listenWithStore(t);
  const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
  const running = call(upstreams, 'web/long');
  await eventually('the run', async () => server.runs() === 1);
  for (const transport of server.sessions.values()) await transport.close();
  const failure = failureOf(await running);
  assert.deepEqual([failure.kind, failure.errorType, failure.effect], ['unknown', 'ConnectionLost', null]);
  assert.equal(server.runs(), 1);
});
