/** Carries a request by node's own client: over TLS, where the way takes longer than the client. */
import type { Agent, IncomingMessage, request as requestOf } from 'node:http';
import { Agent as TlsAgent, request as requestOverTls } from 'node:https';
import { type Carry, isEventStream, type Waiting } from './carrier.ts';
import { collect, endTooLarge } from './collect-body.ts';

const idleMs = 30_000;
const keeping = { keepAlive: true, timeout: idleMs, scheduling: 'lifo' } as const;

export const carryTls = carryBy(requestOverTls, new TlsAgent(keeping));

export function carryBy(request: typeof requestOf, agent: Agent): Carry {
  return (method, target, order, waiting) => {
    const { hostname, port, path } = target;
    const { headers, body, maxBodyBytes } = order;
    const length = body === null ? [] : ['content-length', String(Buffer.byteLength(body))];
    const options = { hostname, port, path, method, agent, headers: [...headers, ...length] };
    const sent = request(options, (response) => {
      const answer = { status: response.statusCode ?? 0, headers: response.headers };
      if (isEventStream(response.headers)) return waiting.done({ ...answer, body: response });
      readWhole(response, maxBodyBytes, waiting);
    });
    sent.on('error', waiting.fail);
    // The agent's timeout closes connections that rest; one that is in use waits for its answer.
    sent.on('socket', (socket) => socket.setTimeout(0));
    return {
      start: () => void sent.end(body ?? undefined),
      hangUp: () => void sent.destroy(new Error('the line was hung up')),
    };
  };
}

function readWhole(response: IncomingMessage, maxBodyBytes: number, waiting: Waiting): void {
  const head = { status: response.statusCode ?? 0, headers: response.headers };
  const body = collect(maxBodyBytes);
  response.on('data', (chunk: Buffer) => {
    if (body.add(chunk)) return;
    endTooLarge(head, body, maxBodyBytes, waiting);
    response.destroy();
  });
  response.on('end', () => waiting.done({ ...head, body: body.whole() }));
  response.on('error', waiting.fail);
  // Broken off, unless the end came before.
  response.on('close', () => waiting.fail(new Error('the connection was closed in the middle of the answer')));
}
