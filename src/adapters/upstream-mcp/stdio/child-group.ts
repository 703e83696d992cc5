/**
 * Starts a child as the leader of a process group and ends all of it, whatever the child has started itself.
 * Whoever is left when this process exits is killed on the way out. Must not know what the child is for.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { childEnvironment } from './child-environment.ts';
import type { StdioConnection } from '../mcp-config.ts';

export interface ChildGroup {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
}

const hasGroups = process.platform !== 'win32';
const leaders = new Set<number>();
let guards = false;

/** Throws, or the child emits `error`, if it cannot be started. */
export function startGroup(server: StdioConnection): ChildGroup {
  const child = spawn(server.command, server.args, {
    env: childEnvironment(server.env),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: hasGroups,
    windowsHide: true,
    ...(server.cwd === null ? {} : { cwd: server.cwd }),
  });
  const { pid } = child;
  if (pid !== undefined) guard(pid);
  const signal = (name: 'SIGTERM' | 'SIGKILL') => {
    if (pid === undefined) return;
    if (hasGroups) signalGroup(pid, name);
    else child.kill(name);
  };
  child.once('exit', () => {
    // What the leader started does not outlive it; nobody else would end it.
    signal('SIGKILL');
    if (pid !== undefined) leaders.delete(pid);
  });
  return { child, signal };
}

function guard(pid: number): void {
  leaders.add(pid);
  if (guards) return;
  guards = true;
  process.on('exit', () => {
    for (const leader of leaders) signalGroup(leader, 'SIGKILL');
  });
}

function signalGroup(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(hasGroups ? -pid : pid, name);
  } catch {
    // Nobody is left in it.
  }
}
