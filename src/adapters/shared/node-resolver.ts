/**
 * Resolves names of hosts; implements the port `Resolver`. By the system's resolver, as programs do, or by the DNS
 * servers that are given. Never rejects.
 */
import dns from 'node:dns/promises';
import type { Resolved, Resolver } from '../../ports/resolver.ts';

/** Addresses of one name that are looked at; a name with more has none. */
const maxAddresses = 64;
const answerTimeoutMs = 5_000;
const tries = 2;

const ofThisMachine: Resolved = { ok: true, addresses: ['127.0.0.1', '::1'] };
/** By RFC 6761 it never leaves the machine, whatever a DNS server says. */
const isLocalhost = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

/** `servers`: addresses of DNS servers, with a port if wanted; without any, the system is asked. */
export function createResolver(servers: readonly string[] = []): Resolver {
  return servers.length === 0 ? systemResolver : dnsResolver(servers);
}

export const systemResolver: Resolver = {
  resolve: (host) =>
    answerOf(async () => {
      const found = await dns.lookup(host, { all: true });
      return found.map(({ address }) => address);
    }),
};

function dnsResolver(servers: readonly string[]): Resolver {
  const resolver = new dns.Resolver({ timeout: answerTimeoutMs, tries });
  resolver.setServers([...servers]);
  return {
    resolve: async (host) => {
      if (isLocalhost(host)) return ofThisMachine;
      return answerOf(async () => {
        const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
        const found = families.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
        const [first] = families;
        if (found.length === 0 && first.status === 'rejected') throw first.reason;
        return found;
      });
    },
  };
}

async function answerOf(ask: () => Promise<readonly string[]>): Promise<Resolved> {
  try {
    const addresses = [...new Set(await ask())];
    if (addresses.length === 0) return { ok: false, code: 'ENOTFOUND' };
    return addresses.length > maxAddresses ? { ok: false, code: 'E2BIG' } : { ok: true, addresses };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { ok: false, code: typeof code === 'string' ? code : 'EAI_FAIL' };
  }
}
