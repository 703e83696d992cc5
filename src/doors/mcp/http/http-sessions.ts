/**
 * The MCP sessions of revision 2025-11-25: one server and one connection for each, kept while they are used. They take their
 * places in a room that several handlers share, and one that nobody uses is closed.
 */
import { randomUUID } from 'node:crypto';
import type { Principal } from '../../../core/call/call.ts';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { endCancelled } from './end-cancelled.ts';
import type { McpDoor } from '../mcp-door.ts';
import { createOpenRequests, type OpenRequests } from './open-requests.ts';
import type { RoomySession, SessionRoom } from './session-room.ts';

export interface HttpSession extends RoomySession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly requests: OpenRequests;
  /** An exchange begins: the function that is returned is called when it has ended. */
  began(method: string): () => void;
  usedAtMs: number;
}

export interface SessionSettings {
  readonly room: SessionRoom;
  readonly sessionIdleMs: number;
}

export type HttpSessions = ReturnType<typeof createHttpSessions>;

export function createHttpSessions(door: McpDoor, { room, sessionIdleMs }: SessionSettings) {
  const sessions = new Map<string, HttpSession>();
  const closeIdle = () => {
    const before = performance.now() - sessionIdleMs;
    for (const session of sessions.values())
      if (!session.isListening() && session.usedAtMs < before) void session.close();
  };
  const timer = setInterval(closeIdle, Math.max(50, Math.min(sessionIdleMs / 2, 30_000)));
  timer.unref();
  return {
    /** A session of somebody else is not known. */
    find(id: string, who: Principal | undefined): HttpSession | undefined {
      const found = sessions.get(id);
      const isTheirs = found?.who?.tenant === who?.tenant && found?.who?.agent === who?.agent;
      return isTheirs ? found : undefined;
    },
    size: () => sessions.size,

    /** Known under its id once the client's `initialize` was understood; otherwise closed again. Null if there is no room. */
    async open(
      who: Principal | undefined,
      serve: (session: HttpSession) => Promise<Response>,
    ): Promise<Response | null> {
      const connection = door.connect({ who });
      const server = door.createServer(connection);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, session),
      });
      const open = { all: 0, posts: 0 };
      const session: HttpSession = {
        transport,
        requests: createOpenRequests(),
        began(method) {
          const posts = method === 'POST' ? 1 : 0;
          session.usedAtMs = performance.now();
          open.all += 1;
          open.posts += posts;
          connection.presence.came(method === 'GET');
          return () => {
            open.all -= 1;
            open.posts -= posts;
            session.usedAtMs = performance.now();
            // A client without any exchange may be gone: nothing shows that it is there.
            if (open.all === 0) connection.presence.went();
          };
        },
        who,
        usedAtMs: performance.now(),
        isBusy: () => transport.sessionId === undefined || open.posts > 0 || session.requests.open.size > 0,
        isListening: () => open.all > 0,
        async close() {
          forget();
          await server.close();
        },
      };
      const forget = () => {
        if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
        room.leave(session);
        door.release(connection);
      };
      if (!room.take(session)) {
        forget();
        return null;
      }
      server.onclose = forget;
      await server.connect(transport);
      endCancelled(transport, session.requests);
      try {
        return await serve(session);
      } finally {
        if (transport.sessionId === undefined) await session.close();
      }
    },

    async close(): Promise<void> {
      clearInterval(timer);
      await Promise.allSettled([...sessions.values()].map((session) => session.close()));
    },
  };
}
