/**
 * Tells an error in the words of a provider, where no provider is there to say it: before there is a call, and where
 * none has the operation. Pure.
 */
import type { JsonObject } from '../values/json.ts';

/** `both`: one object that the clients of either read. */
export type ErrorShape = 'openai' | 'anthropic' | 'both';

export interface ToldError {
  readonly status: number;
  readonly message: string;
  readonly code: string;
  /** What belongs to it besides, such as the members of a reply. */
  readonly members?: object;
  /** The id of the call or request; null if it has none. */
  readonly id: string | null;
}

export function providerError(shape: ErrorShape, { status, message, code, members, id }: ToldError): JsonObject {
  const error = { ...members, message, type: typeOf(shape, status), code } as JsonObject;
  if (shape === 'openai') return { error: { ...error, param: null } };
  return { type: 'error', error: shape === 'both' ? { ...error, param: null } : error, request_id: id };
}

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

const openaiTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

function typeOf(shape: ErrorShape, status: number): string {
  const known = (shape === 'openai' ? openaiTypes : types)[status];
  if (known !== undefined) return known;
  if (status < 500) return 'invalid_request_error';
  return shape === 'openai' ? 'server_error' : 'api_error';
}

const shapes: readonly (readonly [string, ErrorShape])[] = [
  ['/v1/chat', 'openai'],
  ['/v1/responses', 'openai'],
  ['/v1/completions', 'openai'],
  ['/v1/embeddings', 'openai'],
  ['/v1/messages', 'anthropic'],
  ['/v1/models', 'both'],
];

/** What a client of models expects of errors at this path; null at paths that are not theirs. */
export const errorShapeAt = (path: string): ErrorShape | null =>
  shapes.find(([at]) => path === at || path.startsWith(`${at}/`))?.[1] ?? null;
