/**
 * Writes an event stream to one reader, no faster than it reads. A reader that reads nothing for too long is cut off.
 */
import type { ServerResponse } from 'node:http';

export interface Reader {
  begin(): void;
  /** False once the reader is gone. */
  take(text: string): Promise<boolean>;
  /** False once the reader is gone, or the door closes. */
  pause(ms: number): Promise<boolean>;
  end(told: object): void;
  isClosing(): boolean;
}

/** A reader that reads nothing for `slowReaderMs` is cut off. */
export function createReader(response: ServerResponse, slowReaderMs: number, closing: AbortSignal): Reader {
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

/** False if the buffer was not drained in time, or the reader is gone. */
export function drained(response: ServerResponse, withinMs: number): Promise<boolean> {
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
