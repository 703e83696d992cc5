/**
 * Serves both MCP revisions at one path of a node:http server: 2025-11-25 with sessions, 2026-07-28 without. Host,
 * Origin, key and size of the body are checked before anything is parsed as MCP.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  classifyInboundRequest,
  createMcpHandler,
  type InboundClassificationOutcome,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/call/call.ts';
import { isObject } from '../../../core/values/json.ts';
import { defaultLimits } from '../../../core/limits.ts';
import { repeatedHeader } from '../../../core/http/repeated-header.ts';
import { watchClient } from '../../../shell/call/requester.ts';
import { isJson, readBody } from '../../shared/read-body.ts';
import { parseMessage } from '../call/read-tool-call.ts';
import {
  refuseBody,
  refused,
  refuseExchange,
  refuseStranger,
  type Stranger,
  webRequest,
  writeResponse,
} from './http-exchange.ts';
import { isHeaderMismatch, subjectOf } from '../watch-gaps.ts';
import { createHttpSessions, serveInSession } from './http-sessions.ts';
import type { McpDoor } from '../mcp-door.ts';
import { createKnownEnvelopes, plainCall, servePlain } from './plain-call.ts';
import { createSessionLimit, type SessionLimit } from './session-limit.ts';
import { suppressed } from '../../../core/values/suppressed.ts';

export interface HttpHandlerOptions {
  readonly path: string;
  readonly maxBodyBytes: number;
  /** The longest pause in a body. */
  readonly bodyStallMs: number;
  readonly maxSessions: number;
  readonly maxSessionsPerAgent: number;
  /** Shared by several handlers; otherwise the handler makes its own from the two limits above. */
  readonly sessionLimit?: SessionLimit;
  readonly sessionIdleMs: number;
  /** Host names that clients may use, without ports. */
  readonly allowedHosts: readonly string[];
  /** Host names of allowed origins. */
  readonly allowedOrigins: readonly string[];
  /** Who asks. Without it every client is the principal that the door was opened for. */
  readonly authenticate?: (request: IncomingMessage) => Promise<Principal | Stranger>;
  /** Whether the agent may have this connection, by the limits. */
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
  /** The number of open MCP sessions. */
  sessions(): number;
  /** Notifies clients that the list of tools has changed. */
  toolsChanged(): void;
  /** Waits up to `drainMs` for open exchanges, then closes what is left. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const defaultDrainMs = 10_000;

export function createHttpHandler(door: McpDoor, options: Partial<HttpHandlerOptions> = {}): McpHttpHandler {
  const settings = { ...defaultHttpHandlerOptions, ...options };
  const { sessionLimit = createSessionLimit(settings), sessionIdleMs } = settings;
  const sessions = createHttpSessions(door, { sessionLimit, sessionIdleMs });
  const principals = new WeakMap<Request, Principal>();
  const connectFor = (who: Principal | undefined) => door.connect({ stateless: true, who });
  const principalOf = (request: Request | undefined) => (request === undefined ? undefined : principals.get(request));
  const modern = createMcpHandler(({ requestInfo }) => door.createServer(connectFor(principalOf(requestInfo))), {
    legacy: 'reject',
    maxRequestBodySize: settings.maxBodyBytes,
  });
  const envelopes = createKnownEnvelopes();
  const checkRequest = createRequestCheck(settings);
  const exchanges = new Set<Promise<void>>();
  let closing: Promise<void> | null = null;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = checkRequest(request, closing !== null);
    if (refusal !== null) return refuseExchange(response, refusal.status, refused, refusal.message);
    const who = await settings.authenticate?.(request);
    if (who !== undefined && 'problem' in who) return refuseStranger(response, who);
    if (who !== undefined && settings.admit?.(request, who) === false)
      return refuseExchange(response, 503, refused, 'too many connections of this agent are open: close some');
    const body = await readBody(request, settings, (bytes) => parseMessage(bytes.toString('utf8')));
    if (body.kind === 'broken') return void response.destroy();
    const isPost = request.method === 'POST';
    if (body.kind === 'too_large' || body.kind === 'stalled' || (isPost && body.kind !== 'json'))
      return refuseBody(response, body.kind, settings);
    const value = isPost && body.kind === 'json' ? body.value : undefined;
    await serveMessage(value, who, request, response);
  }

  async function serveMessage(
    value: unknown,
    who: Principal | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const known = envelopes.recognise(value, request);
    const outcome = known === null ? classify(request, value) : null;
    const plain = known ?? plainCall(outcome, request);
    if (plain !== null) {
      if (known === null) envelopes.remember(plain);
      return servePlain(plain, door, connectFor(who), response, () => closing !== null);
    }
    const asking = who ?? door.who;
    if (request.method === 'POST') door.gaps.look(value, asking);
    const web = webRequest(request, watchClient(response));
    if (outcome?.kind === 'legacy') return serveInSession(sessions, web, value, who, response);
    if (who !== undefined) principals.set(web, who);
    const answer = await modern.fetch(web, { parsedBody: value });
    if (await isHeaderMismatch(answer)) void door.gaps.report('header_mismatch', subjectOf(value), asking);
    const written = writeResponse(answer, response);
    // A stream on which the client only listens has no end to wait for.
    if (isObject(value) && value['method'] === 'subscriptions/listen')
      return void written.catch(() => response.destroy());
    await written;
  }

  return {
    handle(request, response) {
      response.on('error', () => undefined);
      const served = serve(request, response).catch((error: unknown) => {
        door.notify(suppressed('an exchange over HTTP', error));
        if (response.headersSent) response.destroy();
        else refuseExchange(response, 500, refused, 'the exchange failed');
      });
      // A stream on which the client only listens has no end to wait for.
      if (request.method === 'GET') return;
      exchanges.add(served);
      void served.then(() => exchanges.delete(served));
    },
    sessions: () => sessions.size(),
    toolsChanged() {
      door.toolsChanged();
      modern.notify.toolsChanged();
    },
    close({ drainMs = defaultDrainMs } = {}) {
      closing ??= (async () => {
        door.stopWaiting();
        await drain(exchanges, drainMs);
        await Promise.allSettled([modern.close(), sessions.close()]);
        door.close();
      })();
      return closing;
    },
  };
}

/** The revision of the request, and whether it follows its rules, as the SDK classifies it. */
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

interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** Pairs of Host and Origin that passed, so that they are not parsed for every request. */
const maxAllowed = 64;

function createRequestCheck(settings: HttpHandlerOptions) {
  const allowedHosts = [...settings.allowedHosts];
  const allowedOrigins = [...settings.allowedOrigins];
  const allowed = new Set<string>();

  function checkOrigin({ host, origin }: IncomingMessage['headers']): Refusal | null {
    // A header holds no line feed, so the pair is unambiguous.
    const names = `${host ?? ''}\n${origin ?? ''}`;
    if (allowed.has(names)) return null;
    if (!validateHostHeader(host, allowedHosts).ok)
      return { status: 403, message: 'the host is not allowed: call this server by one of its own names' };
    if (!validateOriginHeader(origin, allowedOrigins).ok)
      return { status: 403, message: 'pages of this origin may not call this server' };
    if (allowed.size >= maxAllowed) allowed.clear();
    allowed.add(names);
    return null;
  }

  return (request: IncomingMessage, isClosing: boolean): Refusal | null => {
    const { url, method, headers, rawHeaders } = request;
    const twice = repeatedHeader(rawHeaders);
    if (twice !== null) return { status: 400, message: `the header '${twice}' is there twice: send it once` };
    const refusal = checkOrigin(headers);
    if (refusal !== null) return refusal;
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

async function drain(exchanges: ReadonlySet<Promise<void>>, drainMs: number): Promise<void> {
  if (exchanges.size === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, drainMs);
  await Promise.race([Promise.allSettled(exchanges), promise]);
  clearTimeout(timer);
}
