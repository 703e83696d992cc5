/**
 * Clients that give up, as tests need them: below every library, which would keep the connection or wait. And a tool
 * that counts its runs.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { TestContext } from 'node:test';
import { openHttp } from '../e2e/http/open-http.ts';
import type { Reply } from '../../src/core/call/reply.ts';
import type { Shell } from '../../src/shell/shell.ts';
import { aTool } from './builders.ts';
import { eventually } from './eventually.ts';
import { type Revision, serveHttp } from './mcp-connect.ts';
import { openDoor } from './mcp-gateway.ts';
import { introduce } from './mcp-raw.ts';
import { aTool as aWrite } from './tools.ts';

/** One request on a connection of its own. */
export interface Sent {
  /** The whole body; null if the connection ended before it. */
  readonly answer: Promise<string | null>;
  /** The system has all of the request. */
  readonly sent: Promise<unknown>;
  /** Closes the connection, whatever was read. */
  destroy(): void;
}

/** Whoever has the whole answer closes at once. */
export function send(url: URL, headers: Readonly<Record<string, string>>, body: string): Sent {
  const kept = { ...headers, connection: 'keep-alive' };
  const request = httpRequest(url, { method: 'POST', headers: kept, agent: false });
  const answer = new Promise<string | null>((resolve) => {
    request.on('error', () => resolve(null));
    request.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', () => resolve(null));
      response.on('end', () => {
        resolve(text);
        request.destroy();
      });
      response.on('close', () => resolve(response.complete ? text : null));
    });
  });
  const sent = once(request, 'finish').catch(() => undefined);
  request.end(body);
  return { answer, sent, destroy: () => void request.destroy() };
}

/** `pay {n}`: runs until the test lets it end. */
export function createPayments() {
  const runs = new Map<number, (() => void)[]>();
  return {
    /** The body. */
    run: ({ n }: { readonly n?: unknown }): Promise<{ paid: unknown }> =>
      new Promise((resolve) => {
        const known = runs.get(n as number) ?? [];
        runs.set(n as number, [...known, () => resolve({ paid: n })]);
      }),
    times: (n: number) => runs.get(n)?.length ?? 0,
    begun: (n: number, times = 1) => eventually(`payment ${n}`, async () => (runs.get(n)?.length ?? 0) >= times),
    finish: (n: number) => runs.get(n)?.forEach((end) => end()),
    finishAll: () => runs.forEach((ends) => ends.forEach((end) => end())),
  };
}

export interface Way {
  readonly shell: Shell;
  readonly payments: ReturnType<typeof createPayments>;
  /** Asks for a payment; for a client with sessions in the one that is named, or in its first. */
  pay(n: number, session?: string): Sent;
  /** What the answer says. */
  replyIn(answer: string | null): Reply;
}

/** Every way to call a tool over HTTP. */
export const ways = {
  'over HTTP': async (t: TestContext): Promise<Way> => {
    const payments = createPayments();
    const { url, keys, shell } = await openHttp(t, { tools: [aWrite('pay', payments.run)] });
    t.after(() => payments.finishAll());
    const headers = { authorization: `Bearer ${keys.agent}`, 'content-type': 'application/json' };
    return {
      shell,
      payments,
      pay: (n) => send(new URL('/v1/calls', url), headers, JSON.stringify({ tool: 'pay', args: { n } })),
      replyIn: (answer) => JSON.parse(answer ?? assert.fail('no answer')) as Reply,
    };
  },
  'over MCP in 2025-11-25': (t: TestContext) => overMcp(t, '2025-11-25'),
  'over MCP in 2026-07-28': (t: TestContext) => overMcp(t, '2026-07-28'),
};

export const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function overMcp(t: TestContext, revision: Revision): Promise<Way & { open(): Promise<string>; url: URL }> {
  const payments = createPayments();
  const { door, shell } = await openDoor(t, {
    tools: [{ ...aTool({ name: 'pay', timeoutMs: 60_000 }), run: payments.run }],
  });
  t.after(() => payments.finishAll());
  const { url } = await serveHttp(t, door);
  const open = async (): Promise<string> => {
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const response = await fetch(url, { method: 'POST', headers: base, body });
    await response.text();
    return response.headers.get('mcp-session-id') ?? assert.fail('no session');
  };
  const first = revision === '2025-11-25' ? await open() : '';
  let id = 0;
  return {
    shell,
    payments,
    url,
    open,
    pay(n, session = first) {
      const request = { id: (id += 1), method: 'tools/call', params: { name: 'pay', arguments: { n } } };
      const modern = introduce(request);
      return revision === '2026-07-28'
        ? send(url, modern.headers, JSON.stringify(modern.message))
        : send(url, { ...base, 'mcp-session-id': session }, JSON.stringify({ jsonrpc: '2.0', ...request }));
    },
    replyIn(answer) {
      const text = answer ?? assert.fail('no answer');
      const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
      const { result } = JSON.parse(data) as { result: { structuredContent: Reply } };
      return result.structuredContent;
    },
  };
}
