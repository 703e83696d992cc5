/** `recourse up` as a user starts it: a configuration in a folder, one process, an address. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from './eventually.ts';
import { bin, storeIn } from './recourse-process.ts';
import { type Ending, killed, type StdioCommand } from './servers-real.ts';

export interface WrittenServer {
  readonly mcp: StdioCommand | { readonly url: string };
  readonly tools?: Readonly<Record<string, { readonly effect: string }>>;
  readonly annotations?: 'trust';
}

export interface WrittenConfig {
  readonly tools: Readonly<Record<string, WrittenServer>>;
  readonly workflows?: Readonly<Record<string, unknown>>;
}

export interface Upstream {
  readonly name: string;
  readonly state: string;
  readonly tools: number;
  readonly problem: string | null;
}

export interface Up {
  /** Where every tool is. */
  readonly url: URL;
  urlOf(workflow: string): URL;
  upstream(name: string): Promise<Upstream>;
  /** Standard output and standard error. */
  said(): string;
}

const startsWithinMs = 60_000;

/** Every JSON text is a YAML text, too. */
export function writeConfig(home: string, config: WrittenConfig): string {
  const file = path.join(home, 'recourse.yaml');
  writeFileSync(file, JSON.stringify(config, null, 2));
  return file;
}

export async function startUp(t: Ending, home: string, config: WrittenConfig): Promise<Up> {
  writeConfig(home, config);
  const words = ['up', '--config', 'recourse.yaml', '--listen', '127.0.0.1:0', '--agent', 'local'];
  const env = { ...process.env };
  delete env['RECOURSE_FILE'];
  const child = spawn(process.execPath, [bin, ...words], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  t.after(() => killed(child));
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const base = await eventually('the address of the gateway', async () => {
    if (isOver()) throw new Error(`recourse up has ended: ${said}`);
    return /recourse is starting at (http:\S+)/.exec(said)?.[1];
  });
  const health = async () => {
    if (!(await fetch(`${base}/readyz`)).ok) return { ready: false, upstreams: [] };
    const key = readFileSync(`${storeIn(home)}.token`, 'utf8').trim();
    const response = await fetch(`${base}/v1/status`, { headers: { authorization: `Bearer ${key}` } });
    return (await response.json()) as { ready: boolean; upstreams: readonly Upstream[] };
  };
  const names = Object.keys(config.tools);
  await eventually(
    `every server of ${names.join(', ')}`,
    async () => {
      if (isOver()) throw new Error(`recourse up has ended: ${said}`);
      const { ready, upstreams } = await health();
      return ready && upstreams.every(({ state }) => state === 'connected');
    },
    startsWithinMs,
  );
  return {
    url: new URL(`${base}/mcp`),
    urlOf: (workflow) => new URL(`${base}/mcp/${workflow}`),
    async upstream(name) {
      const found = (await health()).upstreams.find((each) => each.name === name);
      assert.ok(found !== undefined, `no server ${name}`);
      return found;
    },
    said: () => said,
  };
}
