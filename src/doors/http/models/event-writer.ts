/**
 * Writes the stream of a model's answer to its client, no faster than that reads. The head is written with the first
 * event, so that a refusal before it has a status of its own.
 */
import type { ServerResponse } from 'node:http';
import type { ProviderEvent } from '../../../core/model/protocol.ts';
import type { Requester } from '../../../shell/call/requester.ts';
import type { Headers } from '../answer.ts';
import { drained } from '../event-reader.ts';
import type { HttpDoorOptions } from '../parts.ts';
import { idHeaders } from './write-error.ts';

export interface EventWriter {
  readonly relay: NonNullable<Requester['relay']>;
  /** Whether the head was written. */
  hasBegun(): boolean;
  /** All of them, or as many as are read. */
  write(events: readonly ProviderEvent[], headers: Headers): Promise<void>;
  end(): void;
}

/** `goesOn`: the answer is wanted although nobody reads it any more. */
export function createEventWriter(
  response: ServerResponse,
  { slowReaderMs, heartbeatMs }: Pick<HttpDoorOptions, 'slowReaderMs' | 'heartbeatMs'>,
  goesOn: boolean,
): EventWriter {
  let heartbeat: NodeJS.Timeout | null = null;
  const isGone = () => response.destroyed || response.writableEnded;
  const stopBeating = () => void (heartbeat === null ? undefined : clearInterval(heartbeat));

  function begin(headers: Headers): void {
    response.writeHead(200, { ...streamHeaders, ...headers });
    response.once('close', stopBeating);
    heartbeat = setInterval(() => {
      if (!isGone() && !response.writableNeedDrain) response.write(': still here\n\n');
    }, heartbeatMs);
  }
  /** False once nobody reads any more. */
  async function take(event: ProviderEvent, headers: Headers): Promise<boolean> {
    if (isGone()) return false;
    if (!response.headersSent) begin(headers);
    heartbeat?.refresh();
    if (response.write(eventText(event))) return true;
    if (await drained(response, slowReaderMs)) return !isGone();
    // INVARIANT: a reader that takes nothing holds no more than what was written to it already.
    response.destroy();
    return false;
  }

  return {
    relay: (call) => ({ send: async (event) => (await take(event, idHeaders(call))) || goesOn }),
    hasBegun: () => response.headersSent,
    async write(events, headers) {
      for (const event of events) if (!(await take(event, headers))) return;
    },
    end() {
      stopBeating();
      if (!isGone()) response.end();
    },
  };
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-accel-buffering': 'no',
};

/** A line break within the data begins another line of data. */
function eventText({ event, data }: ProviderEvent): string {
  const name = event === null ? '' : `event: ${event.replaceAll(/[\r\n]/g, ' ')}\n`;
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${name}${lines.join('')}\n`;
}
