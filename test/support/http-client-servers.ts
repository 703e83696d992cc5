/**
 * Servers for tests of the HTTP client: they count their connections, and write answers by node:http or byte by byte.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type HttpAnswer, type HttpRequest, send } from '../../src/adapters/upstream-mcp/http/http-client.ts';
import { headersFor, targetOf } from '../../src/adapters/upstream-mcp/http/http-target.ts';

async function open(t: TestContext, server: Server) {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const target = targetOf(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`));
  const request = { method: 'POST', headers: headersFor(target), maxBodyBytes: 10_000_000 };
  return {
    sockets,
    connections: () => connections,
    /** A connection can be used again one turn of the event loop after its answer. */
    async send(body = '{}', more: Partial<HttpRequest> = {}) {
      const answer = await send(target, { ...request, body, ...more });
      await turn();
      return answer;
    },
  };
}

/** `answering` gets what was asked, as text. */
export const serving = (
  t: TestContext,
  answering: (asked: string, response: ServerResponse, request: IncomingMessage) => void,
) =>
  open(
    t,
    createServer((request, response) => {
      let asked = '';
      request.setEncoding('utf8').on('data', (text: string) => (asked += text));
      request.on('end', () => answering(asked, response, request));
    }),
  );

/** `answer` is written, as it is, for each request that comes as a whole. */
export const writing = (t: TestContext, answer: (socket: Socket, asked: number) => void) => {
  let asked = 0;
  return open(
    t,
    createTcpServer((socket) => socket.on('data', () => answer(socket, ++asked))),
  );
};

export const textOf = ({ body }: HttpAnswer): string => (Buffer.isBuffer(body) ? body.toString() : '');
/** A whole answer with a length. */
export const lengthOf = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
