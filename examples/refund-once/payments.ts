/** A payment service with a bad day: it executes every refund, and then the connection drops before the answer. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function startPayments() {
  const refunds: { order: string; amount: number }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      refunds.push(JSON.parse(body) as { order: string; amount: number });
      response.destroy(); // the money is gone, and so is the answer
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/refunds`,
    refundsOf: (order: string) => refunds.filter((refund) => refund.order === order).length,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
