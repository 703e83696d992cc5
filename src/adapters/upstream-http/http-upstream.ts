/**
 * Runs tools that are requests to one HTTP API; implements the port `Upstream`. One client for each egress list.
 * Never rejects, and never sends an attempt twice. Sets no timeouts for calls: the shell does.
 */
import { isObject, type JsonObject } from '../../core/values/json.ts';
import {
  type Attempt,
  type HearLate,
  isTimeout,
  keyOf,
  type Upstream,
  type UpstreamResult,
} from '../../ports/upstream.ts';
import type { HttpRequest } from '../shared/http/http-request.ts';
import { injectCredentials } from '../shared/http/inject-credentials.ts';
import { buildRequest } from './build-request.ts';
import { provesNothingDone, redirected } from './follow-redirects.ts';
import { secretsOf } from '../shared/http/hide-secrets.ts';
import { HttpConfigError, type HttpTarget, type HttpTool } from './http-config.ts';
import { defaultHttpLimits, type HttpLimits } from './http-limits.ts';
import { failed, interpretEnd, type Reading } from './interpret-end.ts';
import { createLateAnswers } from './late-answers.ts';
import { createClients } from '../shared/http/http-clients.ts';
import type { HttpClient, HttpEnd, Sending } from '../shared/http/send-request.ts';
import { type Destination, destinationOf } from '../../core/egress/destination.ts';
import type { Resolver } from '../../ports/resolver.ts';
import { systemResolver } from '../shared/node-resolver.ts';
import { stopped } from '../shared/http/stopped.ts';

export interface HttpUpstream {
  readonly upstream: Upstream;
  close(): Promise<void>;
}

export interface HttpUpstreamParts {
  readonly nowMs?: () => number;
  readonly resolver?: Resolver;
}

/** By the names that attempts have. Throws only for an address that cannot work. */
export function createHttpUpstream(
  target: HttpTarget,
  tools: ReadonlyMap<string, HttpTool>,
  { nowMs = Date.now, resolver = systemResolver }: HttpUpstreamParts = {},
): HttpUpstream {
  const limits: HttpLimits = { ...defaultHttpLimits, ...target.limits };
  const clients = createClients(limits, resolver, checkTarget(target));
  const lateAnswers = createLateAnswers(limits);
  const hide = secretsOf(target);
  let isClosed = false;

  async function invoke(attempt: Attempt, signal: AbortSignal, late?: HearLate): Promise<UpstreamResult> {
    const tool = tools.get(attempt.tool);
    if (tool === undefined) return failed('404_not_found', 'no tool has this name');
    if (isClosed) return failed('never_sent', 'the gateway is closing', { effect: 'none' });
    if (signal.aborted) return stopped(signal, false, target.name);
    const built = requestOf(target, tool, attempt);
    if (!built.ok) {
      const more = { subject: 'request', errorType: 'InputInvalid', effect: 'none' } as const;
      return failed('schema_validation', built.problem, more);
    }
    // INVARIANT: nothing is sent after this moment; by then another process may have taken the attempt over.
    const sendBy = performance.now() + Math.min(limits.maxSendDelayMs, attempt.timeoutMs / 2);
    const reading: Reading = { target, tool, limits, hide, nowMs };
    const until = performance.now() + attempt.timeoutMs;
    const mayGoOn = () => !signal.aborted && performance.now() < until;
    const request = injectCredentials(built.request, attempt.credentials ?? []);
    if (request === null) return failed('never_sent', 'its credential is not available', { effect: 'none' });
    const client = clients.of(attempt.egress ?? null);
    const exchange = follow(client, client.send(request, sendBy), request, mayGoOn);
    const aborted = new Promise<'aborted'>((resolve) =>
      signal.addEventListener('abort', () => resolve('aborted'), { once: true }),
    );
    const first = await Promise.race([exchange.end, aborted]);
    if (first !== 'aborted') return interpretEnd(first, reading);
    const wasSent = exchange.isSent();
    // A write whose time is over goes on: its answer ends the doubt. Closing the connection is how HTTP cancels.
    const isAwaited = late !== undefined && wasSent && tool.effectClass !== 'pure' && isTimeout(signal.reason);
    if (isAwaited) lateAnswers.listen(exchange, async (end) => late(await interpretEnd(end, reading)));
    else exchange.stop();
    return stopped(signal, wasSent, target.name);
  }

  /** The exchange of an attempt over all redirects that are followed while somebody waits for it. */
  function follow(client: HttpClient, first: Sending, request: HttpRequest, mayGoOn: () => boolean): Sending {
    let current = first;
    const end = async (): Promise<HttpEnd> => {
      let asked = request;
      let wasRefused = true;
      for (let hops = 0; ; hops++) {
        const ended = await current.end;
        if (ended.kind !== 'answered' || !mayGoOn() || hops >= limits.maxRedirects)
          return afterHops(ended, hops, wasRefused);
        const next = redirected(target, asked, ended);
        if (next === null) return ended;
        asked = next;
        wasRefused &&= provesNothingDone(ended.status);
        current = client.send(next, performance.now() + limits.maxSendDelayMs);
      }
    };
    return {
      end: end(),
      // A later request is a part of the same attempt.
      isSent: () => current !== first || first.isSent(),
      stop: () => current.stop(),
    };
  }

  return {
    upstream: {
      invoke: async (attempt, signal, late) => {
        try {
          return await invoke(attempt, signal, late);
        } catch (bug) {
          const cause = bug instanceof Error ? (bug.stack ?? bug.message) : String(bug);
          const more = { errorType: 'Unexpected', cause: hide(cause) };
          return failed('unknown', 'the request broke inside the gateway', more);
        }
      },
    },
    async close() {
      isClosed = true;
      lateAnswers.close();
      await clients.close();
    },
  };
}

/** INVARIANT: what a redirect led to may be unreachable, but the first server has had the request. */
function afterHops(ended: HttpEnd, hops: number, wasRefused: boolean): HttpEnd {
  if (hops > 0 && ended.kind === 'denied') return { ...ended, after: wasRefused ? 'refusals' : 'redirects' };
  if (ended.kind !== 'unsent' || hops === 0) return ended;
  return { kind: 'lost', how: 'closed', cause: `after a redirect: ${ended.cause}` };
}

function requestOf(target: HttpTarget, tool: HttpTool, attempt: Attempt) {
  const { args } = attempt;
  if (args !== null && !isObject(args))
    return { ok: false, problem: 'the arguments of an HTTP tool are an object' } as const;
  const key = tool.effectClass === 'pure' ? null : keyOf(attempt);
  return buildRequest(target, tool.plan, (args ?? {}) as JsonObject, key);
}

function checkTarget({ name, url, headers }: HttpTarget): Destination {
  const destination = destinationOf(url);
  if (destination === null)
    throw new HttpConfigError(name, 'its url is no http or https address', 'write the whole address');
  try {
    new Headers(headers);
  } catch {
    throw new HttpConfigError(name, 'one of its headers cannot be sent', 'use plain names and one line for each value');
  }
  return destination;
}
