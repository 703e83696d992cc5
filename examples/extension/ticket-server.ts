/** The ticket system itself: opens one ticket for each key, and loses its first answer. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TicketServer {
  readonly url: string;
  /** Subjects, in order. */
  readonly tickets: readonly string[];
  /** Requests to open one. */
  requests(): number;
  close(): void;
}

export async function startTickets(token: string): Promise<TicketServer> {
  const tickets: string[] = [];
  const byKey = new Map<string, string>();
  let requests = 0;
  const server = createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    request.on('end', () => {
      requests += 1;
      const key = String(request.headers['idempotency-key']);
      const { subject } = JSON.parse(Buffer.concat(pieces).toString()) as { readonly subject: string };
      const number = byKey.get(key) ?? `T${tickets.push(subject)}`;
      byKey.set(key, number);
      // The ticket is open, and nobody hears of it.
      if (requests === 1) return void request.socket.destroy();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: true, ticket: number }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    tickets,
    requests: () => requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
