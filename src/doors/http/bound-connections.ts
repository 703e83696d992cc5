/**
 * Limits the number of open connections. Holders of keys have room of their own; among connections that have shown no
 * key, the longest idle one is closed for a new one. Reads nothing of what is sent.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from '../../core/limits.ts';

export type ConnectionLimits = Pick<
  Limits,
  'maxConnections' | 'maxConnectionsPerAddress' | 'maxConnectionsPerAgent' | 'bodyStallMs'
>;

export interface BoundConnections {
  /** Counts the connections of this server from now on. */
  watch(server: Server): void;
  /** Replaces the limits. */
  limit(limits: ConnectionLimits): void;
  /**
   * A key was shown on this connection. False if its holder has reached the limit and all its connections are in use.
   */
  admit(socket: Socket, holder: string): boolean;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** The holder of the key that was shown on it; null if none was. */
  holder: string | null;
  /** Requests whose answers are not complete. */
  requests: number;
}

export function boundConnections(first: ConnectionLimits): BoundConnections {
  let limits = first;
  /** In order of last use. */
  const open = new Map<Socket, Connection>();

  const isIdle = ({ requests }: Connection) => requests === 0;
  const isUnknown = ({ holder }: Connection) => holder === null;
  const those = (are: (connection: Connection) => boolean) => [...open.values()].filter(are);
  const close = (connection: Connection | undefined): boolean => {
    if (connection === undefined) return false;
    open.delete(connection.socket);
    connection.socket.destroy();
    return true;
  };
  /** A request without a key is answered at once, so an open one has a client that does not read its answer. */
  const closeOneOf = (unknown: readonly Connection[]) => close(unknown.find(isIdle) ?? unknown[0]);
  const use = (connection: Connection) => {
    if (!open.delete(connection.socket)) return;
    open.set(connection.socket, connection);
  };

  function enter(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const unknown = those(isUnknown);
    const beside = unknown.filter((each) => each.address === address);
    if (beside.length >= limits.maxConnectionsPerAddress) closeOneOf(beside);
    else if (unknown.length >= roomWithoutKey(limits) || open.size >= limits.maxConnections) closeOneOf(unknown);
    open.set(socket, { socket, address, holder: null, requests: 0 });
    socket.on('close', () => void open.delete(socket));
  }

  function request(incoming: IncomingMessage, response: ServerResponse): void {
    const connection = open.get(incoming.socket);
    if (connection === undefined) return;
    use(connection);
    connection.requests += 1;
    response.on('close', () => {
      connection.requests -= 1;
      use(connection);
      if (!incoming.complete) endStalled(incoming, limits.bodyStallMs);
    });
  }

  return {
    watch(server) {
      server.on('connection', enter);
      server.prependListener('request', request);
    },
    limit: (given) => void (limits = given),
    admit(socket, holder) {
      const connection = open.get(socket);
      if (connection === undefined || connection.holder === holder) return true;
      const known = those((each) => !isUnknown(each));
      const theirs = known.filter((each) => each.holder === holder);
      if (theirs.length >= limits.maxConnectionsPerAgent) {
        if (!close(theirs.find(isIdle))) return false;
      } else if (known.length >= roomWithKey(limits) && !close(idleOfLargest(known))) return false;
      connection.holder = holder;
      return true;
    },
  };
}

/** Connections without a key get at most half of the limit; those with one leave a sixteenth free. */
const roomWithoutKey = ({ maxConnections }: ConnectionLimits): number => Math.max(1, Math.floor(maxConnections / 2));
const roomWithKey = ({ maxConnections }: ConnectionLimits): number =>
  Math.max(1, maxConnections - Math.ceil(maxConnections / 16));

/** The longest idle connection of the holder with the most connections, among holders that have an idle one. */
function idleOfLargest(known: readonly Connection[]): Connection | undefined {
  const sizes = new Map<string | null, number>();
  for (const { holder } of known) sizes.set(holder, (sizes.get(holder) ?? 0) + 1);
  const sizeOf = ({ holder }: Connection) => sizes.get(holder) ?? 0;
  const idle = known.filter(({ requests }) => requests === 0);
  return idle.reduce<Connection | undefined>(
    (most, each) => (most === undefined || sizeOf(each) > sizeOf(most) ? each : most),
    undefined,
  );
}

/** The answer is written before the body was complete: closes the connection if the rest does not arrive in time. */
function endStalled(incoming: IncomingMessage, stallMs: number): void {
  const { socket } = incoming;
  const timer = setTimeout(() => {
    if (!incoming.complete) socket.destroy();
  }, stallMs);
  timer.unref();
  socket.on('close', () => clearTimeout(timer));
}
