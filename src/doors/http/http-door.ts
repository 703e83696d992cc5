/**
 * The door for everything that speaks HTTP: under /v1, and what machines ask beside it. Turns a request into a call and a reply into
 * a response, in the order in which a stranger may learn things. Must not decide anything about a call.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { whyUnknown } from '../../core/http/door-problems.ts';
import { internalError, refused } from '../../core/call/answer.ts';
import type { CallId } from '../../core/call/call.ts';
import type { Readiness } from '../../core/gates/facts.ts';
import { notReady as refusalOf, whileClosing } from '../../core/gates/ready.ts';
import { httpRoutes, type HttpRoute, type RouteName } from '../../core/http/http-routes.ts';
import { type Identity, may } from '../../core/call/identity.ts';
import { repeatedHeader } from '../../core/http/repeated-header.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { StoreUnreadable } from '../../shell/upkeep/lasting-reads.ts';
import { watchClient } from '../../shell/call/watch-client.ts';
import { type Answer, type Asked, refuse, reply } from './answer.ts';
import { approvalStream } from './approval-stream.ts';
import { auditStream } from './audit-stream.ts';
import { answerClientError } from './client-error.ts';
import { storeAway } from './call-routes.ts';
import { createEventStreams } from './event-streams.ts';
import { findRoute, isOurs, readQuery } from './find-route.ts';
import { handlers } from './handlers.ts';
import { whyNotIn } from './may-come-in.ts';
import { defaultHttpDoorOptions, type HttpDoorOptions, type HttpDoorParts, type Stranger } from './parts.ts';
import { hasBody, isJson, readBody } from './read-body.ts';
import { refuseInput, wrongInBody } from './refuse-input.ts';
import { createUnderWay } from './under-way.ts';
import { writeAnswer } from './write-answer.ts';

export interface HttpDoor {
  /** False if the path is not one of the door's; then nothing was done. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Answers, in the door's words, a request for a path that nobody has. */
  handleUnknown(request: IncomingMessage, response: ServerResponse): void;
  /** Answers, in the door's words, whatever on this server cannot be read as HTTP, at any of its doors. */
  guard(server: Server): void;
  /** Takes no new calls, lets those under way end and their answers be flushed, and ends the streams. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

type NotReady = Extract<Readiness, { ready: false }>;

export function createHttpDoor(parts: HttpDoorParts, options: Partial<HttpDoorOptions> = {}): HttpDoor {
  const settings = { ...defaultHttpDoorOptions, ...options };
  const streams = createEventStreams({ readAudit: auditStream, readApprovalEvents: approvalStream }, settings);
  const ending = new AbortController();
  const underWay = createUnderWay();
  let closing: Promise<void> | null = null;
  const readinessNow = (): Readiness => (closing === null ? parts.readiness() : whileClosing);

  /** What can be said before anybody is asked who they are. */
  function refuseAtOnce({ headers, rawHeaders }: IncomingMessage): Answer | null {
    const twice = repeatedHeader(rawHeaders);
    if (twice !== null) {
      const wrong = { path: `/headers/${twice}`, expected: 'sent once', got: null };
      return refuseInput(null, [wrong], parts);
    }
    const no = whyNotIn(headers, settings);
    return no === null ? null : { kind: 'problem', problem: no };
  }

  /** Null if there is nobody left to answer. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<Answer | null> {
    const { headers, method = '', url = '' } = request;
    const no = refuseAtOnce(request);
    if (no !== null) return no;
    const found = findRoute(method, url, settings.maxNameChars);
    const route: HttpRoute | null = found.kind === 'route' ? httpRoutes[found.name] : null;
    const readiness = readinessNow();
    if (!readiness.ready && route?.needs !== null) return notReady(readiness, parts);
    if (found.kind === 'no_path') return unknownPath();
    if (found.kind === 'no_method')
      return refuse('MethodNotAllowed', `use ${found.allow.join(' or ')}`, { allow: found.allow.join(', ') });
    invariant(route !== null, 'what was found is a route');

    const who = route.needs === null ? nobody : await parts.authenticate(headers);
    if ('problem' in who) return turnAway(who);
    if (route.needs !== null && parts.admit?.(request, who) === false)
      return refuse('TooManyConnections', 'too many connections of this holder of keys are open: close some', soon);
    if (route.needs !== null && route.needs !== 'key' && !may(who, route.needs))
      return refuse('RoleForbidden', `a key with the role '${who.role}' may not do that`);
    const { query, errors } = readQuery(found.search, route.query, settings.maxNameChars);
    if (errors.length > 0) return refuseInput(found.name, errors, parts);
    const body = await bodyOf(request, found.name, route);
    if (body === null || 'kind' in body) return body;
    underWay.arrived(response);
    const asked: Asked = {
      who,
      id: found.id,
      query,
      body: body.value,
      header: (name) => textIn(headers[name]),
      get client() {
        return watchClient(response);
      },
      get ended() {
        return AbortSignal.any([watchClient(response).left, ending.signal]);
      },
      readiness,
      parts,
    };
    if (found.name !== 'readAudit' && found.name !== 'readApprovalEvents') return handlers[found.name](asked);
    return streams.open(found.name, asked, async () => {
      const now = await parts.authenticate(headers);
      return 'problem' in now ? null : now;
    });
  }

  /** The body as it is to be used, or what is wrong with it. */
  async function bodyOf(
    request: IncomingMessage,
    name: RouteName,
    { body: schema }: HttpRoute,
  ): Promise<{ readonly value: unknown } | Answer | null> {
    if (schema === null) return { value: undefined };
    const present = hasBody(request);
    if (present && !isJson(request.headers['content-type']))
      return refuse('UnsupportedMediaType', 'send the body as application/json');
    const read = present ? await readBody(request, settings) : noBody;
    if (read.kind === 'broken') return null;
    if (read.kind === 'stalled') return refuse('RequestTimeout', 'send the whole body sooner', hangUp);
    if (read.kind === 'too_large') return tooLarge(name, settings.maxBodyBytes, parts);
    if (read.kind === 'not_json') return refuseInput(null, [{ path: '', expected: 'JSON in UTF-8', got: null }], parts);
    const value = read.kind === 'json' ? read.value : undefined;
    // Calls and steps are read by the gateway itself, whatever came.
    if (schema === 'CallRequest' || schema === 'StepRequest') return { value };
    const meant = value === undefined ? {} : value;
    const wrong = wrongInBody(meant, schema as Parameters<typeof wrongInBody>[1]);
    return wrong.length > 0 ? refuseInput(name, wrong, parts) : { value: meant };
  }

  async function serve(request: IncomingMessage, response: ServerResponse, give: typeof answer): Promise<void> {
    try {
      const made = await give(request, response);
      // Somebody who sent what is no HTTP has heard so already.
      if (made === null || response.destroyed || response.socket?.writableEnded === true) return;
      if (made.kind !== 'stream') return writeAnswer(made, response, closing !== null);
      if (request.method === 'HEAD') return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
      underWay.leave(response);
      await made.run(response);
    } catch (error) {
      if (error instanceof StoreUnreadable && !response.headersSent)
        return writeAnswer(storeAway(null, parts.newCallId()), response, false);
      const correlationId = randomUUID();
      const what = `a bug in the HTTP door (${correlationId})`;
      parts.notify({ kind: 'suppressed', what, reason: String(error) });
      if (response.headersSent) response.destroy();
      else writeAnswer(ownFault(correlationId, parts), response, true);
    }
  }

  const take = (request: IncomingMessage, response: ServerResponse, give: typeof answer) => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    underWay.enter(response);
    void serve(request, response, give);
  };

  return {
    handle(request, response) {
      if (!isOurs(request.url ?? '')) return false;
      take(request, response, answer);
      return true;
    },
    handleUnknown(request, response) {
      take(request, response, async (asked) => refuseAtOnce(asked) ?? unknownPath());
    },
    guard(server) {
      server.prependListener('request', (_request, response) => underWay.note(response));
      server.on('clientError', (error, socket) => answerClientError(error, socket, underWay.mayBeAnswered(socket)));
      // Nobody is asked for anything but the body that they announce.
      server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
    },
    close({ drainMs = settings.drainMs } = {}) {
      ending.abort();
      closing ??= Promise.all([underWay.ended(drainMs), within(streams.close(), drainMs)]).then(() => undefined);
      return closing;
    },
  };
}

