/**
 * Partial results of HTTP APIs and MCP servers as recourse.yaml declares them, through a real `recourse up`: what is
 * told, what is sent again, and what a process that is killed between two sends leaves behind.
 */
import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { eventually } from '../../support/eventually.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { listenApi } from '../../support/http/api.ts';
import { withReader } from '../../support/read-journal.ts';
import { storeIn } from '../../support/recourse-process.ts';
import { listen } from '../../support/upstream-http.ts';

interface Entry {
  readonly id: string;
  readonly status: number;
}

/** A service that sends mail in bulk. By name: the statuses of its first sends; then 201. */
async function startMail(t: TestContext, script: Readonly<Record<string, readonly number[]>>) {
  const ledger: string[] = [];
  const requests: { readonly to: readonly string[]; readonly key: string | undefined }[] = [];
  const times = new Map<string, number>();
  const statusOf = (name: string): number => {
    const nth = times.get(name) ?? 0;
    times.set(name, nth + 1);
    return script[name]?.[nth] ?? 201;
  };
  const answer = (response: ServerResponse, status: number, value: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const api = await listenApi(t, (request, response) => {
    const { to } = JSON.parse(request.body) as { to: readonly string[] };
    requests.push({ to, key: request.headers['idempotency-key'] as string | undefined });
    const results = to.map((id): Entry => ({ id, status: statusOf(id) }));
    ledger.push(...results.filter(({ status }) => status === 201).map(({ id }) => id));
    const words = results.map((entry) => (entry.status < 400 ? entry : { ...entry, error: { message: 'not now' } }));
    answer(response, request.url === '/plain' ? 200 : 207, { results: words });
  });
  return { api, ledger, requests };
}

const partialRule = (retry: boolean) => `
        partial:
          items: args.to
          entries: result.results
          failed: entry.status >= 400
          item: entry.id
          kind: entry.status
          message: entry.error.message
          results: result.results
          retry: ${retry}`;

const yaml = (url: string, base = '1ms') => `tools:
  mail:
    http: { url: ${url} }
    tools:
      send:
        request: { method: POST, path: /mail }
        retry: { max_attempts: 3, backoff: fixed, base: ${base}, jitter: 0 }${partialRule(true)}
      bulk:
        request: { method: POST, path: /plain }${partialRule(false)}
      undeclared:
        request: { method: POST, path: /mail }
agents:
  bot: { default: permit, rules: [] }
`;

const sending = (tool: string, to: readonly string[]) => ({ tool, args: { to } });

test('[C7-http-1] failed items of HTTP 207 are sent again alone, under a key of their own', async (t) => {
  const mail = await startMail(t, { grace: [429] });
  const up = await startGoverned(t, yaml(mail.api.url));
  await up.ready();
  const key = up.keyOf('bot');
  const { body } = await up.ask('/v1/calls', { key, body: sending('mail/send', ['ada', 'grace', 'joan']) });
  assert.deepEqual([body['errors'], body['attempts']], [undefined, 2]);
  const { results } = body['result'] as { results: readonly Entry[] };
  assert.deepEqual(
    results.map(({ id, status }) => [id, status]),
    [
      ['ada', 201],
      ['grace', 201],
      ['joan', 201],
    ],
  );
  assert.deepEqual(mail.ledger, ['ada', 'joan', 'grace']);
  assert.equal(new Set(mail.requests.map((request) => request.key)).size, 2);
});

test('[C7-http-1] entries of a bulk answer with status 200 are failed items too', async (t) => {
  const mail = await startMail(t, { grace: [404], joan: [503] });
  const up = await startGoverned(t, yaml(mail.api.url));
  await up.ready();
  const { status, body } = await up.ask('/v1/calls', {
    key: up.keyOf('bot'),
    body: sending('mail/bulk', ['ada', 'grace', 'joan']),
  });
  assert.equal(status, 200);
  assert.deepEqual(body['errors'], [
    { class: 'ToolTerminal', code: 'NotFound', item: 'grace', message: 'not now' },
    { class: 'ProviderTransient', code: 'Provider5xx', item: 'joan', message: 'not now', effect: 'unknown' },
  ]);
  assert.equal(mail.requests.length, 1);
});

test('[C7-http-2] HTTP 207 without a declaration is read by the statuses in it', async (t) => {
  const mail = await startMail(t, { grace: [404] });
  const up = await startGoverned(t, yaml(mail.api.url));
  await up.ready();
  const key = up.keyOf('bot');
  const { body } = await up.ask('/v1/calls', { key, body: sending('mail/undeclared', ['ada', 'grace']) });
  assert.deepEqual(body['errors'], [{ class: 'ToolTerminal', code: 'NotFound', item: 'grace', message: 'not now' }]);
  const none = await up.ask('/v1/calls', { key, body: sending('mail/undeclared', []) });
  const [error] = none.body['errors'] as readonly { item: string; code: string }[];
  assert.deepEqual([error?.item, error?.code], ['*', 'OutputMalformed'], 'nothing in it has a status');
});

test('[C7-items-10] a process that is killed between two sends leaves what is done on record', async (t) => {
  const mail = await startMail(t, { grace: [429] });
  const text = yaml(mail.api.url, '2s');
  const up = await startGoverned(t, text);
  await up.ready();
  const key = up.keyOf('bot');
  const asked = up.ask('/v1/calls', { key, body: { ...sending('mail/send', ['ada', 'grace', 'joan']), key: 'k' } });
  asked.catch(() => undefined);
  const id = await eventually('the wait for the next send', () =>
    withReader(storeIn(up.home), async (reader) => {
      const [call] = await reader.listCalls({ state: 'RETRY_WAIT', limit: 1 });
      return call?.id ?? null;
    }),
  );
  await up.stop('SIGKILL');
  const again = await startGoverned(t, text, [], up.home);
  await again.ready();
  await eventually('the end of the call', () =>
    withReader(storeIn(again.home), async (reader) => (await reader.call(id))?.state === 'SUCCEEDED'),
  );
  assert.deepEqual(
    mail.requests.map(({ to }) => to),
    [['ada', 'grace', 'joan'], ['grace']],
  );
  assert.deepEqual(mail.ledger, ['ada', 'joan', 'grace']);
  const { body } = await again.ask(`/v1/calls/${id}`, { key: again.keyOf('bot') });
  const { results } = body['result'] as { results: readonly Entry[] };
  assert.deepEqual(
    results.map((entry) => entry.id),
    ['ada', 'grace', 'joan'],
  );
});

/** An MCP server whose one tool tells of failed items in its structured content. */
function mcpMail(sent: string[][]) {
  const server = new Server({ name: 'mail', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({
    tools: [{ name: 'send', inputSchema: { type: 'object' as const } }],
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const to = (params.arguments as { to: string[] }).to;
    sent.push(to);
    const failed = sent.length === 1 ? ['grace'] : [];
    const structuredContent = {
      sent: to.filter((name) => !failed.includes(name)),
      failed: failed.map((name) => ({ name, why: 'busy', kind: '429' })),
    };
    return { content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }], structuredContent };
  });
  return server;
}

test('[C7-mcp-1] failed items in the structured content of an MCP server are sent again alone', async (t) => {
  const sent: string[][] = [];
  const server = await listen(t, toNodeHandler(createMcpHandler(() => mcpMail(sent))) as RequestListener);
  const up = await startGoverned(
    t,
    `tools:
  mail:
    mcp: { url: ${server.url} }
    tools:
      send:
        retry: { max_attempts: 3, backoff: fixed, base: 1ms, jitter: 0 }
        partial:
          items: args.to
          entries: result.structuredContent.failed
          item: entry.name
          kind: entry.kind
          message: entry.why
          results: result.structuredContent.sent
          retry: true
agents:
  bot: { default: permit, rules: [] }
`,
  );
  await up.ready();
  const { body } = await up.ask('/v1/calls', { key: up.keyOf('bot'), body: sending('mail/send', ['ada', 'grace']) });
  const result = body['result'] as { content: readonly { text: string }[]; structuredContent: { sent: string[] } };
  assert.deepEqual(result.structuredContent.sent, ['ada', 'grace']);
  assert.deepEqual(JSON.parse(result.content[0]?.text ?? ''), result.structuredContent);
  assert.deepEqual(sent, [['ada', 'grace'], ['grace']]);
});
