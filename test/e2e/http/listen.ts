/** Reads a stream of the HTTP door as a browser would. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import { camelKeys } from '../../support/camel-keys.ts';
import type { OpenedHttp } from './open-http.ts';

export interface StreamEvent {
  readonly id: string | null;
  readonly event: string | null;
  readonly data: Record<string, unknown>;
}

export interface Stream {
  readonly response: IncomingMessage;
  readonly events: readonly StreamEvent[];
  readonly comments: readonly string[];
  readonly ended: Promise<void>;
  stop(): void;
}

/** `check` sees every event as it comes. */
export async function listenTo(
  t: TestContext,
  { url }: OpenedHttp,
  target: string,
  key: string,
  last?: string,
  check: (event: StreamEvent) => void = () => undefined,
): Promise<Stream> {
  const headers = { authorization: `Bearer ${key}`, ...(last === undefined ? {} : { 'last-event-id': last }) };
  const request = httpRequest(new URL(target, url), { headers, agent: false });
  request.on('error', () => undefined);
  t.after(() => void request.destroy());
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers['content-type'], 'text/event-stream');
  const events: StreamEvent[] = [];
  const comments: string[] = [];
  let rest = '';
  response.on('data', (chunk: Buffer) => {
    const blocks = `${rest}${chunk.toString('utf8')}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) comments.push(block);
      else {
        const event = read(block);
        assert.deepEqual(camelKeys(event.data), [], block);
        check(event);
        events.push(event);
      }
    }
  });
  response.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => response.on('close', () => resolve()));
  return { response, events, comments, ended, stop: () => request.destroy() };
}

function read(block: string): StreamEvent {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? null;
  return { id: field('id'), event: field('event'), data: JSON.parse(field('data') ?? '{}') as StreamEvent['data'] };
}
