/** A carrier that books parcels and prints labels, and counts both. It does not know the address `nowhere`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Answer {
  readonly problem: string;
  readonly parcel: string;
  readonly label: string;
}

export async function startCarrier() {
  const parcels: string[] = [];
  const labels: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const body = JSON.parse(text) as { address?: string; parcel?: string };
      const answer = (status: number, said: Partial<Answer>) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
      };
      if (request.url === '/labels') return answer(200, { label: `label ${labels.push(String(body.parcel))}` });
      if (body.address === 'nowhere') return answer(422, { problem: 'there is no such address' });
      return answer(200, { parcel: `parcel ${parcels.push(String(body.address))}` });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    async post(at: string, body: object): Promise<{ readonly status: number; readonly body: Answer }> {
      const response = await fetch(`http://127.0.0.1:${port}${at}`, { method: 'POST', body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Answer };
    },
    booked: () => parcels.length,
    printed: () => labels.length,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
