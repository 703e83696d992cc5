/**
 * A real HTTP server that answers as a test tells it to, and keeps what it was asked. For what a daemon would never do.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { httpStatusOf, isPending, isSuccess, type Reply } from '../../../src/index.ts';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answering = (response: ServerResponse, seen: Seen) => void;

/** One answer for each request, the last one for all that follow. */
export async function startServer(t: TestContext, answers: readonly Answering[]) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const each = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      seen.push(each);
      answers[Math.min(seen.length, answers.length) - 1]?.(response, each);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** As the daemon writes it: a problem document with the members of the reply, unless it is good news or has to wait. */
export const replying =
  (reply: Reply, status = httpStatusOf(reply)): Answering =>
  (response) => {
    const isPlain = isSuccess(reply) || isPending(reply) || status < 300;
    const beside = isPlain ? {} : { type: `urn:recourse:code:${reply.code}`, title: reply.code, status };
    const type = isPlain ? 'application/json' : 'application/problem+json';
    response.writeHead(status, { 'content-type': type }).end(JSON.stringify({ ...beside, ...reply }));
  };

/** The answer never comes: the line is cut when the request is there. */
export const cutting: Answering = (response) => void response.destroy();

export const saying =
  (status: number, type: string, text: string): Answering =>
  (response) =>
    void response.writeHead(status, { 'content-type': type }).end(text);
