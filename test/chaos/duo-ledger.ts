/**
 * The upstream of two gateways: an MCP server in the process of the test, which no kill reaches. It books a payment the
 * moment it arrives.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

export interface Hold {
  /** The payment is booked, and its answer waits. */
  readonly arrived: Promise<void>;
  /** Resolves when the answer has been handed to the operating system. */
  release(): Promise<void>;
}

export interface Ledger {
  readonly url: string;
  /** How often each payment was booked. */
  readonly booked: ReadonlyMap<string, number>;
  /** The answer to the next payment of this mark waits until it is released. */
  hold(mark: string): Hold;
}

interface Held {
  arrive(): void;
  readonly released: Promise<void>;
  answered(): void;
}

const tools = [{ name: 'pay', description: 'Pays once more.', inputSchema: { type: 'object' as const } }];

export async function openLedger(t: TestContext): Promise<Ledger> {
  const booked = new Map<string, number>();
  const holds = new Map<string, Held>();

  async function pay(mark: string, held: Held | undefined): Promise<void> {
    booked.set(mark, (booked.get(mark) ?? 0) + 1);
    held?.arrive();
    await held?.released;
  }

  const makeServer = () => {
    const server = new Server({ name: 'ledger', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const mark = String((params.arguments as { mark?: unknown } | undefined)?.mark);
      const held = holds.get(mark);
      holds.delete(mark);
      await pay(mark, held);
      // The answer is written after this; whoever released it wants to know when the network has it.
      if (held !== undefined) setTimeout(() => held.answered(), 5);
      return { content: [{ type: 'text' as const, text: `paid ${mark}` }] };
    });
    return server;
  };
  const handler = createMcpHandler(makeServer, { legacy: 'reject' });
  const serve = toNodeHandler(handler) as (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  const http = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.after(async () => {
    await handler.close();
    http.close();
    http.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    booked,
    hold(mark) {
      const arrived = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<void>();
      holds.set(mark, { arrive: arrived.resolve, released: released.promise, answered: answered.resolve });
      return {
        arrived: arrived.promise,
        release() {
          released.resolve();
          // Never arrived, or its gateway is dead: then there is nothing to wait for.
          if (holds.delete(mark)) answered.resolve();
          return answered.promise;
        },
      };
    },
  };
}
