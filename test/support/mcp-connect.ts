/** Official clients, in both revisions, connected to a door in memory, over HTTP, or to a child process over stdio. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isRefusal, type Reply } from '../../src/core/call/reply.ts';
import { replySchema } from '../../src/core/http/reply-schema.ts';
import { createHttpHandler, type HttpHandlerOptions } from '../../src/doors/mcp/http/http-handler.ts';
import type { McpDoor } from '../../src/doors/mcp/mcp-door.ts';
import { serveConnection } from '../../src/doors/mcp/stdio/serve-stream.ts';

export const revisions = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof revisions)[number];

const isReply = new Ajv2020({ strict: true }).compile(replySchema());

export interface Called {
  readonly reply: Reply;
  readonly text: string;
  readonly isError: boolean;
}

export interface ConnectedClient {
  readonly client: Client;
  /** Calls a tool; its structured content is a valid reply, or the test fails. */
  call(name: string, args?: unknown, options?: CallOptions): Promise<Called>;
  step(args: unknown, options?: CallOptions): Promise<Called>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface ConnectOptions extends ClientOptions {
  /** Before it connects: handlers for what the server may ask. */
  readonly prepare?: (client: Client) => void;
  /** The key of an agent. */
  readonly key?: string;
}

export async function connectInMemory(t: TestContext, door: McpDoor, revision: Revision, options: ConnectOptions = {}) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  serveConnection(door, theirs);
  return connected(t, ours, revision, options);
}

export async function connectHttp(t: TestContext, url: URL, revision: Revision, options: ConnectOptions = {}) {
  const { key, ...rest } = options;
  const headers = key === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${key}` } } };
  return connected(t, new StreamableHTTPClientTransport(url, headers), revision, rest);
}

/** The child serves the workflow of this name. */
export async function connectStdio(t: TestContext, workflow: string, revision: Revision, options: ConnectOptions = {}) {
  return connected(t, new StdioClientTransport({ ...stdioCommand(workflow), stderr: 'inherit' }), revision, options);
}

export function stdioCommand(workflow: string) {
  const program = path.join(import.meta.dirname, 'mcp-child.ts');
  return { command: process.execPath, args: [program, workflow], env: process.env as Record<string, string> };
}

export async function serveHttp(t: TestContext, door: McpDoor, options: Partial<HttpHandlerOptions> = {}) {
  const handler = createHttpHandler(door, options);
  const server = createServer((request, response) => handler.handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    await handler.close({ drainMs: 0 });
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { handler, server, url: new URL(`http://127.0.0.1:${port}${options.path ?? '/mcp'}`) };
}

async function connected(
  t: TestContext,
  transport: Parameters<Client['connect']>[0],
  revision: Revision,
  { prepare, ...options }: ConnectOptions,
): Promise<ConnectedClient> {
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy';
  const client = new Client({ name: 'test', version: '1' }, { ...options, versionNegotiation: { mode } });
  prepare?.(client);
  await client.connect(transport);
  t.after(() => client.close());
  assert.equal(client.getNegotiatedProtocolVersion(), revision);
  // From now on the client checks every result against the schema that is listed.
  await client.listTools();
  const call: ConnectedClient['call'] = async (name, args, { signal, meta } = {}) => {
    const params = {
      name,
      ...(args === undefined ? {} : { arguments: args }),
      ...(meta === undefined ? {} : { _meta: meta }),
    };
    const result = await client.callTool(params as never, signal === undefined ? undefined : { signal });
    return calledOf(result);
  };
  return { client, call, step: (args, callOptions) => call('step', args, callOptions) };
}

export function calledOf(result: Readonly<Record<string, unknown>>): Called {
  const reply = result['structuredContent'] as Reply;
  assert.ok(isReply(reply), `${JSON.stringify(isReply.errors?.[0])}: ${JSON.stringify(result)}`);
  const [content] = result['content'] as readonly { readonly text: string }[];
  assert.equal(result['isError'] === true, isRefusal(reply));
  return { reply, text: content?.text ?? '', isError: result['isError'] === true };
}
