/**
 * The HTTP door: the API under /v1, and health, readiness and metrics beside it. Turns a request into a call and a
 * reply into a response. Decides nothing about a call.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { internalError } from '../../core/call/answer.ts';
import type { CallId } from '../../core/call/call.ts';
import type { Readiness } from '../../core/gates/facts.ts';
import { errorShapeAt } from '../../core/model/provider-error.ts';
import { whileClosing } from '../../core/gates/ready.ts';
import { StoreUnreadable } from '../../shell/upkeep/guard-ports.ts';
import { watchClient } from '../../shell/call/requester.ts';
import type { Answer, Asked, Written } from './answer.ts';
import { storeUnavailable } from './call-routes.ts';
import { identify } from './console/identify.ts';
import { createEventStreams, type StreamRoute } from './event-streams.ts';
import type { RouteName } from '../../core/http/http-routes.ts';
import { isOurs, pathOf } from './find-route.ts';
import { handlers } from './handlers.ts';
import { asProviderError } from './models/write-error.ts';
import { createOpenExchanges } from './open-exchanges.ts';
import { defaultHttpDoorOptions, type HttpDoorOptions, type HttpDoorParts } from './parts.ts';
import { readIdentity, readInput, readRoute, refuseHeaders, unknownPath } from './read-request.ts';
import { approvalStream, auditStream, callStream } from './stream-sources.ts';
import { answerClientError, writeAnswer } from './write-answer.ts';
import { suppressed } from '../../core/values/suppressed.ts';

export interface HttpDoor {
  /** False if the path does not belong to this door; then nothing was done. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Answers a request for a path that belongs to no door. */
  handleUnknown(request: IncomingMessage, response: ServerResponse): void;
  /** Answers whatever on this server cannot be parsed as HTTP, for all of its doors. */
  guard(server: Server): void;
  /** Takes no new calls, lets open exchanges end and their answers be flushed, and ends the streams. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const sources = { readAudit: auditStream, readApprovalEvents: approvalStream, readCallEvents: callStream };
const isStream = (name: RouteName): name is StreamRoute => Object.hasOwn(sources, name);

export function createHttpDoor(parts: HttpDoorParts, options: Partial<HttpDoorOptions> = {}): HttpDoor {
  const settings = { ...defaultHttpDoorOptions, ...options };
  const streams = createEventStreams(sources, settings);
  const ending = new AbortController();
  const exchanges = createOpenExchanges();
  let closing: Promise<void> | null = null;

  /** Null if the client is gone. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<Answer | null> {
    const { headers } = request;
    const refusal = refuseHeaders(request, parts, settings);
    if (refusal !== null) return refusal;
    const readiness: Readiness = closing === null ? parts.readiness() : whileClosing;
    const routed = readRoute(request, readiness, parts, settings);
    if ('kind' in routed) return routed;
    const who = await readIdentity(request, routed.route, parts);
    if ('kind' in who) return who;
    const input = await readInput(request, routed, parts, settings);
    if (input === null || 'kind' in input) return input;
    exchanges.arrived(response);
    const { name, id } = routed;
    const asked: Asked = {
      who,
      id,
      ...input,
      header: (field) => textIn(headers[field]),
      headers,
      get client() {
        return watchClient(response);
      },
      get ended() {
        return AbortSignal.any([watchClient(response).left, ending.signal]);
      },
      readiness,
      settings,
      parts,
    };
    if (!isStream(name)) return handlers[name](asked);
    return streams.open(name, asked, async () => {
      const now = await identify(request, false, parts);
      return typeof now === 'string' || 'problem' in now ? null : now;
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse, give: typeof answer): Promise<void> {
    const shape = errorShapeAt(pathOf(request.url ?? ''));
    const say = (made: Written, isClosing = closing !== null): void =>
      writeAnswer(shape === null ? made : asProviderError(made, shape), response, isClosing);
    try {
      const made = await give(request, response);
      // A client that sent something other than HTTP has its answer already.
      if (made === null || response.destroyed || response.socket?.writableEnded === true) return;
      if (made.kind !== 'stream') return say(made);
      if (request.method === 'HEAD') return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
      if (made.drains !== true) exchanges.leave(response);
      const told = await made.run(response);
      if (told !== undefined && !response.destroyed) say(told);
    } catch (error) {
      if (error instanceof StoreUnreadable && !response.headersSent)
        return say(storeUnavailable(null, parts.newCallId()), false);
      const correlationId = randomUUID();
      const what = `a bug in the HTTP door (${correlationId})`;
      parts.notify(suppressed(what, error));
      if (response.headersSent) response.destroy();
      else say(ownFault(correlationId, parts), true);
    }
  }

  const take = (request: IncomingMessage, response: ServerResponse, give: typeof answer) => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    exchanges.enter(response);
    void serve(request, response, give);
  };

  return {
    handle(request, response) {
      if (!isOurs(request.url ?? '')) return false;
      take(request, response, answer);
      return true;
    },
    handleUnknown(request, response) {
      take(request, response, async (asked) => refuseHeaders(asked, parts, settings) ?? unknownPath());
    },
    guard(server) {
      server.prependListener('request', (_request, response) => exchanges.note(response));
      server.on('clientError', (error, socket) => answerClientError(error, socket, exchanges.mayBeAnswered(socket)));
      // Any other Expect header than 100-continue is ignored.
      server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
    },
    close({ drainMs = settings.drainMs } = {}) {
      ending.abort();
      closing ??= Promise.all([exchanges.ended(drainMs), within(streams.close(), drainMs)]).then(() => undefined);
      return closing;
    },
  };
}

function ownFault(correlationId: string, { newCallId }: HttpDoorParts): Written {
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
