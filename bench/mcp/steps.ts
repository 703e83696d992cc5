/**
 * Measures durable steps over MCP HTTP beside a bare tool of the SDK with the same commits, and the size of a reply.
 */
import path from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startChild } from '../child.ts';
import { drive, median, type Row, type Throughput } from '../measure.ts';
import { inputs } from './ring.ts';

const rounds = 5;
const runsOf: Readonly<Record<number, number>> = { 1: 200, 16: 800 };

interface StepResult {
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
}

export async function benchMcpSteps(folder: string): Promise<readonly Row[]> {
  const file = path.join(folder, 'steps.db');
  const ours = await startChild('./mcp/gateway-child.ts', 'steps', file);
  const clients = await connectClients(ours.url, 16);
  const sessions = await Promise.all(clients.map(async (client) => sessionOf(await step(client, {}))));
  const [reply] = await Promise.all(clients.map((client, n) => step(client, { session: sessions[n] })));
  const bare = await startChild('./mcp/bare-child.ts', 'commits', path.join(folder, 'bare.db'), file);
  const bareClients = await connectClients(bare.url, 16);

  const seen: Record<string, Throughput[]> = {};
  const measure = async (callers: number) => {
    const runs = runsOf[callers] ?? 100;
    // Each caller has a client and a session of its own.
    const ourStep = async (_: number, n: number) => void ok(await step(clients[n] as Client, { session: sessions[n] }));
    const bareStep = async (_: number, n: number) =>
      void ok((await bareClients[n]?.callTool({ name: 'step', arguments: inputs })) as StepResult);
    (seen[`ours ${callers}`] ??= []).push(await drive(callers, runs, ourStep));
    (seen[`bare ${callers}`] ??= []).push(await drive(callers, runs, bareStep));
  };
  await measure(16); // warm both up, and forget it
  for (const name of Object.keys(seen)) delete seen[name];
  for (let round = 0; round < rounds; round++) for (const callers of [1, 16]) await measure(callers);
  await Promise.all([...clients, ...bareClients].map((client) => client.close()));
  await ours.stop();
  await bare.stop();

  const of = (side: string, callers: number) =>
    median((seen[`${side} ${callers}`] ?? []).map(({ perSecond }) => perSecond));
  const rows = [1, 16].map((callers): Row => ({
    what: `durable steps a second over MCP HTTP at ${callers} client${callers === 1 ? '' : 's'}, of a bare SDK tool with the same commits`,
    ratio: of('ours', callers) / of('bare', callers),
    bar: { atLeast: 0.5 },
    detail: `${of('ours', callers).toFixed(0)}/s of ${of('bare', callers).toFixed(0)}/s`,
  }));
  const bytes = Buffer.byteLength(JSON.stringify(reply));
  return [
    ...rows,
    {
      what: 'a typical reply to a step, of 1.5 KB',
      ratio: bytes / 1_536,
      bar: { atMost: 1 },
      detail: `${bytes} bytes`,
    },
  ];
}

const step = async (client: Client, more: object): Promise<StepResult> =>
  (await client.callTool({ name: 'step', arguments: { action: 'advance', inputs, ...more } })) as StepResult;

function ok(result: StepResult): StepResult {
  if (result.isError === true) throw new Error(`the bench met ${JSON.stringify(result)}`);
  return result;
}

function sessionOf(result: StepResult): string {
  const session = ok(result).structuredContent?.['session'];
  if (typeof session !== 'string') throw new Error(`the bench met ${JSON.stringify(result)}`);
  return session;
}

const connectClients = (url: string, count: number): Promise<Client[]> =>
  Promise.all(Array.from({ length: count }, () => connectClient(url)));

/** A client of the official SDK, as an agent would have it. */
async function connectClient(url: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}
