/** The least that stands between a client and a provider: node:http in, undici out, and a pipe: `ORIGIN`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { Pool } from 'undici';

const pool = new Pool(process.argv[2] ?? '', { connections: 128 });

const server = createServer((request, response) => {
  void (async () => {
    const asked: Buffer[] = [];
    for await (const piece of request) asked.push(piece as Buffer);
    const headers = { 'content-type': 'application/json' };
    const path = request.url ?? '/';
    const answer = await pool.request({ method: 'POST', path, headers, body: Buffer.concat(asked) });
    response.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type']) });
    await pipeline(answer.body, response);
  })();
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

process.once('SIGTERM', () => {
  server.closeAllConnections();
  process.exit(0);
});
