/** Which exchanges are under way, and may anything else be said on their connections? For a door that must not close before they end. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export interface UnderWay {
  /** Somebody answers here, perhaps another door. */
  note(response: ServerResponse): void;
  /** This door does. */
  enter(response: ServerResponse): void;
  /** It goes on, and nobody waits for its end. */
  leave(response: ServerResponse): void;
  /** Its request was read to the end: from here on it will be answered. */
  arrived(response: ServerResponse): void;
  /** Whether an answer on this connection can only be taken for the right one. */
  mayBeAnswered(socket: Duplex): boolean;
  /** Resolves when all of them are flushed, or the time is over. */
  ended(withinMs: number): Promise<void>;
}

export function createUnderWay(): UnderWay {
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
