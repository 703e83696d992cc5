/**
 * Serves both revisions at one address of a node:http server: 2025-11-25 with sessions, 2026-07-28 without. Whoever may
 * not come in (another host, another origin, too large a body) is refused before anything is read as MCP.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  classifyInboundRequest,
  createMcpHandler,
  type InboundClassificationOutcome,
  INVALID_REQUEST,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  ProtocolError,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/call/call.ts';
import { isObject } from '../../../core/values/json.ts';
import { defaultLimits } from '../../../core/limits.ts';
import { repeatedHeader } from '../../../core/http/repeated-header.ts';
import { watchClient } from '../../../shell/call/watch-client.ts';
import {
  readBody,
  refuseBody,
  refused,
  refuseExchange,
  refuseStranger,
  type Stranger,
  webRequest,
  writeResponse,
} from './http-exchange.ts';
import { aboutMessage, isMismatch } from './http-gaps.ts';
import { createHttpSessions, type HttpSession } from './http-sessions.ts';
import type { McpDoor } from '../mcp-door.ts';
import { createKnownEnvelopes, endPlain, type PlainCall, plainCall, plainExchange, writePlain } from './plain-call.ts';
import { createSessionRoom, type SessionRoom } from './session-room.ts';

export interface HttpHandlerOptions {
  readonly path: string;
  readonly maxBodyBytes: number;
  /** A pause in a body that is longer ends the exchange. */
  readonly bodyStallMs: number;
  readonly maxSessions: number;
  readonly maxSessionsPerAgent: number;
  /** Where several handlers share one; otherwise it has a room of its own, with those limits. */
  readonly room?: SessionRoom;
  readonly sessionIdleMs: number;
  /** Names of the host by which clients may call us, without ports. */
  readonly allowedHosts: readonly string[];
  /** Names of hosts whose pages may call us. */
  readonly allowedOrigins: readonly string[];
  /** Who asks. Without it everybody is whom the door was opened for. */
  readonly authenticate?: (request: IncomingMessage) => Promise<Principal | Stranger>;
  /** Whether there is room for this connection of an agent who is known. */
  readonly admit?: (request: IncomingMessage, who: Principal) => boolean;
}

export const defaultHttpHandlerOptions: HttpHandlerOptions = {
  path: '/mcp',
  maxBodyBytes: 4 << 20,
  bodyStallMs: defaultLimits.bodyStallMs,
  maxSessions: defaultLimits.maxMcpSessions,
  maxSessionsPerAgent: defaultLimits.maxMcpSessionsPerAgent,
  sessionIdleMs: 30 * 60_000,
  allowedHosts: localhostAllowedHostnames(),
  allowedOrigins: localhostAllowedOrigins(),
};

export interface McpHttpHandler {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** MCP sessions that are open. */
  sessions(): number;
  /** Tells whoever listens that there are other tools. */
  toolsChanged(): void;
  /** Lets exchanges under way end, for as long as `drainMs`, then closes what is left. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** The code that the SDK's transports use for the same. */
const sessionNotFound = -32_001;
const defaultDrainMs = 10_000;
const idInUse = 'this id is in use: a request of this session that has it is not answered yet';

export function createHttpHandler(door: McpDoor, options: Partial<HttpHandlerOptions> = {}): McpHttpHandler {
  const settings = { ...defaultHttpHandlerOptions, ...options };
  const { room = createSessionRoom(settings), sessionIdleMs } = settings;
  const sessions = createHttpSessions(door, { room, sessionIdleMs });
  const askers = new WeakMap<Request, Principal>();
  const connectFor = (who: Principal | undefined) => door.connect({ stateless: true, who });
  const asker = (request: Request | undefined) => (request === undefined ? undefined : askers.get(request));
  const modern = createMcpHandler(({ requestInfo }) => door.createServer(connectFor(asker(requestInfo))), {
    legacy: 'reject',
    maxRequestBodySize: settings.maxBodyBytes,
  });
  const envelopes = createKnownEnvelopes();
  const whyNot = createDoorkeeper(settings);
  const underWay = new Set<Promise<void>>();
  let closing: Promise<void> | null = null;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const no = whyNot(request, closing !== null);
    if (no !== null) return refuseExchange(response, no.status, refused, no.message);
    const who = await settings.authenticate?.(request);
    if (who !== undefined && 'problem' in who) return refuseStranger(response, who);
    if (who !== undefined && settings.admit?.(request, who) === false)
      return refuseExchange(response, 503, refused, 'too many connections of this agent are open: close some');
    const body = await readBody(request, settings);
    if (body.kind === 'broken') return void response.destroy();
    const isPost = request.method === 'POST';
    if (body.kind === 'too_large' || body.kind === 'stalled' || (isPost && body.kind !== 'json'))
      return refuseBody(response, body.kind, settings);
    const value = isPost && body.kind === 'json' ? body.value : undefined;
    const known = envelopes.recognise(value, request);
    if (known !== null) return servePlain(known, who, response);
    const outcome = classify(request, value);
    const plain = plainCall(outcome, request);
    if (plain !== null) {
      envelopes.remember(plain);
      return servePlain(plain, who, response);
    }
    const asking = who ?? door.who;
    if (isPost) door.gaps.look(value, asking);
    const web = webRequest(request, watchClient(response));
    if (outcome.kind === 'legacy') return serveLegacy(web, value, who, response);
    if (who !== undefined) askers.set(web, who);
    const answer = await modern.fetch(web, { parsedBody: value });
    if (await isMismatch(answer)) void door.gaps.report('header_mismatch', aboutMessage(value), asking);
    const written = writeResponse(answer, response);
    // A stream that the client only listens on has no end to wait for.
    if (isObject(value) && value['method'] === 'subscriptions/listen')
      return void written.catch(() => response.destroy());
    await written;
  }

