/**
 * A streamed chat completion through the gateway, straight to its provider, and through a bare relay. Reports the median
 * time to the first token, and the CPU time that the process between spends on a kilobyte of the stream. Sets no bar.
 */
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { startChild } from '../child.ts';
import { cpuTimeMs, drive, median, type Row } from '../measure.ts';
import { startGateway } from './start-gateway.ts';

const rounds = 5;
/** Streams of one round, by how many run at once. */
const runsOf: Readonly<Record<number, number>> = { 1: 60, 16: 240 };
const counts = Object.keys(runsOf).map(Number);
const warmRuns = 300;

interface Side {
  readonly name: 'direct' | 'ours' | 'bare';
  readonly origin: string;
  readonly pid: number;
  readonly key: string;
}

interface Figures {
  readonly firstMs: number;
  /** Of the process for a kilobyte; NaN where the system does not tell. */
  readonly cpuMs: number;
}

const body = JSON.stringify({
  model: 'gpt-5',
  stream: true,
  stream_options: { include_usage: true },
  messages: [{ role: 'user', content: 'Count to a hundred.' }],
});

export async function benchModels(folder: string): Promise<readonly Row[]> {
  const provider = await startChild('./models/provider-child.ts');
  const at = new URL(provider.url).origin;
  const gateway = await startGateway(folder, at);
  const relay = await startChild('./models/relay-child.ts', at);
  const sides: readonly Side[] = [
    { name: 'direct', origin: at, pid: provider.pid, key: '' },
    { name: 'ours', origin: gateway.url, pid: gateway.pid, key: gateway.key },
    { name: 'bare', origin: new URL(relay.url).origin, pid: relay.pid, key: '' },
  ];
  for (const side of sides) await measure(side, 16, warmRuns);
  const figures = await measureAll(sides);
  for (const child of [gateway, relay, provider]) await child.stop();
  return [...counts.map((count) => firstToken(count, figures)), ...counts.map((count) => cpu(count, figures))];
}

type FiguresOf = (name: Side['name'], count: number) => Figures;

/** Medians over the rounds, of each side at each number of streams. */
async function measureAll(sides: readonly Side[]): Promise<FiguresOf> {
  const seen = new Map<string, Figures[]>();
  for (let round = 0; round < rounds; round++)
    for (const count of counts)
      for (const side of sides) {
        const name = `${side.name} ${count}`;
        seen.set(name, [...(seen.get(name) ?? []), await measure(side, count, runsOf[count] ?? 100)]);
      }
  return (name, count) => {
    const all = seen.get(`${name} ${count}`) ?? [];
    return { firstMs: median(all.map(({ firstMs }) => firstMs)), cpuMs: median(all.map(({ cpuMs }) => cpuMs)) };
  };
}

async function measure(side: Side, count: number, runs: number): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const firsts: number[] = [];
  let bytes = 0;
  const before = cpuTimeMs(side.pid);
  await drive(count, runs, async () => {
    const streamed = await readStream(side, agent);
    firsts.push(streamed.firstMs);
    bytes += streamed.bytes;
  });
  const cpuMs = (cpuTimeMs(side.pid) - before) / (bytes / 1_024);
  agent.destroy();
  return { firstMs: median(firsts), cpuMs };
}

/** The time until a piece of text has come, and the bytes of the whole stream. */
function readStream(
  { origin, key }: Side,
  agent: Agent,
): Promise<{ readonly firstMs: number; readonly bytes: number }> {
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
  };
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const read = (response: IncomingMessage) => {
      let [firstMs, bytes, text] = [Number.NaN, 0, ''];
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        text = (text + chunk.toString('latin1')).slice(-4_096);
        if (Number.isNaN(firstMs) && text.includes('"content":" word')) firstMs = performance.now() - began;
      });
      response.on('end', () => {
        if (response.statusCode === 200 && text.endsWith('[DONE]\n\n')) resolve({ firstMs, bytes });
        else reject(new Error(`the bench met ${response.statusCode} ${text}`));
      });
    };
    const request: ClientRequest = httpRequest(
      new URL('/v1/chat/completions', origin),
      { method: 'POST', headers, agent },
      read,
    );
    request.on('error', reject);
    request.end(body);
  });
}

const streams = (count: number): string => `${count} stream${count === 1 ? '' : 's'}`;
const ms = (value: number): string => `${value.toFixed(2)} ms`;
const micros = (value: number): string => (Number.isNaN(value) ? 'not known' : `${(value * 1_000).toFixed(0)} µs`);

function firstToken(count: number, figures: FiguresOf): Row {
  const [ours, direct, bare] = [figures('ours', count), figures('direct', count), figures('bare', count)];
  return {
    what: `first token at ${streams(count)}, p50 of the direct stream`,
    ratio: ours.firstMs / direct.firstMs,
    bar: null,
    detail: `${ms(ours.firstMs)} of ${ms(direct.firstMs)}; a bare relay ${ms(bare.firstMs)}`,
  };
}

function cpu(count: number, figures: FiguresOf): Row {
  const [ours, bare] = [figures('ours', count), figures('bare', count)];
  return {
    what: `CPU for a streamed kilobyte at ${streams(count)}, of a bare relay (node:http, undici)`,
    ratio: ours.cpuMs / bare.cpuMs,
    bar: null,
    detail: `${micros(ours.cpuMs)} of ${micros(bare.cpuMs)}`,
  };
}
