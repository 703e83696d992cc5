/**
 * Asks the models of one provider; implements the port `Upstream` for every kind of provider. Never rejects, never sends
 * an attempt twice, follows no redirect. Sets no timeouts for calls: the shell does.
 */
import { type Destination, destinationOf } from '../../core/egress/destination.ts';
import { meteredBy } from '../../core/model/describe-use.ts';
import type { ModelProvider } from '../../core/model/model-provider.ts';
import type { ModelOperation } from '../../core/model/protocol.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import type { CredentialHandle } from '../../ports/credentials.ts';
import type { Resolver } from '../../ports/resolver.ts';
import { type Attempt, type Upstream, type UpstreamResult } from '../../ports/upstream.ts';
import { secretsOf } from '../shared/http/hide-secrets.ts';
import { createClients } from '../shared/http/http-clients.ts';
import { injectCredentials } from '../shared/http/inject-credentials.ts';
import type { HttpHead, Sending } from '../shared/http/send-request.ts';
import { systemResolver } from '../shared/node-resolver.ts';
import { buildModelRequest } from './build-request.ts';
import { failed, interpretHttpEnd, interpretStreamEnd, type Reading } from './interpret-answer.ts';
import { type Listed, listModels } from './list-models.ts';
import { StreamedAnswer } from './streamed-answer.ts';
import { defaultWireLimits, type WireLimits } from './wire-limits.ts';
import { stopped } from '../shared/http/stopped.ts';

export interface ModelUpstream {
  readonly upstream: Upstream;
  /** What the provider says of its models; null if its protocol has no list. */
  list(credentials: readonly CredentialHandle[], signal: AbortSignal): Promise<Listed | null>;
  close(): Promise<void>;
}

export interface ModelUpstreamParts {
  readonly nowMs?: () => number;
  readonly resolver?: Resolver;
  readonly limits?: Partial<WireLimits>;
}

/** Throws only for an address that cannot work, which `check` reports. */
export function createModelUpstream(
  provider: ModelProvider,
  { nowMs = Date.now, resolver = systemResolver, limits: given = {} }: ModelUpstreamParts = {},
): ModelUpstream {
  const limits: WireLimits = { ...defaultWireLimits, ...given, ...provider.limits };
  const clients = createClients(limits, resolver, placeOf(provider));
  const hide = secretsOf(provider);
  let isClosed = false;

  async function invoke(attempt: Attempt, signal: AbortSignal): Promise<UpstreamResult> {
    const operation = operationOf(attempt.tool, provider);
    if (operation === null) return failed('404_not_found', 'no tool has this name');
    if (isClosed) return failed('never_sent', 'the gateway is closing', { effect: 'none' });
    if (signal.aborted) return stopped(signal, false, provider.name);
    const { args } = attempt;
    if (!isObject(args)) return failed('schema_validation', 'the arguments are a request to a model', asInput);
    const asked = args as JsonObject;
    const built = buildModelRequest(provider, operation, { callId: attempt.callId, args: asked });
    const request = injectCredentials(built, attempt.credentials ?? []);
    if (request === null) return failed('never_sent', 'its credential is not available', { effect: 'none' });
    let streamed: StreamedAnswer | undefined;
    // INVARIANT: nothing is sent after this moment; by then another process may have taken the attempt over.
    const sendBy = performance.now() + Math.min(limits.maxSendDelayMs, attempt.timeoutMs / 2);
    const begun = Promise.withResolvers<StreamedAnswer>();
    const sending = clients.of(attempt.egress ?? null).send(request, sendBy, (head) => {
      if (!operation.needs(asked).streaming || !isStream(head)) return null;
      streamed = new StreamedAnswer({ reader: operation.read(asked), relay: attempt.relay, hide, limits });
      begun.resolve(streamed);
      return streamed.take;
    });
    const streamEnd = begun.promise.then((answer) => answer.ended).then(() => 'stream_ended' as const);
    const first = await Promise.race([sending.end, streamEnd, abortOf(signal)]);
    const metered = meteredBy(operation, provider.declared, () => new Map());
    const reading: Reading = { name: provider.name, operation, metered, args: asked, streamed, limits, hide, nowMs };
    // A stream that has ended says more than its connection.
    const end = streamed?.end ?? null;
    if (streamed !== undefined && end !== null) {
      if (end.kind === 'done') await lingers(sending, limits.lingerMs);
      sending.stop();
      return interpretStreamEnd(end, streamed, reading);
    }
    if (typeof first === 'object') return interpretHttpEnd(first, reading);
    const wasSent = sending.isSent();
    sending.stop();
    return stopped(signal, wasSent, provider.name);
  }

  return {
    upstream: {
      invoke: async (attempt, signal) => {
        try {
          return await invoke(attempt, signal);
        } catch (bug) {
          const cause = bug instanceof Error ? (bug.stack ?? bug.message) : String(bug);
          const more = { errorType: 'Unexpected', cause: hide(cause) };
          return failed('unknown', 'the request broke inside the gateway', more);
        }
      },
    },
    list: (credentials, signal) =>
      listModels(provider, credentials, { client: clients.of(null), hide, limits }, signal),
    async close() {
      isClosed = true;
      await clients.close();
    },
  };
}

const asInput = { subject: 'request', errorType: 'InputInvalid', effect: 'none' } as const;

function operationOf(tool: string, { name, protocol }: ModelProvider): ModelOperation | null {
  const asked = tool.startsWith(`${name}/`) ? tool.slice(name.length + 1) : '';
  return Object.hasOwn(protocol.operations, asked) ? (protocol.operations[asked] ?? null) : null;
}

const isStream = ({ status, headers }: HttpHead): boolean =>
  status === 200 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '');

const abortOf = (signal: AbortSignal): Promise<'aborted'> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted'), { once: true }));

/** A connection that ends by itself is kept for the next request. */
async function lingers(sending: Sending, lingerMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, lingerMs)));
  await Promise.race([sending.end, over]);
  clearTimeout(timer);
}

function placeOf({ name, url }: ModelProvider): Destination {
  const place = destinationOf(url);
  if (place === null) throw new Error(`provider '${name}': its url is no http or https address`);
  return place;
}
