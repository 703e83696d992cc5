/** `recourse up` with a policy, as a user runs it: a real process, real keys, a real server behind it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from './eventually.ts';
import { bin, folder, recourse, storeIn } from './recourse-process.ts';
import { realProgram } from './upstream-mcp.ts';

export const everything = `tools:
  everything:
    mcp: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(realProgram('everything'))}, stdio] }
`;

/** Never answers, so that the gateway goes on starting. */
export const hanging = `tools:
  hanging:
    mcp: { command: ${JSON.stringify(process.execPath)}, args: ["-e", "setInterval(() => 0, 1000)"] }
`;

export interface GovernedUp {
  readonly url: string;
  readonly home: string;
  readonly file: string;
  said(): string;
  ready(): Promise<void>;
  /** A new key of this agent. */
  keyOf(agent: string, words?: readonly string[]): string;
  operatorKey(): string;
  write(yaml: string): void;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
  ask(pathname: string, options?: Asked): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
}

export interface Asked {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** In a folder of its own, or in the one of another that has ended. */
export async function startGoverned(
  t: TestContext,
  yaml: string,
  words: readonly string[] = [],
  home: string = folder(t),
): Promise<GovernedUp> {
  const file = path.join(home, 'recourse.yaml');
  writeFileSync(file, yaml);
  const env = { ...process.env };
  delete env['RECOURSE_FILE'];
  const child = spawn(process.execPath, [bin, 'up', '--listen', '127.0.0.1:0', ...words], {
    cwd: home,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const over = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const alive = () => {
    if (child.exitCode !== null) throw new Error(`recourse up has ended: ${said}`);
  };
  const [, url = ''] = await eventually('its address', async () => {
    alive();
    return /recourse is starting at (http:\S+)/.exec(said);
  });
  return {
    url,
    home,
    file,
    said: () => said,
    async ready() {
      await eventually(
        'it is ready',
        async () => {
          alive();
          return (await fetch(`${url}/readyz`, { headers: { connection: 'close' } })).ok;
        },
        60_000,
      );
    },
    keyOf(agent, more = []) {
      const { status, stdout, stderr } = recourse(['agents', 'add', agent, ...more], { cwd: home });
      assert.equal(status, 0, stderr);
      return stdout.trim();
    },
    operatorKey: () => readFileSync(`${storeIn(home)}.token`, 'utf8').trim(),
    write: (next) => writeFileSync(file, next),
    signal: (signal) => void child.kill(signal),
    stop(signal = 'SIGINT') {
      child.kill(signal);
      return over;
    },
    async ask(pathname, { key, body, headers = {} } = {}) {
      const response = await fetch(`${url}${pathname}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          // Between two questions a test may wait for a command, and cannot see that its connection was closed
          // meanwhile.
          connection: 'close',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
  };
}