const noBody = { kind: 'none' } as const;
/** Who asks where nobody is asked for a key. */
const nobody: Identity = { tenant: '', role: 'viewer', name: '', keyId: null };
const soon = { 'retry-after': '2' };
/** The rest of the body is not worth waiting for. */
const hangUp = { connection: 'close' };
const challenge = { 'www-authenticate': 'Bearer realm="recourse"' };

function turnAway({ problem }: Stranger): Answer {
  if (problem !== 'unavailable') return refuse('Unauthenticated', whyUnknown[problem], challenge);
  return refuse('KeysUnavailable', whyUnknown.unavailable, soon);
}

const unknownPath = (): Answer =>
  refuse('NoSuchPath', 'nothing is at this path; GET /v1/openapi.json lists what there is');

/** In the words that a call gets, so that a client needs no others for this. */
function notReady(readiness: NotReady, { newCallId }: HttpDoorParts): Answer {
  const envelope = { requested: null, callId: newCallId() as CallId, session: null, nextActions: [] };
  return reply(refused(envelope, refusalOf(readiness)));
}

function tooLarge(name: RouteName, maxBytes: number, parts: HttpDoorParts): Answer {
  const wrong = { path: '', expected: `a body of at most ${maxBytes} bytes`, got: null };
  const answer = refuseInput(name, [wrong], parts, 'InputTooLarge');
  return answer.kind === 'reply' ? { ...answer, headers: hangUp } : answer;
}

function ownFault(correlationId: string, { newCallId }: HttpDoorParts): Exclude<Answer, { kind: 'stream' }> {
  const envelope = { requested: null, callId: newCallId() as CallId, session: null, nextActions: [] };
  return { kind: 'reply', reply: internalError(envelope, correlationId, 'unknown') };
}

const textIn = (value: string | readonly string[] | undefined): string | undefined =>
  value === undefined || typeof value === 'string' ? value : value.join(', ');

async function within(work: Promise<void>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
