/** A gateway with HTTP tools for the egress suite: names come from a DNS server of the test, and all is on loopback. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { httpTool, type HttpToolDefinition } from '../../../src/index.ts';
import type { WrittenEgress } from '../../../src/core/policy/policy.ts';
import { aPolicy, anAgent } from '../a-policy.ts';
import { startDns, type Zone } from './dns-server.ts';
import { openGateway, type OpenOptions } from '../open-gateway.ts';

export interface Site {
  readonly port: number;
  /** `host path` of each request. */
  readonly heard: readonly string[];
}

/** A server on every address of loopback, so that a connection that should not be made would succeed. */
export async function listenEverywhere(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('"reached"'),
): Promise<Site> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.headers.host} ${request.url}`);
    response.setHeader('content-type', 'application/json');
    answer(request, response);
  });
  server.listen(0);
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, heard };
}

type Extra = Partial<Pick<HttpToolDefinition<string, never, never>, 'redirects' | 'effect' | 'method'>>;

export const reads = (name: string, url: string, more: Extra = {}) =>
  httpTool({ name, description: 'reads', method: 'GET', url, input: { type: 'object' }, ...more } as never);

export interface WorldOptions extends OpenOptions {
  readonly zone?: Zone;
  readonly egress?: Partial<WrittenEgress> | null;
  readonly mode?: 'enforce' | 'audit';
}

/** `egress` null: the agent has no list. Without it: no policy at all. */
export async function openWorld(t: TestContext, tools: readonly unknown[], given: WorldOptions = {}) {
  const { zone = {}, egress, mode = 'enforce', ...options } = given;
  const dns = await startDns(t, zone);
  const written =
    egress === null || egress === undefined
      ? {}
      : { egress: { allow: [], urls: {}, ref: 'recourse.yaml:6', ...egress } };
  const policy = aPolicy([anAgent('local', [['permit', '**']], written)], mode);
  const governed = egress === undefined ? {} : { policy };
  const gateway = await openGateway(t, tools as never, { dns: [dns.address], ...governed, ...options });
  return { gateway, dns };
}
