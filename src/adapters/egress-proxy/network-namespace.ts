/**
 * How a child is started in a network namespace of its own, in which nothing is reachable but the bridge to the egress
 * proxy. Says whether this system permits it, and if not, why and what to do. Linux only.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const extension = path.extname(fileURLToPath(import.meta.url));
const bridge = fileURLToPath(new URL(`./bridge${extension}`, import.meta.url));

/** Nobody else listens in a namespace of its own. */
export const bridgePort = 3_128;

// A user namespace too: its root has no rights outside, so the child cannot go back to the network of the machine.
const unshare = ['unshare', '--user', '--map-root-user', '--net', '--', 'sh', '-c'] as const;
const withLoopback = 'ip link set lo up || exit 126; exec "$@"';

/** What stands before the command of the child. */
export const launcherFor = (socketPath: string): readonly string[] => [
  ...unshare,
  withLoopback,
  'sh',
  process.execPath,
  bridge,
  socketPath,
  String(bridgePort),
];

export type Permission = { readonly ok: true } | { readonly ok: false; readonly problem: string };

const probeTimeoutMs = 10_000;

/** Tries it with a program that does nothing. By exit codes: texts of programs are not read. */
export function permitsNamespaces(): Promise<Permission> {
  if (process.platform !== 'linux') return Promise.resolve(refused('network namespaces exist on Linux only'));
  return new Promise((resolve) => {
    const [command, ...args] = [...unshare, withLoopback, 'sh', 'true'];
    const child = spawn(command, args, { stdio: 'ignore', timeout: probeTimeoutMs });
    child.once('error', () => resolve(refused("the program 'unshare' is missing: install util-linux")));
    child.once('exit', (code) => {
      if (code === 0) resolve({ ok: true });
      else if (code === 126) resolve(refused("loopback cannot be set up: install 'ip' (iproute2)"));
      else resolve(refused('the system does not permit user namespaces: allow them for this user or container'));
    });
  });
}

const refused = (why: string): Permission => ({
  ok: false,
  problem: `egress hold: namespace is not possible here: ${why}, or use hold: proxy`,
});
