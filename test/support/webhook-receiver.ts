/** Somebody who receives webhooks: a real server that keeps what it got, and answers what the test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { WebhookMessage } from '../../src/core/http/webhook-message.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly message: WebhookMessage;
}

/** A status, nothing at all, or whatever the test writes. */
export type AnswerWith = number | 'hang' | ((response: ServerResponse) => void);

export interface Receiver {
  readonly url: string;
  /** In the order in which they came, whatever they were answered. */
  readonly got: Received[];
  /** From now on; asked for each message. */
  answer(how: (received: Received) => AnswerWith): void;
  ids(): readonly string[];
}

export async function startReceiver(t: TestContext): Promise<Receiver> {
  const got: Received[] = [];
  let decide: (received: Received) => AnswerWith = () => 204;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const received = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        message: JSON.parse(body) as WebhookMessage,
      };
      got.push(received);
      const answer = decide(received);
      if (typeof answer === 'number') response.writeHead(answer).end();
      else if (answer !== 'hang') answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=hidden-in-the-query`,
    got,
    answer: (how) => void (decide = how),
    ids: () => got.map(({ headers }) => String(headers['recourse-id'])),
  };
}
