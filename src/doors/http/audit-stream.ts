/**
 * The journal as a stream of events. It reads on only when the reader has taken what there was, so nothing piles up here: one page
 * is held, however slow the reader; one that takes nothing at all is cut off. Only records of the reader's tenant.
 */
import type { ServerResponse } from 'node:http';
import { setImmediate as giveWay } from 'node:timers/promises';
import type { Position } from '../../core/journal/record.ts';
import { type Identity, may } from '../../core/identity.ts';
import type { ToldRecord } from '../../shell/inspect.ts';
import { type Answer, type Asked, refuse } from './answer.ts';
import { time } from './call-routes.ts';
import { isPosition } from './find-route.ts';
import type { HttpDoorOptions } from './parts.ts';
import { refuseInput } from './refuse-input.ts';

export interface AuditStreams {
  open(asked: Asked, stillWho: () => Promise<Identity | null>): Answer;
  /** Tells every reader that it is over. */
  close(): Promise<void>;
}

type Settings = Pick<HttpDoorOptions, 'maxStreams' | 'streamEveryMs' | 'streamPage' | 'heartbeatMs' | 'slowReaderMs'>;

export function createAuditStreams(settings: Settings): AuditStreams {
  const closing = new AbortController();
  const open = new Set<Promise<void>>();
  return {
    open(asked, stillWho) {
      const after = startOf(asked);
      if (after === 'unclear') {
        const wrong = { path: '/Last-Event-ID', expected: 'the position of a record, such as 3.17', got: null };
        return refuseInput('readAudit', [wrong], asked.parts);
      }
      if (open.size >= settings.maxStreams)
        return refuse('TooManyStreams', `${settings.maxStreams} streams are open; try again later`, busy);
      const run = (response: ServerResponse): Promise<void> => {
        const reader = createReader(response, settings, closing.signal);
        const stream = follow(asked, after, reader, stillWho, settings);
        open.add(stream);
        return stream.finally(() => open.delete(stream));
      };
      return { kind: 'stream', run };
    },
    async close() {
      closing.abort();
      await Promise.allSettled(open);
    },
  };
}

const busy = { 'retry-after': '5' };

/** Where a reader that comes back had been goes before where it once began. */
function startOf({ query, header }: Asked): Position | null | 'unclear' {
  const said = header('last-event-id') ?? query['after'];
  if (said === undefined || said === '') return null;
  if (!isPosition(String(said))) return 'unclear';
  const [epoch, seq] = String(said).split('.').map(Number);
  return { epoch: epoch ?? 0, seq: seq ?? 0 };
}

/** As soon as a call would be refused for it. */
const keyAskedEveryMs = 1_000;

async function follow(
  { who, query, parts }: Asked,
  after: Position | null,
  reader: Reader,
  stillWho: () => Promise<Identity | null>,
  { streamEveryMs, streamPage, heartbeatMs }: Settings,
): Promise<void> {
  let from = after;
  /** Of the reader's own: where others are is none of their business. */
  let told = after;
  let beatAtMs = performance.now();
  let askedAtMs = beatAtMs;
  reader.begin();
  for (;;) {
    const page = await parts.view.records(who.tenant, from, streamPage);
    from = page.last;
    for (const record of page.records) {
      if (!(await reader.take(eventOf(record)))) return;
      told = record;
    }
    if (reader.isClosing()) return reader.end(ending('closing', told));
    if (performance.now() - askedAtMs >= Math.min(keyAskedEveryMs, heartbeatMs)) {
      // A key that was revoked meanwhile opens nothing any more.
      const now = await stillWho();
      if (now === null || now.tenant !== who.tenant || !may(now, 'look')) return reader.end({ reason: 'key_revoked' });
      askedAtMs = performance.now();
    }
    if (performance.now() - beatAtMs >= heartbeatMs) {
      if (!(await reader.take(': still here\n\n'))) return;
      beatAtMs = performance.now();
    }
    // The store answers without waiting: others get their turn between two pages.
    if (page.more) await giveWay();
    else if (query['follow'] === 'false') return reader.end(ending('caught_up', told));
    else if (!(await reader.pause(streamEveryMs))) return reader.end(ending('closing', told));
  }
}

const ending = (reason: string, told: Position | null) => ({ reason, last: told === null ? null : textOf(told) });
const textOf = ({ epoch, seq }: Position): string => `${epoch}.${seq}`;

function eventOf(record: ToldRecord): string {
  const position = textOf(record);
  const data = {
    position,
    kind: record.kind,
    meaning: record.meaning,
    at: time(record.timeMs),
    call_id: record.call,
    session: record.session,
    session_seq: record.sessionSeq,
    hash: record.hash,
    body: parsed(record.body),
    payloads: record.payloads,
  };
  return `id: ${position}\nevent: record\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Whoever reads a journal must be able to read a broken one. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

interface Reader {
  begin(): void;
  /** False once nobody is there to take it. */
  take(text: string): Promise<boolean>;
  /** False once the reader is gone, or the door closes. */
  pause(ms: number): Promise<boolean>;
  end(told: object): void;
  isClosing(): boolean;
}

function createReader(response: ServerResponse, { slowReaderMs }: Settings, closing: AbortSignal): Reader {
  const gone = () => response.destroyed || response.writableEnded;
  return {
    begin() {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-accel-buffering': 'no',
      });
      response.flushHeaders();
    },
    async take(text) {
      if (gone()) return false;
      if (response.write(text)) return true;
      if (await drained(response, slowReaderMs)) return !gone();
      cutOff(response, slowReaderMs);
      return false;
    },
    async pause(ms) {
      if (gone() || closing.aborted) return false;
      await until(ms, response, closing);
      return !gone() && !closing.aborted;
    },
    end(told) {
      if (!gone()) response.end(`event: end\ndata: ${JSON.stringify(told)}\n\n`);
    },
    isClosing: () => closing.aborted,
  };
}

/** INVARIANT: a reader that takes nothing holds no more than what was written to it already. */
function cutOff(response: ServerResponse, graceMs: number): void {
  response.end(': cut off: too slow; come back with Last-Event-ID\n\n');
  const timer = setTimeout(() => response.destroy(), graceMs);
  response.once('close', () => clearTimeout(timer));
}

/** True if what was written has been taken within the time; false also if the reader is gone. */
function drained(response: ServerResponse, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (taken: boolean) => () => {
      clearTimeout(timer);
      response.off('drain', onDrain).off('close', onClose);
      resolve(taken);
    };
    const onDrain = finish(true);
    const onClose = finish(false);
    const timer = setTimeout(onClose, withinMs);
    response.on('drain', onDrain).on('close', onClose);
  });
}

function until(ms: number, response: ServerResponse, closing: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      response.off('close', finish);
      closing.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    response.on('close', finish);
    closing.addEventListener('abort', finish);
  });
}
