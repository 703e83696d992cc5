/** A payment service for the tests of the console. It counts what it did, and answers as it is told. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** `lost`: done, and then the connection is cut. */
export type Manner = 'done' | 'lost' | 'forbidden' | 'hold';

export interface RefundService {
  readonly url: string;
  /** Bodies of what was done, in order. */
  readonly done: readonly Readonly<Record<string, unknown>>[];
  /** How the next requests are answered. */
  answer(manner: Manner): void;
  /** What a read of an order gives. */
  order: unknown;
  /** Answers everything that is held. */
  release(): void;
}

export async function openRefundService(t: TestContext): Promise<RefundService> {
  const done: Record<string, unknown>[] = [];
  let manner: Manner = 'done';
  let held = Promise.withResolvers<void>();
  const service: { order: unknown } = { order: { order: 'ord_1', total: 90 } };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.method === 'GET') return json(200, service.order);
    const sent = (await bodyOf(request)) as Record<string, unknown>;
    if (manner === 'forbidden') return json(403, { detail: 'the account is closed' });
    if (manner === 'hold') await held.promise;
    done.push(sent);
    if (manner === 'lost') return void request.socket.destroy();
    return json(200, { refund: `re_${done.length}`, ...sent });
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    held.resolve();
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(service, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    done,
    answer: (next: Manner) => void (manner = next),
    release() {
      held.resolve();
      held = Promise.withResolvers();
    },
  });
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}');
}
