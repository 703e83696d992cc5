/** Official clients of both SDKs, all with the same few verbs, at the gateway or directly at a server. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as FirstTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import type { Ending, StdioCommand } from './servers-real.ts';

export type Answer = Readonly<Record<string, unknown>>;

export interface Asking {
  /** What the server wrote, before the client's own schemas drop or refuse anything of it. */
  raw(method: string, params?: object): Promise<Answer>;
  /** As an agent uses the client: with its schemas, and results checked against what was listed. */
  listTools(): Promise<readonly Answer[]>;
  callTool(name: string, args: object): Promise<Answer>;
}

const anything = z.looseObject({});
const self = { name: 'official', version: '1.0.0' };

async function secondClient(
  t: Ending,
  transport: Parameters<Client['connect']>[0],
  revision: '2025-11-25' | '2026-07-28',
): Promise<Asking> {
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy';
  const client = new Client(self, { versionNegotiation: { mode } });
  t.after(() => client.close());
  await client.connect(transport);
  return {
    raw: (method, params = {}) => client.request({ method, params } as never, anything),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args) => client.callTool({ name, arguments: args as never }),
  };
}

async function firstClient(t: Ending, url: URL): Promise<Asking> {
  const client = new FirstClient(self);
  t.after(() => client.close());
  const transport: unknown = new FirstHttpTransport(url);
  await client.connect(transport as FirstTransport);
  return {
    raw: (method, params = {}) => client.request({ method, params } as never, anything as never) as Promise<Answer>,
    listTools: async () => (await client.listTools()).tools as unknown as readonly Answer[],
    callTool: async (name, args) => (await client.callTool({ name, arguments: args as never })) as Answer,
  };
}

/** Each way in which an agent comes to an address. */
export const clients = {
  'the client of 2025-11-25': (t: Ending, url: URL) =>
    secondClient(t, new StreamableHTTPClientTransport(url), '2025-11-25'),
  'the client of 2026-07-28': (t: Ending, url: URL) =>
    secondClient(t, new StreamableHTTPClientTransport(url), '2026-07-28'),
  'the client of the first SDK': firstClient,
} as const;

export function directClient(t: Ending, { command, args, env = {} }: StdioCommand): Promise<Asking> {
  const transport = new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: 'ignore' });
  return secondClient(t, transport, '2025-11-25');
}

export function directHttpClient(t: Ending, url: string): Promise<Asking> {
  return secondClient(t, new StreamableHTTPClientTransport(new URL(url)), '2025-11-25');
}

/** Everything that a server has, named as the gateway names it. */
export async function listedBy(server: string, asking: Asking): Promise<readonly Answer[]> {
  const { tools } = await asking.raw('tools/list');
  return (tools as readonly Answer[]).map((tool) => ({ ...tool, name: `${server}__${String(tool['name'])}` }));
}

/** The gateway's reply: the structured content, or in `_meta` if the server promised another kind of that. */
export function envelopeOf(result: Answer): Answer {
  const { structuredContent, _meta: meta } = result as { structuredContent?: Answer; _meta?: Record<string, Answer> };
  return structuredContent ?? meta?.['recourse/reply'] ?? {};
}