  async function servePlain(call: PlainCall, who: Principal | undefined, response: ServerResponse): Promise<void> {
    try {
      const exchange = plainExchange(call, response, () => closing !== null);
      const result = await door.call(call.params, exchange, connectFor(who));
      if (!response.destroyed) writePlain(call.id, result, door.info, response);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const { code, message } = error;
      endPlain(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: call.id }), response);
    }
  }

  async function serveLegacy(
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

  return {
    handle(request, response) {
      response.on('error', () => undefined);
      const served = serve(request, response).catch((error: unknown) => {
        door.notify({ kind: 'suppressed', what: 'an exchange over HTTP', reason: String(error) });
        if (response.headersSent) response.destroy();
        else refuseExchange(response, 500, refused, 'the exchange failed');
      });
      // A stream that the client only listens on has no end to wait for.
      if (request.method === 'GET') return;
      underWay.add(served);
      void served.then(() => underWay.delete(served));
    },
    sessions: () => sessions.size(),
    toolsChanged() {
      door.toolsChanged();
      modern.notify.toolsChanged();
    },
    close({ drainMs = defaultDrainMs } = {}) {
      closing ??= (async () => {
        door.stopWaiting();
        await settled(underWay, drainMs);
        await Promise.allSettled([modern.close(), sessions.close()]);
        door.close();
      })();
      return closing;
    },
  };
}

/** Which revision is spoken, and whether by its rules: the SDK's own judgement, which is pure. */
function classify({ method, headers }: IncomingMessage, body: unknown): InboundClassificationOutcome {
  const header = (name: string) => {
    const value = headers[name];
    return value === undefined ? undefined : String(value);
  };
  const [version, ofMethod, ofName] = ['mcp-protocol-version', 'mcp-method', 'mcp-name'].map(header);
  return classifyInboundRequest({
    httpMethod: method ?? 'GET',
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    ...(ofMethod === undefined ? {} : { mcpMethodHeader: ofMethod }),
    ...(ofName === undefined ? {} : { mcpNameHeader: ofName }),
    ...(body === undefined ? {} : { body }),
  });
}

interface No {
  readonly status: number;
  readonly message: string;
}

/** Hosts and origins that were let in, so that the same names are not taken apart for every request. */
const maxWelcome = 64;

function createDoorkeeper(settings: HttpHandlerOptions) {
  const allowedHosts = [...settings.allowedHosts];
  const allowedOrigins = [...settings.allowedOrigins];
  const welcome = new Set<string>();

  function stranger({ host, origin }: IncomingMessage['headers']): No | null {
    // No header holds a line's end, so two names never read as two others.
    const names = `${host ?? ''}\n${origin ?? ''}`;
    if (welcome.has(names)) return null;
    if (!validateHostHeader(host, allowedHosts).ok)
      return { status: 403, message: 'the host is not allowed: call this server by one of its own names' };
    if (!validateOriginHeader(origin, allowedOrigins).ok)
      return { status: 403, message: 'pages of this origin may not call this server' };
    if (welcome.size >= maxWelcome) welcome.clear();
    welcome.add(names);
    return null;
  }

  return (request: IncomingMessage, isClosing: boolean): No | null => {
    const { url, method, headers, rawHeaders } = request;
    const twice = repeatedHeader(rawHeaders);
    if (twice !== null) return { status: 400, message: `the header '${twice}' is there twice: send it once` };
    const no = stranger(headers);
    if (no !== null) return no;
    if (url !== settings.path && url?.split('?')[0] !== settings.path)
      return { status: 404, message: `MCP is served at ${settings.path}` };
    if (isClosing) return { status: 503, message: 'the server is closing' };
    if (method !== 'POST' && method !== 'GET' && method !== 'DELETE')
      return { status: 405, message: 'use GET, POST or DELETE' };
    if (method === 'POST' && !isJson(headers['content-type']))
      return { status: 415, message: 'the content type must be application/json' };
    return null;
  };
}

function isJson(contentType: string | undefined): boolean {
  return /^\s*application\/json\s*(;|$)/i.test(contentType ?? '');
}

async function settled(underWay: ReadonlySet<Promise<void>>, drainMs: number): Promise<void> {
  if (underWay.size === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, drainMs);
  await Promise.race([Promise.allSettled(underWay), promise]);
  clearTimeout(timer);
}
