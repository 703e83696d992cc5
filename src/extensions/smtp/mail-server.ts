/** Reads the address of a mail server, and says how to connect to it. Pure. */
import { BlockList, isIP, isIPv6 } from 'node:net';

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly user: string | null;
  readonly password: string;
  readonly tls: TlsUse;
}

/**
 * `always`: from the first byte. `required`: STARTTLS, or nothing is sent. `offered`: STARTTLS if the server has it.
 * `none`: it is on this machine.
 */
export type TlsUse = 'always' | 'required' | 'offered' | 'none';

/** Null if it is none. */
export function readMailServer(address: string): MailServer | null {
  const url = URL.parse(address);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return null;
  const isSecure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === null || password === null) return null;
  return {
    host,
    port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
    user: user === '' ? null : user,
    password,
    tls: isSecure ? 'always' : tlsFor(host, user !== ''),
  };
}

/** INVARIANT: a password leaves this machine only over TLS. */
function tlsFor(host: string, hasPassword: boolean): TlsUse {
  if (isLoopback(host)) return 'none';
  return hasPassword ? 'required' : 'offered';
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
