/**
 * What is remembered of one client between its requests: the workflow session it works in, and whether it is there.
 * Stateless HTTP remembers nothing: each call names its session or gets a new one.
 */
import type { Principal } from '../../core/call/call.ts';
import { isRefusal, type Reply } from '../../core/call/reply.ts';
import type { ClientConnection } from '../../shell/call/requester.ts';
import type { ServedWorkflow } from './parts.ts';

export interface Connection {
  readonly who: Principal;
  readonly stateless: boolean;
  session: string | null;
  /** While the first session is being opened, so that two calls at once do not open two. */
  opening: Promise<string | null> | null;
  readonly presence: Presence;
  /** Whether the answers to its requests were written; over HTTP the response knows that. */
  readonly writes: Writes;
  /** It has listed the tools. */
  hasListed: boolean;
  /** The same client in each workflow that is served beside the tools, by its name. */
  readonly beside: Map<string, Connection>;
}

export function createConnection(who: Principal, stateless: boolean): Connection {
  const remembered = { session: null, opening: null, hasListed: false, beside: new Map<string, Connection>() };
  return { who, stateless, ...remembered, presence: createPresence(), writes: createWrites() };
}

/** A client has a session of its own in each workflow. */
export function connectionIn(workflow: string, connection: Connection): Connection {
  const known = connection.beside.get(workflow) ?? { ...connection, session: null, opening: null };
  connection.beside.set(workflow, known);
  return known;
}

/** Whether the client of a connection is there. */
export interface Presence extends ClientConnection {
  /** An exchange begins; `listens` if it is a stream for notifications. */
  came(listens: boolean): void;
  /** Its last exchange has ended. */
  went(): void;
  /** The connection is over. */
  close(): void;
}

function createPresence(): Presence {
  let absent = new AbortController();
  let lost = new AbortController();
  let listened = false;
  let isOver = false;
  return {
    get absent() {
      return absent.signal;
    },
    get lost() {
      return lost.signal;
    },
    came(listens) {
      listened ||= listens;
      if (isOver) return;
      if (absent.signal.aborted) absent = new AbortController();
      if (lost.signal.aborted) lost = new AbortController();
    },
    went() {
      absent.abort();
      if (listened) lost.abort();
    },
    close() {
      isOver = true;
      absent.abort();
      lost.abort();
    },
  };
}

/** Which answers were written, by the id of their request. */
export interface Writes {
  expect(id: unknown): Promise<boolean>;
  written(id: unknown, whole: boolean): void;
  /** Answers that are not written by now never will be. */
  close(): void;
}

function createWrites(): Writes {
  const open = new Map<unknown, (whole: boolean) => void>();
  return {
    expect(id) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      open.set(id, resolve);
      return promise;
    },
    written(id, whole) {
      open.get(id)?.(whole);
      open.delete(id);
    },
    close() {
      for (const resolve of open.values()) resolve(false);
      open.clear();
    },
  };
}

/** The session of the connection, opened at its first use; null for a stateless one, or if it cannot be opened. */
export async function ownSession(connection: Connection, { service, name }: ServedWorkflow): Promise<string | null> {
  if (connection.stateless || connection.session !== null) return connection.session;
  connection.opening ??= open();
  return connection.opening;

  async function open(): Promise<string | null> {
    try {
      const opened = await service.open(name, connection.who);
      if (!('error' in opened)) connection.session = opened.session;
      return connection.session;
    } finally {
      connection.opening = null;
    }
  }
}

/** Takes a step in the connection's own session, and remembers which one that is. */
export async function stepInOwnSession(
  connection: Connection,
  served: ServedWorkflow,
  isKeyed: boolean,
  step: (session: string | null, entered?: (session: string) => void) => Promise<Reply>,
): Promise<Reply> {
  const isFirst = !connection.stateless && connection.session === null && connection.opening === null;
  // A client that lost its connection with the reply knows its key but not the session: the gateway finds it by the
  // key.
  if (isFirst && isKeyed) return firstStep(connection, step);
  const reply = await step(await ownSession(connection, served));
  learnFrom(reply, connection);
  return reply;
}

async function firstStep(
  connection: Connection,
  step: (session: null, entered: (session: string) => void) => Promise<Reply>,
): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const opened = () => {
    if (connection.opening === promise) connection.opening = null;
    resolve(connection.session);
  };
  let early: string | null = null;
  // Other calls wait for the session, not for the step, which may take long or even wait for one of them.
  const entered = (session: string) => {
    early = session;
    connection.session ??= session;
    opened();
  };
  connection.opening = promise;
  try {
    const reply = await step(null, entered);
    // The session of the key may belong to another door: then none was entered.
    if (reply.session === null && connection.session === early) connection.session = null;
    learnFrom(reply, connection);
    return reply;
  } finally {
    opened();
  }
}

/** Forgets a session that is gone, or every later call of this client would be refused. */
function learnFrom(reply: Reply, connection: Connection): void {
  if (connection.stateless) return;
  if (isRefusal(reply) && reply.code === 'UnknownSession') connection.session = null;
  else connection.session ??= reply.session;
}
