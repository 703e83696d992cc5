/** The command `recourse` as a process of its own, and gateways in other processes for it to look at. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';

import { defaultStore } from '../../src/compose/state/state-folder.ts';

export const root = join(import.meta.dirname, '../..');

/** INVARIANT: no test leaves anything in the state folder of the person who runs it; processes inherit this one. */
if (process.env['RECOURSE_STATE_DIR'] === undefined) {
  const stateDir = mkdtempSync(join(tmpdir(), 'recourse-state-'));
  process.env['RECOURSE_STATE_DIR'] = stateDir;
  process.on('exit', () => rmSync(stateDir, { recursive: true, force: true }));
}
export const stateDir = process.env['RECOURSE_STATE_DIR'];

/**
 * The store of the project in this folder, where the commands find it by themselves. Its folder is there, whether or
 * not a command was run.
 */
export function storeIn(home: string): string {
  const file = defaultStore(home, process.env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return file;
}
export const bin = join(root, 'bin/recourse.js');

/** What a person's own settings must not change. */
const ours = ['RECOURSE_FILE', 'RECOURSE_DEBUG', 'FORCE_COLOR', 'NO_COLOR'];
const plainEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.includes(name)));

export function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'recourse-cli-'));
  t.after(() => removeFolder(made));
  return made;
}

/**
 * A process that is killed only after this may still write into it: then it goes with the tests. A hook that throws
 * would keep the others from running.
 */
function removeFolder(made: string): void {
  const remove = () => rmSync(made, { recursive: true, force: true, maxRetries: 3 });
  try {
    remove();
  } catch {
    process.on('exit', remove);
  }
}

export interface Setting {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node itself. */
  readonly node?: readonly string[];
  /** Another copy of the command. */
  readonly command?: string;
}

export function recourse(words: readonly string[], { cwd = root, env = {}, node = [], command = bin }: Setting = {}) {
  const options = { encoding: 'utf8', cwd, env: { ...plainEnv, ...env } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...node, command, ...words], options);
  return { status, stdout, stderr };
}

/** The same without waiting for its end. */
export function startRecourse(t: TestContext, words: readonly string[]) {
  const child = spawn(process.execPath, [bin, ...words], { stdio: ['ignore', 'pipe', 'pipe'], env: plainEnv });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

export const objectsIn = (lines: string) =>
  lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const gatewayScript = `
  import { createInterface } from 'node:readline';
  import { createGateway, tool } from ${JSON.stringify(pathToFileURL(join(root, 'src/index.ts')).href)};
  const plain = (name, run) => tool({ name, description: name, input: {}, run });
  const gateway = await createGateway({
    file: process.argv[2],
    agent: 'waiter',
    tools: [plain('pay', async (args) => args), plain('hang', async () => new Promise(() => {}))],
  });
  process.stdout.write('{"open":true}\\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const { close, ...request } = JSON.parse(line);
    const reply = close ? await gateway.close({ drain_seconds: 0 }) : await gateway.handle(request);
    process.stdout.write(JSON.stringify(reply ?? { closed: true }) + '\\n');
    if (close) process.exit(0);
  }
`;

/** A gateway in a process of its own. It asks what it is told, and gives the replies. */
export async function startGateway(t: TestContext, file: string) {
  const script = join(folder(t), 'gateway.mjs');
  writeFileSync(script, gatewayScript);
  const child = spawn(process.execPath, [script, file], { stdio: ['pipe', 'pipe', 'inherit'], env: plainEnv });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
  assert.deepEqual(await answer(), { open: true });
  return {
    child,
    ask(request: object) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      return answer();
    },
  };
}

/** A store with some calls, made and closed by another process. */
export async function aClosedStore(t: TestContext, calls = 2) {
  const home = folder(t);
  const file = join(home, 'recourse.db');
  const gateway = await startGateway(t, file);
  const ids: string[] = [];
  for (let cents = 1; cents <= calls; cents++)
    ids.push(String((await gateway.ask({ tool: 'pay', args: { cents } }))['call_id']));
  await gateway.ask({ close: true });
  await exitOf(gateway.child);
  return { home, file, ids };
}
