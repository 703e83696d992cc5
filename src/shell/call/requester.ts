/**
 * Who waits for a reply: how they leave, what they can be asked, and whether an HTTP response was written to them
 * whole.
 */
import type { Call, CallId } from '../../core/call/call.ts';
import type { AgentClient, Relay } from '../../ports/upstream.ts';
import type { ServerResponse } from 'node:http';

/**
 * The call whose body calls on: the outermost one, where a body was called by another. Its session waits for what the
 * body waits for.
 */
export type BodyOf = Pick<Call, 'id' | 'tool' | 'session'>;

/** A door passes what it can know; nothing of it is needed. */
export interface Requester {
  /** The client cancels: the call is stopped, and the client counts as gone. */
  readonly cancelled?: AbortSignal | undefined;
  /** The client is gone, and the call goes on. */
  readonly left?: AbortSignal | undefined;
  /** Somebody who only joined a call of another requester goes away: their wait ends, and nothing else. */
  readonly joined?: AbortSignal | undefined;
  /**
   * Whether the reply was written to the last byte while the client was there. A door that writes nowhere leaves it
   * out: then the reply is handed over when it is returned.
   */
  readonly written?: Promise<boolean> | undefined;
  /** Resolves when whatever the client did by now has been heard: asked before a reply is given to the door. */
  readonly heard?: (() => Promise<void>) | undefined;
  /** The connection that its client keeps between requests, where a door has one. */
  readonly connection?: ClientConnection | undefined;
  /** Whom a body can ask while it runs. */
  readonly client?: AgentClient | undefined;
  /** Where a streamed answer of this call goes while it arrives. */
  readonly relay?: ((call: CallId) => Relay) | undefined;
  /** Hears which session a step goes to that names none, before it is taken. */
  readonly entered?: ((session: string) => void) | undefined;
  /** It is a body that asks. */
  readonly bodyOf?: BodyOf | undefined;
}

/** While a client is there, nobody else takes the place of a request that it gave up. */
export interface ClientConnection {
  /** Aborted while nothing shows that its client is there. */
  readonly absent: AbortSignal;
  /**
   * Aborted once its client is known to be gone: for a request that it cancelled with a word it was there a moment ago.
   */
  readonly lost: AbortSignal;
}

/** Somebody who asked for a write without a key, and was not handed its reply yet. */
export interface Asker {
  readonly place: string;
  readonly requester: Requester;
  /** The call whose reply is theirs: their own, or one whose requester's place they took. */
  call: Call;
  /** Resolves when it is on record that they have the reply, or left; null while neither is known. */
  ending: Promise<unknown> | null;
  /** They gave the call up, and their connection is open. Calling it puts on record that they left. */
  release: (() => void) | null;
}

export const isGone = ({ cancelled, left, joined }: Requester): boolean =>
  [cancelled, left, joined].some((signal) => signal?.aborted === true);

/** Until this is aborted, only the client itself may take the place of its request; null without a connection. */
export const heldBy = ({ cancelled, connection }: Requester): AbortSignal | null =>
  connection === undefined ? null : cancelled?.aborted === true ? connection.lost : connection.absent;

export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}

export interface WatchedClient {
  /** Aborted when the client goes away before the response is complete. */
  readonly left: AbortSignal;
  /** Whether its last byte was written, and no sign of the client's leaving had come by then. */
  readonly written: Promise<boolean>;
  readonly heard: () => Promise<void>;
}

/**
 * Two turns of the loop: the first may end with what was read before it began. Then whatever clients did by now is
 * known.
 */
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
  // INVARIANT: who closes when the last byte was written has the reply. Whoever had closed before was heard before it
  // was written.
  response.once('finish', end);
  return { left: left.signal, written, heard };
}
