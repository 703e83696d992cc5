/**
 * Opens connections that hold to an egress list: resolves the name, checks the list and every address, connects to a
 * checked address, and checks the address of the open socket. Used by undici in place of its own connector, and by the
 * egress proxy.
 */
import { createRequire } from 'node:module';
import net from 'node:net';
import type { buildConnector as buildUndiciConnector } from 'undici';
import { parseAddress } from '../../core/egress/address.ts';
import { type Destination, readHost } from '../../core/egress/destination.ts';
import { type EgressList, permitsAddress, permitsAddresses, permitsName } from '../../core/egress/egress-list.ts';
import { egressSentence } from '../../core/policy/policy-refusal.ts';
import type { Resolver } from '../../ports/resolver.ts';

// The package's entry point replaces the dispatcher behind the global `fetch` of the whole process. The module is
// therefore loaded by itself; the version is pinned.
const load = createRequire(import.meta.url);
const buildConnector = load('undici/lib/core/connect.js') as typeof buildUndiciConnector;

/** The connection would go where the list does not allow. Nothing was sent. */
export class EgressDenied extends Error {
  override name = 'EgressDenied';
  readonly code = 'EGRESS_DENIED';
  readonly host: string;

  constructor(host: string) {
    super(egressSentence(host));
    this.host = host;
  }
}

/** The denial in an error or its causes; null if there is none. */
export function denialIn(error: unknown): EgressDenied | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (at instanceof EgressDenied) return at;
  return null;
}

export interface Guard {
  readonly list: EgressList;
  readonly resolver: Resolver;
  readonly timeoutMs: number;
}

/** Rejects with EgressDenied, or with a fault of the system that has a code and `syscall`. */
export async function connectGuarded(to: Destination, { list, resolver, timeoutMs }: Guard): Promise<net.Socket> {
  const host = readHost(to.host);
  if (host === null || !permitsName(list, { host, port: to.port })) throw new EgressDenied(to.host);
  const stop = timerFor(timeoutMs);
  try {
    const addresses = await Promise.race([addressesOf(host, resolver), stop.late]);
    // INVARIANT: one address that is not allowed refuses the name: the next lookup could give only that one.
    if (!permitsAddresses(list, addresses, to.port)) throw new EgressDenied(host);
    const socket = await openSocket(host, to.port, addresses, stop.late);
    const { remoteAddress = '' } = socket;
    // INVARIANT: whatever the system did between, the open socket leads to an address that was checked.
    if (isAmong(addresses, remoteAddress) && permitsAddress(list, remoteAddress, to.port)) return socket;
    socket.destroy();
    throw new EgressDenied(host);
  } finally {
    stop.clear();
  }
}

const isAmong = (addresses: readonly string[], address: string): boolean => {
  const parsed = parseAddress(address);
  return parsed !== null && addresses.some((each) => parseAddress(each) === parsed);
};

async function addressesOf(host: string, resolver: Resolver): Promise<readonly string[]> {
  if (net.isIP(host) !== 0) return [host];
  const resolved = await resolver.resolve(host);
  if (resolved.ok) return resolved.addresses;
  throw Object.assign(new Error(`the name cannot be resolved: ${resolved.code}`), {
    code: resolved.code,
    syscall: 'getaddrinfo',
  });
}

/** Node tries the addresses in turn, and asks nobody else for them. */
async function openSocket(
  host: string,
  port: number,
  addresses: readonly string[],
  late: Promise<never>,
): Promise<net.Socket> {
  const lookup: net.LookupFunction = (_, options, callback) => {
    const all = addresses.map((address) => ({ address, family: net.isIP(address) }));
    if (options.all === true) callback(null, all);
    else callback(null, all[0]?.address ?? '', all[0]?.family ?? 0);
  };
  const socket = net.connect({ host, port, lookup, autoSelectFamily: true });
  socket.setNoDelay(true).setKeepAlive(true, 60_000);
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.on('error', reject);
  });
  try {
    await Promise.race([opened, late]);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function timerFor(timeoutMs: number) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const fault = { code: 'UND_ERR_CONNECT_TIMEOUT', syscall: 'connect' };
    timer = setTimeout(
      () => reject(Object.assign(new Error(`no connection within ${timeoutMs} ms`), fault)),
      timeoutMs,
    );
  });
  // Ignored: whoever races against it hears it; nobody may be left when it comes.
  late.catch(() => undefined);
  return { late, clear: () => clearTimeout(timer) };
}

/** For undici's Agent. The certificate must be for the host in the address, whatever Host header is configured. */
export function createEgressConnector(guard: Guard): buildUndiciConnector.connector {
  const secure = buildConnector({ allowH2: false, timeout: guard.timeoutMs });
  return ({ servername: _, ...options }, callback) => {
    const { hostname, protocol } = options;
    const port = Number(options.port) || (protocol === 'https:' ? 443 : 80);
    connectGuarded({ host: hostname, port }, guard).then(
      (socket) => {
        // INVARIANT: no byte is sent, not even of TLS, before the socket was checked.
        if (protocol === 'https:') secure({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}
