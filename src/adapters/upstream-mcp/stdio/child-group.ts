/**
 * Starts a server as a child process that leads a process group, and ends the whole group. A group that is left when
 * this process exits is killed. Selects the environment variables of the child.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { NotSent } from '../transport-faults.ts';
import type { Confinement, StdioConnection } from '../mcp-config.ts';

export interface ChildGroup {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
}

const hasGroups = process.platform !== 'win32';
const leaders = new Set<number>();
let guards = false;

/** Throws, or the child emits `error`, if it cannot be started. */
export function startGroup(server: StdioConnection): ChildGroup {
  const { confinement } = server;
  const problem = confinement?.problem ?? null;
  // INVARIANT: a child that cannot be held as it is written is not started at all.
  if (problem !== null) throw new NotSent(problem);
  const [command = '', ...args] = [...(confinement?.launcher ?? []), server.command, ...server.args];
  const child = spawn(command, args, {
    env: confinedEnvironment(childEnvironment(server.env), confinement),
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
    // Processes that the leader started would otherwise run on.
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
    // Ignored: the group is empty.
  }
}

/** Certificates, proxies, languages, folders: without them programs fail on machines that need them. */
const passedVariables: ReadonlySet<string> = new Set([
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_ENV_PROXY',
  'NODE_USE_SYSTEM_CA',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'PIP_CERT',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'NPM_CONFIG_REGISTRY',
  'NPM_CONFIG_CAFILE',
  'NPM_CONFIG_PROXY',
  'NPM_CONFIG_HTTPS_PROXY',
  'NPM_CONFIG_NOPROXY',
  'NPM_CONFIG_CACHE',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'XDG_CACHE_HOME',
]);

export function childEnvironment(
  own: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const passedOn: [string, string][] = Object.entries(getDefaultEnvironment()).filter(([name]) => name !== 'TERM');
  for (const [name, value] of Object.entries(ours))
    if (value !== undefined && isPassed(name)) passedOn.push([name, value]);
  // INVARIANT: no variable of the gateway itself, a key for example, reaches a tool.
  const harmless = passedOn.filter(([name]) => !name.toUpperCase().startsWith('RECOURSE_'));
  return { ...Object.fromEntries(harmless), ...own };
}

/** INVARIANT: no proxy of ours or of the configuration is left beside the one that holds the child to its list. */
function confinedEnvironment(env: Record<string, string>, confinement: Confinement | undefined) {
  if (confinement === undefined) return env;
  const others = Object.entries(env).filter(([name]) => !/proxy$/i.test(name));
  return { ...Object.fromEntries(others), ...confinement.env };
}

/** Proxies and settings of npm are also read in lower case. */
function isPassed(name: string): boolean {
  return passedVariables.has(name.toUpperCase()) || /^LC_[A-Z]+$/.test(name);
}
