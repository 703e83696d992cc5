/**
 * Serves event streams from the journal, limited in number. A stream reads the next page only when its reader has
 * taken the last, so at most one page is held in memory.
 */
import type { ServerResponse } from 'node:http';
import { setImmediate as giveWay } from 'node:timers/promises';
import { httpRoutes, type RouteName } from '../../core/http/http-routes.ts';
import { type Identity, may } from '../../core/call/identity.ts';
import type { Position } from '../../core/journal/record.ts';
import { type Answer, type Asked, refuse, refuseInput } from './answer.ts';
import { createReader, type Reader } from './event-reader.ts';
import { isPosition } from './find-route.ts';
import type { HttpDoorOptions } from './parts.ts';

export type StreamRoute = {
  [Name in RouteName]: (typeof httpRoutes)[Name]['answer'] extends 'text/event-stream' ? Name : never;
}[RouteName];

export interface EventPage {
  /** In order; `text` writes the event when it is its turn. */
  readonly events: readonly { readonly at: Position; readonly text: () => string }[];
  /** Where to continue: the last record that was read, of any tenant. */
  readonly last: Position;
  /** False at the end of the journal. */
  readonly more: boolean;
}

/** Where the events of one kind of stream come from. */
export interface StreamSource {
  /** Where a reader that names no position starts; null for the first record. */
  readonly begin: (asked: Asked) => Promise<Position | null>;
  readonly page: (asked: Asked, after: Position | null, limit: number) => Promise<EventPage>;
}

export interface EventStreams {
  /** `authenticate` reads the key again, while the stream is open. */
  open(name: StreamRoute, asked: Asked, authenticate: () => Promise<Identity | null>): Answer;
  /** Ends every stream, with an event that says so. */
  close(): Promise<void>;
}

type Settings = Pick<
  HttpDoorOptions,
  'maxStreams' | 'maxStreamsEach' | 'streamEveryMs' | 'streamPage' | 'heartbeatMs' | 'slowReaderMs'
>;

export function createEventStreams(
  sources: Readonly<Record<StreamRoute, StreamSource>>,
  settings: Settings,
): EventStreams {
  const closing = new AbortController();
  const open = new Map<Promise<void>, string>();
  const { maxStreams, maxStreamsEach } = settings;
  return {
    open(name, asked, authenticate) {
      const after = startOf(asked);
      if (after === 'unclear') {
        const wrong = { path: '/Last-Event-ID', expected: 'the position of a record, such as 3.17', got: null };
        return refuseInput(name, [wrong], asked.parts);
      }
      if (open.size >= maxStreams)
        return refuse('TooManyStreams', `${maxStreams} streams are open; try again later`, busy);
      const holder = JSON.stringify([asked.who.tenant, asked.who.name]);
      if ([...open.values()].filter((each) => each === holder).length >= maxStreamsEach)
        return refuse('TooManyStreams', `${maxStreamsEach} streams of this holder are open; close one`, busy);
      const run = (response: ServerResponse): Promise<void> => {
        const reader = createReader(response, settings.slowReaderMs, closing.signal);
        const stream = follow({ name, asked, authenticate, source: sources[name] }, after, reader, settings);
        open.set(stream, holder);
        return stream.finally(() => open.delete(stream));
      };
      return { kind: 'stream', run };
    },
    async close() {
      closing.abort();
      await Promise.allSettled(open.keys());
    },
  };
}

const busy = { 'retry-after': '5' };

/** Last-Event-ID, which a reader that reconnects sends, counts before `after`. */
function startOf({ query, header }: Asked): Position | null | 'unclear' {
  const last = header('last-event-id');
  const said = last === undefined || last === '' ? query['after'] : last;
  if (said === undefined) return null;
  if (!isPosition(String(said))) return 'unclear';
  const [epoch, seq] = String(said).split('.').map(Number);
  return { epoch: epoch ?? 0, seq: seq ?? 0 };
}

/** A revoked key ends a stream about as soon as it would refuse a call. */
const checkKeyEveryMs = 1_000;

interface OpenStream {
  readonly name: StreamRoute;
  readonly asked: Asked;
  readonly authenticate: () => Promise<Identity | null>;
  readonly source: StreamSource;
}

async function follow(
  { name, asked, authenticate, source }: OpenStream,
  after: Position | null,
  reader: Reader,
  { streamEveryMs, streamPage, heartbeatMs }: Settings,
): Promise<void> {
  const { who, query } = asked;
  let from = after ?? (await source.begin(asked));
  /** The last event of the reader's own: positions of other tenants are not told. */
  let told = after;
  let beatAtMs = performance.now();
  let checkedAtMs = beatAtMs;
  reader.begin();
  for (;;) {
    const page = await source.page(asked, from, streamPage);
    from = page.last;
    for (const { at, text } of page.events) {
      if (!(await reader.take(text()))) return;
      told = at;
    }
    if (reader.isClosing()) return reader.end(ending('closing', told));
    if (performance.now() - checkedAtMs >= Math.min(checkKeyEveryMs, heartbeatMs)) {
      if (!isStill(who, await authenticate(), name)) return reader.end({ reason: 'key_revoked' });
      checkedAtMs = performance.now();
    }
    if (performance.now() - beatAtMs >= heartbeatMs) {
      if (!(await reader.take(': still here\n\n'))) return;
      beatAtMs = performance.now();
    }
    // The store answers synchronously: let other requests run between two pages.
    if (page.more) await giveWay();
    else if (query['follow'] === 'false') return reader.end(ending('caught_up', told));
    else if (!(await reader.pause(streamEveryMs))) return reader.end(ending('closing', told));
  }
}

function isStill(who: Identity, now: Identity | null, name: StreamRoute): boolean {
  if (now === null || now.tenant !== who.tenant || now.name !== who.name || now.role !== who.role) return false;
  return may(now, httpRoutes[name].needs);
}

const ending = (reason: string, told: Position | null) => ({ reason, last: told === null ? null : textOf(told) });
export const textOf = ({ epoch, seq }: Position): string => `${epoch}.${seq}`;

/** One event in the text/event-stream format, with the position of its record as id. */
export const eventText = (at: Position, event: string, data: object): string =>
  `id: ${textOf(at)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
