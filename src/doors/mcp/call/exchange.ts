/**
 * The request that carries a call, independent of the SDK: what the client can be asked, how it cancels or leaves, and
 * the answers it returned with.
 */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  SdkError,
  SdkErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { cut } from '../../../core/values/canonical.ts';
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import { spellOut } from '../../../core/values/quote.ts';
import type { Writes } from '../connection.ts';
import { writtenWhole } from '../http/http-exchange.ts';

export interface Exchange {
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The client's name for itself; not verified. */
  readonly client: string | null;
  /** The state that the client returned with; undefined for a new call. */
  readonly state: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
  /** Sends a question on the stream of the call; null where questions end the request instead. */
  readonly push: Push | null;
  /** Sends a progress notification; null unless the client asked for them. */
  readonly progress: ((told: Progress) => Promise<void>) | null;
  /** Calls `cancel` or `leave` when the client does so; the returned function stops it. */
  follow(cancel: () => void, leave: () => void): () => void;
  /** Whether the answer was written completely before the client left. Called once. */
  written(): Promise<boolean>;
  /** The result in the form of the client's revision. */
  project(result: CallToolResult, outputSchema: JsonObject | undefined): CallToolResult;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

interface Waits {
  readonly message: string;
  /** How long at most; absent if nobody knows. */
  readonly totalMs?: number;
}

/**
 * Every few seconds, how long it has been; also at once if the wait is known to be one. The returned function stops it.
 */
export function tellProgress({ message, totalMs }: Waits, { progress }: Exchange, everyMs: number): () => void {
  if (progress === null) return () => undefined;
  let told = 0;
  const tell = () => {
    const ms = Math.min(told * everyMs, totalMs ?? Infinity);
    told += 1;
    const total = totalMs === undefined ? {} : { total: totalMs / 1_000 };
    // Ignored: a client that is gone ends the wait by itself.
    progress({ progress: ms / 1_000, ...total, message: spellOut(message) }).catch(() => undefined);
  };
  if (totalMs === undefined) told = 1;
  else tell();
  const timer = setInterval(tell, everyMs);
  return () => clearInterval(timer);
}

/** A question of a running tool to the client. */
export interface Question {
  readonly key: string;
  readonly method: 'elicitation/create' | 'sampling/createMessage';
  readonly params: JsonObject;
}

export type Push = (method: Question['method'], params: JsonObject, options: PushOptions) => Promise<unknown>;

interface PushOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
}

/** The SDK requires a schema for the answer; we check the answer ourselves. */
const anyResult = {
  '~standard': { version: 1, vendor: 'recourse', validate: (value: unknown) => ({ value }) },
} as const;

export function exchangeOf(context: ServerContext, server: Server, writes: Writes): Exchange {
  const { mcpReq } = context;
  const envelope: Readonly<Record<string, unknown>> | undefined = mcpReq.envelope;
  const declared = envelope === undefined ? server.getClientCapabilities() : envelope[CLIENT_CAPABILITIES_META_KEY];
  const progressToken = mcpReq._meta?.['progressToken'];
  const push: Push = (method, params, options) => mcpReq.send({ method, params }, anyResult, options);
  return {
    capabilities: isObject(declared) ? declared : {},
    client: clientName(envelope === undefined ? server.getClientVersion() : envelope[CLIENT_INFO_META_KEY]),
    state: mcpReq.requestState(),
    responses: mcpReq.inputResponses ?? {},
    push: envelope === undefined ? push : null,
    async written() {
      const request = context.http?.req;
      const overHttp = request === undefined ? undefined : writtenWhole(request);
      // Since 2026-07-28 only closing the stream cancels; the SDK aborts the signal also when all is written.
      if (overHttp !== undefined && envelope !== undefined) return overHttp;
      // The SDK does not answer a cancelled request.
      return (await (overHttp ?? writes.expect(mcpReq.id))) && !mcpReq.signal.aborted;
    },
    progress:
      progressToken === undefined
        ? null
        : (told) => mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...told } }),
    follow(cancel, leave) {
      const { signal } = mcpReq;
      const connection = context.http?.req?.signal;
      // Since 2026-07-28 closing the stream cancels the call. Before, the client only leaves; it cancels with a
      // notification.
      const gone = envelope === undefined ? leave : cancel;
      const lost = () => (connection?.aborted === true ? gone() : leave());
      const stopped = () => (isConnectionLost(signal.reason) ? lost() : cancel());
      if (signal.aborted) stopped();
      if (connection?.aborted === true) gone();
      signal.addEventListener('abort', stopped, { once: true });
      connection?.addEventListener('abort', gone, { once: true });
      return () => {
        signal.removeEventListener('abort', stopped);
        connection?.removeEventListener('abort', gone);
      };
    },
    project: (result, outputSchema) =>
      envelope === undefined ? server.projectCallToolResult(result, outputSchema) : result,
  };
}

/** The SDK aborts with this error when the stream is lost, and with the client's reason when it cancels. */
function isConnectionLost(reason: unknown): boolean {
  return reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
}

const maxClientChars = 100;

export function clientName(info: unknown): string | null {
  if (!isObject(info) || typeof info['name'] !== 'string') return null;
  const version = typeof info['version'] === 'string' ? ` ${info['version']}` : '';
  return cut(spellOut(`${info['name']}${version}`), maxClientChars);
}
