/**
 * Reads listen addresses, opens the HTTP server, and lists the allowed host names. Loopback unless configured
 * otherwise.
 */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, BlockList, isIP, isIPv6 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { configName } from '../../config/config.ts';
import { readRuntime } from '../project/read-runtime.ts';

export interface Address {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
}

export interface Listening {
  readonly server: Server;
  readonly url: string;
  /** Only this machine can reach it. */
  readonly isLocal: boolean;
}

const maxPort = 65_535;
const maxHeaderBytes = 16 << 10;
const headersWithinMs = 10_000;
/** For the whole request. The doors limit pauses within a body. */
const requestWithinMs = 120_000;
const lookEveryMs = 1_000;

/** Null if it cannot be understood. */
export function readAddress(text: string): Address | null {
  const read = /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<name>[A-Za-z0-9.-]+)):(?<port>\d{1,5})$/.exec(text)?.groups;
  const port = Number(read?.['port']);
  const host = read?.['six'] ?? read?.['name'];
  return host === undefined || port > maxPort || (read?.['six'] !== undefined && !isIPv6(host)) ? null : { host, port };
}

export async function configuredAddress(config = configName): Promise<Address | null> {
  return (await readRuntime(config)).listen;
}

export async function listenAt(
  address: Address,
  listener: RequestListener,
): Promise<Listening | { readonly problem: string }> {
  const server = createServer(
    // The doors answer requests without a Host header themselves.
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersWithinMs,
      requestTimeout: requestWithinMs,
      connectionsCheckingInterval: lookEveryMs,
      requireHostHeader: false,
    },
    listener,
  );
  try {
    server.listen({ host: address.host, port: address.port });
    await once(server, 'listening');
  } catch (error) {
    return { problem: whyNot(address, (error as NodeJS.ErrnoException).code ?? String(error)) };
  }
  // A client that disconnects is not an error of the server.
  server.on('error', () => undefined);
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://${inUrl(address.host)}:${port}`, isLocal: isLoopback(address.host) };
}

function whyNot({ host, port }: Address, code: string): string {
  const where = `${inUrl(host)}:${port}`;
  if (code === 'EADDRINUSE')
    return `${where} is taken by another program: end that one, or choose another with --listen`;
  if (code === 'EACCES') return `${where} may not be used by this user: choose a port above 1023 with --listen`;
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL' || code === 'EAI_AGAIN')
    return `this machine has no address '${host}': correct --listen`;
  return `${where} cannot be listened at (${code}): choose another with --listen`;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}

/**
 * INVARIANT: a page of another site that had its name point at us is refused, because it calls us by that name. Beyond
 * this machine the names are those of the machine itself.
 */
export function allowedHosts(host: string): readonly string[] {
  const local = ['localhost', '127.0.0.1', '[::1]'];
  if (isLoopback(host)) return [...new Set([...local, inUrl(host)])];
  const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => inUrl(address)));
  return [...new Set([...local, inUrl(host), hostname(), ...own])];
}

const inUrl = (host: string): string => (isIPv6(host) ? `[${host}]` : host);
