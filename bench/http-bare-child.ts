/** A bare handler of node:http that parses JSON, makes the two commits of a call and answers: `FILE TEMPLATE`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openCeiling, templateOf } from './ceiling.ts';

const [file = '', template = ''] = process.argv.slice(2);
const ceiling = await openCeiling(file, templateOf(template));

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { tool } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { tool: string };
    void ceiling.call().then(() => {
      const body = JSON.stringify({ action: tool, result: { done: true, reference: 'ref_1' }, next: [tool] });
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

process.once('SIGTERM', () => {
  server.closeAllConnections();
  void ceiling.close().then(() => process.exit(0));
});
