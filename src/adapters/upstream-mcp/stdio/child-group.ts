/**
 * Starts a server as a child process that leads a process group, and ends the whole group. A group that is left when
 * this process exits is killed. Selects the environment variables of the child.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
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

/** Certificates, proxies, languages, places for files: on machines that need them programs fail without. */
const surroundings: ReadonlySet<string> = new Set([
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
    if (value !== undefined && isOfSurroundings(name)) passedOn.push([name, value]);
  // INVARIANT: whatever is the gateway's own, a key for example, is nothing for its tools.
  const harmless = passedOn.filter(([name]) => !name.toUpperCase().startsWith('RECOURSE_'));
  return { ...Object.fromEntries(harmless), ...own };
}

/** Programs read proxies and the settings of npm in small letters, too. */
function isOfSurroundings(name: string): boolean {
  return surroundings.has(name.toUpperCase()) || /^LC_[A-Z]+$/.test(name);
}
