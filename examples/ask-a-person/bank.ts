/** A bank that forbids payouts to strangers until somebody there grants them, and a ledger of every payout made. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function openBank() {
  const granted = new Set<string>();
  const ledger: { readonly to: string; readonly cents: number }[] = [];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const payout = JSON.parse(body) as { to: string; cents: number };
      asked.push(payout.to);
      response.setHeader('content-type', 'application/json');
      if (!granted.has(payout.to)) {
        response.writeHead(403).end(JSON.stringify({ problem: 'the receiver is not known' }));
        return;
      }
      ledger.push(payout);
      response.writeHead(201).end(JSON.stringify({ paid: payout }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    granted,
    ledger: ledger as readonly { readonly to: string; readonly cents: number }[],
    asked: asked as readonly string[],
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
