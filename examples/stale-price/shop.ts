/** The shop: a price that can change, and a ledger of every purchase that was really made. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Purchase {
  readonly sku: string;
  readonly cents: number;
}

export async function openShop() {
  const prices = new Map([['kettle', 100]]);
  const ledger: Purchase[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') {
        const sku = (request.url ?? '').split('/').at(-1) ?? '';
        response.end(JSON.stringify({ sku, cents: prices.get(sku) ?? null }));
        return;
      }
      const { sku } = JSON.parse(body) as { sku: string };
      const purchase = { sku, cents: prices.get(sku) ?? 0 };
      ledger.push(purchase);
      response.writeHead(201).end(JSON.stringify({ bought: purchase }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    prices,
    ledger: ledger as readonly Purchase[],
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
