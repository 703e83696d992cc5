/** Three services on ports of their own: each books and cancels, and writes down what it really did. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface Service {
  readonly url: string;
  /** What it did, in order. */
  readonly ledger: string[];
  close(): Promise<void>;
}

/** `sells`: whether it has something left; `cancels`: whether it takes bookings back. */
export async function startService(
  name: string,
  { sells = true, cancels = true }: { readonly sells?: boolean; readonly cancels?: boolean } = {},
): Promise<Service> {
  const ledger: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = JSON.parse(text || '{}') as { guest?: string; id?: string };
    const answer = (status: number, value: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.url === '/book') {
      if (!sells) return answer(422, { error: 'nothing is left' });
      ledger.push(`book ${String(body.guest)}`);
      return answer(200, { id: `${name}-${String(body.guest)}` });
    }
    if (!cancels) return answer(422, { error: 'this fare cannot be cancelled' });
    ledger.push(`cancel ${String(body.id)}`);
    return answer(200, { cancelled: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ledger,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
