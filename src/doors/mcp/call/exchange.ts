/**
 * What a call needs of the request that carries it, and nothing of the SDK behind it: who can be asked, how the client
 * cancels or goes away, and what it came back with. Must not know what is called.
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
  /** What the client calls itself; nobody has checked it. */
  readonly client: string | null;
  /** What the client returned with after we had asked it something; undefined the first time. */
  readonly state: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
  /** Sends a question on the stream of the call; null where the request ends with the questions instead. */
  readonly push: Push | null;
  /** Tells the client, on the stream of the call, how far it is; null unless the client asked for that and it can be done. */
  readonly progress: ((told: Progress) => Promise<void>) | null;
  /** Calls `cancel` or `leave` should the client do so; the function that is returned stops that. */
  follow(cancel: () => void, leave: () => void): () => void;
  /** Whether the answer was written to the last byte while the client was there. Asked for once. */
  written(): Promise<boolean>;
  /** The result in the words of the client's revision. */
  project(result: CallToolResult, outputSchema: JsonObject | undefined): CallToolResult;
}

export interface Progress {
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}

/** What a running body asks its agent's client. */
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

/** The SDK wants a schema for the answer; we judge the answer ourselves. */
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
      const written = (request === undefined ? undefined : writtenWhole(request)) ?? writes.expect(mcpReq.id);
      // What its client cancelled meanwhile the SDK does not answer.
      return (await written) && !mcpReq.signal.aborted;
    },
    progress:
      progressToken === undefined
        ? null
        : (told) => mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...told } }),
    follow(cancel, leave) {
      const { signal } = mcpReq;
      const connection = context.http?.req?.signal;
      // Since 2026-07-28 a client cancels by closing the stream. Before, it only leaves by that, and has a word for the other.
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

/** The SDK aborts with this error when the stream is gone, and with the client's own words when the client cancels. */
function isConnectionLost(reason: unknown): boolean {
  return reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
}

const maxClientChars = 100;

export function clientName(info: unknown): string | null {
  if (!isObject(info) || typeof info['name'] !== 'string') return null;
  const version = typeof info['version'] === 'string' ? ` ${info['version']}` : '';
  return cut(spellOut(`${info['name']}${version}`), maxClientChars);
}
