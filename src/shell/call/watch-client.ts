/**
 * Is the client of an HTTP response there, and was the response written to it whole? For every door that answers over HTTP; knows
 * nothing of what is answered.
 */
import type { ServerResponse } from 'node:http';

export interface WatchedClient {
  /** Aborted when the client goes away before the response is complete. */
  readonly left: AbortSignal;
  /** Whether its last byte was written, and no sign of the client's leaving had come by then. */
  readonly written: Promise<boolean>;
  readonly heard: () => Promise<void>;
}

/** Two turns of the loop: the first may end with what was read before it began. Then whatever clients did by now is known. */
export const heard = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

export function watchClient(response: ServerResponse): WatchedClient {
  const left = new AbortController();
  const { promise: written, resolve } = Promise.withResolvers<boolean>();
  const { socket } = response;
  let isGone = false;
  const gone = () => {
    isGone = true;
    if (!response.writableFinished) left.abort();
  };
  const end = () => {
    socket?.off('end', gone).off('error', gone);
    resolve(!isGone);
  };
  const closed = () => {
    if (response.writableFinished) return;
    gone();
    end();
  };
  // What the client has closed shows here a moment before the response closes.
  socket?.on('end', gone).on('error', gone);
  if (socket?.readableEnded === true) gone();
  if (response.closed || response.destroyed) closed();
  response.once('close', closed);
  // INVARIANT: who closes when the last byte was written has the reply. Whoever had closed before was heard before it was written.
  response.once('finish', end);
  return { left: left.signal, written, heard };
}
