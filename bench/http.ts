/** Calls over the HTTP door beside a bare handler of the same HTTP library that makes the same two commits. */
import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import path from 'node:path';
import { startChild } from './child.ts';
import { drive, median, type Row } from './measure.ts';
import { args } from './noop-gateway.ts';

const connections = 16;
const rounds = 7;
const runs = 1_500;

export async function benchHttp(folder: string): Promise<readonly Row[]> {
  const file = path.join(folder, 'http.db');
  const keyFile = path.join(folder, 'key');
  const ours = await startChild('./http-gateway-child.ts', file, keyFile);
  const call = caller(ours.url, readFileSync(keyFile, 'utf8'));
  await call();
  const bare = await startChild('./http-bare-child.ts', path.join(folder, 'bare.db'), file);
  const bareCall = caller(bare.url, '');

  const seen = { ours: [] as number[], bare: [] as number[] };
  const measure = async () => {
    seen.ours.push((await drive(connections, runs, call)).perSecond);
    seen.bare.push((await drive(connections, runs, bareCall)).perSecond);
  };
  await measure(); // warm both up, and forget it
  seen.ours.length = 0;
  seen.bare.length = 0;
  for (let round = 0; round < rounds; round++) await measure();
  await ours.stop();
  await bare.stop();

  const [calls, ceiling] = [median(seen.ours), median(seen.bare)];
  return [
    {
      what: `POST /v1/calls a second at ${connections} connections, of a bare node:http handler with the same commits`,
      ratio: calls / ceiling,
      bar: { atLeast: 0.5 },
      detail: `${calls.toFixed(0)}/s of ${ceiling.toFixed(0)}/s`,
    },
  ];
}

/** One request on whichever connection is free. */
function caller(from: string, key: string): () => Promise<void> {
  const url = new URL('/v1/calls', from);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const body = JSON.stringify({ tool: 'noop', args });
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
  };
  return () =>
    new Promise((resolve, reject) => {
      const request = httpRequest(url, { method: 'POST', headers, agent }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`the bench met ${text}`));
        });
      });
      request.on('error', reject);
      request.end(body);
    });
}
