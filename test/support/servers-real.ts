/** The official MCP servers: how a configuration starts each of them, and each by itself over HTTP. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { realProgram } from './upstream-mcp.ts';

/** A test, or whatever else ends one day. */
export interface Ending {
  after(end: () => unknown): void;
}

export interface StdioCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Tells its process id where somebody asks for it, and is the server itself otherwise. */
const tellPid = `data:text/javascript,${encodeURIComponent(
  "import { writeFileSync } from 'node:fs'; writeFileSync(process.env.PID_FILE, String(process.pid));",
)}`;

const program = (name: Parameters<typeof realProgram>[0], ...args: readonly string[]) => {
  return { command: process.execPath, args: [realProgram(name), ...args] };
};

export interface Home {
  readonly path: string;
  readonly everything: StdioCommand;
  readonly files: StdioCommand;
  readonly memory: StdioCommand;
  /** What the filesystem server may touch. */
  readonly folder: string;
  /** Makes the folder what it was at first. */
  tidy(): void;
  /** The process that serves the memory now. */
  memoryPid(): number;
}

/** A folder with everything that one set of the servers works on. */
export function createHome(t: Ending): Home {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'recourse-servers-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = path.join(home, 'files');
  mkdirSync(folder);
  const tidy = () => {
    for (const name of readdirSync(folder)) rmSync(path.join(folder, name), { recursive: true });
    writeFileSync(path.join(folder, 'pixel.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
  };
  tidy();
  const pidFile = path.join(home, 'memory.pid');
  const memory = program('memory');
  return {
    path: home,
    folder,
    tidy,
    everything: program('everything'),
    files: program('filesystem', folder),
    memory: {
      ...memory,
      args: ['--import', tellPid, ...memory.args],
      env: { MEMORY_FILE_PATH: path.join(home, 'memory.json'), PID_FILE: pidFile },
    },
    memoryPid: () => Number(existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : 0),
  };
}

/**
 * Tells its parent the port that it got: one that is chosen beforehand may be another's by the time that it listens.
 */
const tellPort = `data:text/javascript,${encodeURIComponent(
  "import { subscribe } from 'node:diagnostics_channel'; " +
    "subscribe('tracing:net.server.listen:asyncEnd', ({ server }) => process.send(server.address().port));",
)}`;

/** The everything server over HTTP, as a process of its own, on a port that is free or on the one that is given. */
export async function everythingOverHttp(
  t: Ending,
  port = 0,
): Promise<{ url: string; port: number; child: ChildProcess }> {
  const { command, args } = program('everything', 'streamableHttp');
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(command, ['--import', tellPort, ...args], { env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  t.after(() => killed(child));
  const told = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [null])]);
  const listening: unknown = told[0];
  assert.ok(typeof listening === 'number', `the everything server cannot listen on port ${port}`);
  child.disconnect();
  return { url: `http://127.0.0.1:${listening}/mcp`, port: listening, child };
}

export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
