/**
 * Keeps track of open exchanges, so that the door closes only when they have ended. Also says whether an error response
 * on a connection could be taken for the answer to another request.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export interface OpenExchanges {
  /** An exchange begins on this connection, at any door. */
  note(response: ServerResponse): void;
  /** It belongs to this door. */
  enter(response: ServerResponse): void;
  /** A stream: closing does not wait for it. */
  leave(response: ServerResponse): void;
  /** Its request was read completely: from here on it will be answered. */
  arrived(response: ServerResponse): void;
  /** Whether an error response on this connection cannot be mistaken for the answer to another request. */
  mayBeAnswered(socket: Duplex): boolean;
  /** Resolves when all answers are flushed, or the time is over. */
  ended(withinMs: number): Promise<void>;
}

export function createOpenExchanges(): OpenExchanges {
  const open = new Set<ServerResponse>();
  const onSocket = new WeakMap<Duplex, Set<ServerResponse>>();
  const arriving = new WeakSet<ServerResponse>();
  let whenIdle: (() => void) | null = null;
  const remove = (response: ServerResponse) => {
    open.delete(response);
    if (open.size === 0) whenIdle?.();
  };
  const note = (response: ServerResponse) => {
    const { socket } = response;
    if (socket === null) return;
    const here = onSocket.get(socket) ?? new Set();
    if (here.has(response)) return;
    onSocket.set(socket, here.add(response));
    response.on('close', () => {
      here.delete(response);
      remove(response);
    });
  };
  return {
    note,
    enter(response) {
      note(response);
      arriving.add(response);
      open.add(response);
    },
    leave: remove,
    arrived: (response) => void arriving.delete(response),
    mayBeAnswered(socket) {
      const here = [...(onSocket.get(socket) ?? [])];
      return here.length === 0 || (here.length === 1 && here.every((response) => arriving.has(response)));
    },
    async ended(withinMs) {
      if (open.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      whenIdle = resolve;
      const timer = setTimeout(resolve, withinMs);
      await promise;
      clearTimeout(timer);
    },
  };
}
