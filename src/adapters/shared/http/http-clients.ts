/**
 * One HTTP client for each egress list, so that a connection that one list allowed is never used under another. The
 * number of clients is bounded; of more, the one that was used longest ago is closed when its requests are done.
 */
import type { Destination } from '../../../core/egress/destination.ts';
import { type EgressList, openingFor } from '../../../core/egress/egress-list.ts';
import type { Resolver } from '../../../ports/resolver.ts';
import { createEgressConnector } from '../egress-connector.ts';
import type { ClientLimits } from './client-limits.ts';
import { createHttpClient, type HttpClient } from './send-request.ts';

const maxClients = 32;

export interface HttpClients {
  /** Null: any host with a public address. */
  of(list: EgressList | null): HttpClient;
  close(): Promise<void>;
}

/** `own`: where the upstream is. If that is written as an address, connections may go there. */
export function createClients(limits: ClientLimits, resolver: Resolver, own: Destination): HttpClients {
  const clients = new Map<string, HttpClient>();
  const retired = new Set<Promise<void>>();

  function make(list: EgressList): HttpClient {
    return createHttpClient(limits, createEgressConnector({ list, resolver, timeoutMs: limits.connectTimeoutMs }));
  }

  function retireOldest(): void {
    const [oldest] = clients;
    if (oldest === undefined || clients.size < maxClients) return;
    clients.delete(oldest[0]);
    const done = oldest[1].retire().finally(() => retired.delete(done));
    retired.add(done);
  }

  return {
    of(given) {
      const list = openingFor(given, own);
      const known = clients.get(list.text);
      if (known === undefined) retireOldest();
      const client = known ?? make(list);
      // Again at the end: the first is the one that was used longest ago.
      clients.delete(list.text);
      clients.set(list.text, client);
      return client;
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
      await Promise.all(retired);
    },
  };
}
