/**
 * The MCP sessions of revision 2025-11-25: each has a server, a transport and a connection. Several handlers share the
 * limit on their number, and a session that is not used for a while is closed.
 */
import { randomUUID } from 'node:crypto';
import type { Principal } from '../../../core/call/call.ts';
import { INVALID_REQUEST, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { ServerResponse } from 'node:http';
import { isObject } from '../../../core/values/json.ts';
import type { McpDoor } from '../mcp-door.ts';
import { refused, refuseExchange, writeResponse } from './http-exchange.ts';
import { createOpenRequests, endCancelledRequests, type OpenRequests } from './open-requests.ts';
import type { LimitedSession, SessionLimit } from './session-limit.ts';

export interface HttpSession extends LimitedSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly requests: OpenRequests;
  /** An exchange begins; call the returned function when it has ended. */
  began(method: string): () => void;
  usedAtMs: number;
}

export interface SessionSettings {
  readonly sessionLimit: SessionLimit;
  readonly sessionIdleMs: number;
}

export type HttpSessions = ReturnType<typeof createHttpSessions>;

export function createHttpSessions(door: McpDoor, { sessionLimit, sessionIdleMs }: SessionSettings) {
  const sessions = new Map<string, HttpSession>();
  const closeUnused = () => {
    const before = performance.now() - sessionIdleMs;
    for (const session of sessions.values())
      if (!session.isListening() && session.usedAtMs < before) void session.close();
  };
  const timer = setInterval(closeUnused, Math.max(50, Math.min(sessionIdleMs / 2, 30_000)));
  timer.unref();
  return {
    /** Undefined also for a session of another agent. */
    find(id: string, who: Principal | undefined): HttpSession | undefined {
      const found = sessions.get(id);
      const isTheirs = found?.who?.tenant === who?.tenant && found?.who?.agent === who?.agent;
      return isTheirs ? found : undefined;
    },
    size: () => sessions.size,

    /** Registered once `initialize` has succeeded; closed again if it does not. Null if the limit is reached. */
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
            // Without an open exchange nothing shows whether the client is still there.
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
        sessionLimit.release(session);
        door.release(connection);
      };
      if (!sessionLimit.admit(session)) {
        forget();
        return null;
      }
      server.onclose = forget;
      await server.connect(transport);
      endCancelledRequests(transport, session.requests);
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

/** The code that the SDK's transports use. */
const sessionNotFound = -32_001;
const idInUse = 'this id is in use: a request of this session that has it is not answered yet';

/** Serves one request of revision 2025-11-25: in its session, or `initialize`, which opens one. */
export async function serveInSession(
  sessions: HttpSessions,
  web: Request,
  value: unknown,
  who: Principal | undefined,
  response: ServerResponse,
): Promise<void> {
  const id = web.headers.get('mcp-session-id');
  const known = id === null ? undefined : sessions.find(id, who);
  const exchange = (session: HttpSession) => {
    if (!response.closed) response.on('close', session.began(web.method));
    return session.transport.handleRequest(web, { parsedBody: value });
  };
  if (known !== undefined) {
    // INVARIANT: no answer goes to another request than its own. The SDK finds the stream of an answer by the id alone.
    const arrived = known.requests.expect(value);
    if (arrived === null) return refuseExchange(response, 400, INVALID_REQUEST, idInUse);
    return writeResponse(await exchange(known).finally(arrived), response);
  }
  if (id !== null) return refuseExchange(response, 404, sessionNotFound, 'the session is not known: initialize anew');
  if (!isObject(value) || value['method'] !== 'initialize')
    return refuseExchange(response, 400, INVALID_REQUEST, 'the header Mcp-Session-Id is missing: initialize first');
  const answer = await sessions.open(who, exchange);
  if (answer === null)
    return refuseExchange(response, 503, refused, 'too many sessions are in use: close one, or try again later');
  await writeResponse(answer, response);
}
