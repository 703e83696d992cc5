/**
 * The MCP sessions of revision 2025-11-25: one server and one connection for each, kept while they are used. Their
 * number is limited, and one that nobody uses is closed.
 */
import { randomUUID } from 'node:crypto';
import type { Principal } from '../../core/call.ts';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { endCancelled } from './end-cancelled.ts';
import type { McpDoor } from './mcp-door.ts';
import { createOpenRequests, type OpenRequests } from './open-requests.ts';

export interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly requests: OpenRequests;
  /** Exchanges under way; a session with any is in use. */
  open: number;
  /** Nobody else may use it. */
  readonly who: Principal | undefined;
  usedAtMs: number;
  close(): Promise<void>;
}

export interface SessionLimits {
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
}

export type HttpSessions = ReturnType<typeof createHttpSessions>;

export function createHttpSessions(door: McpDoor, { maxSessions, sessionIdleMs }: SessionLimits) {
  const sessions = new Map<string, HttpSession>();
  /** Sessions that are being opened have their place, too. */
  let opening = 0;
  const closeIdle = () => {
    const before = performance.now() - sessionIdleMs;
    for (const session of sessions.values()) if (session.open === 0 && session.usedAtMs < before) void session.close();
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
    isFull: () => sessions.size + opening >= maxSessions,

    /** Known under its id once the client's `initialize` was understood; otherwise closed again. */
    async open(who: Principal | undefined, serve: (session: HttpSession) => Promise<Response>): Promise<Response> {
      opening += 1;
      const connection = door.connect({ who });
      const server = door.createServer(connection);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, session),
      });
      const session: HttpSession = {
        transport,
        requests: createOpenRequests(),
        open: 0,
        who,
        usedAtMs: performance.now(),
        async close() {
          if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
          await server.close();
          door.release(connection);
        },
      };
      server.onclose = () => {
        if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
        door.release(connection);
      };
      try {
        await server.connect(transport);
        endCancelled(transport, session.requests);
        const response = await serve(session);
        if (transport.sessionId === undefined) await session.close();
        return response;
      } finally {
        opening -= 1;
      }
    },

    async close(): Promise<void> {
      clearInterval(timer);
      await Promise.allSettled([...sessions.values()].map((session) => session.close()));
    },
  };
}
