/**
 * What OpenAI, and servers that are compatible with it, mean by an answer that is no success: by status, `type` and
 * `code`, never by words. And our refusals in the same form.
 */
import type {
  ErrorKind,
  ErrorReply,
  Json,
  JsonObject,
  ProviderAnswer,
  ProviderFailure,
} from '../../extension/index.ts';
import { objectOf, textOf } from '../shared/read-json.ts';
import { type Meaning, meaningOfStatus, overloaded, quota } from '../shared/status-kinds.ts';

const refused: Meaning = { kind: '400_invalid', subject: 'content_refused' };
const tooLong: Meaning = { kind: '400_invalid', subject: 'context_window' };

/** Codes, and types, that say more than the status does. */
const meanings: Readonly<Record<string, Meaning>> = {
  context_length_exceeded: tooLong,
  content_filter: refused,
  content_policy_violation: refused,
  image_content_policy_violation: refused,
  bio_policy: refused,
  misalignment_policy_violation: refused,
  insufficient_quota: quota,
  billing_hard_limit_reached: quota,
  billing_not_active: quota,
  server_overloaded: overloaded,
  overloaded_error: overloaded,
};

/** Where no status tells: an error within a stream. */
const kindsOfCodes: Readonly<Record<string, ErrorKind>> = {
  rate_limit_exceeded: '429',
  server_error: '5xx',
  invalid_request_error: '400_invalid',
  invalid_prompt: '400_invalid',
  model_not_found: '404_not_found',
  invalid_api_key: '401_unauthenticated',
};

const meaningOf = (codes: readonly (string | null)[]): Meaning | null => {
  for (const code of codes) if (code !== null && Object.hasOwn(meanings, code)) return meanings[code] ?? null;
  return null;
};

interface Said {
  readonly type: string | null;
  readonly code: string | null;
  readonly message: string | null;
}

/** `{ error: { message, type, code } }`; old servers write the same without `error`, or a text in its place. */
function saidIn(body: Json): Said {
  const fields = objectOf(body);
  const inner = objectOf(fields['error']);
  const [type, code] = [textOf(inner['type'] ?? fields['type']), textOf(inner['code'] ?? fields['code'])];
  return { type, code, message: textOf(inner['message']) ?? textOf(fields['error']) ?? textOf(fields['message']) };
}

export function readOpenaiError({ status, body }: ProviderAnswer): ProviderFailure {
  const said = saidIn(body);
  return {
    ...(meaningOf([said.code, said.type]) ?? meaningOfStatus(status)),
    code: null,
    errorType: said.code ?? said.type ?? `Http${status}`,
    message: said.message ?? `HTTP status ${status}`,
  };
}

/** An error that comes within a stream, after the status was 200. */
export function readStreamError(error: Json): ProviderFailure {
  const said = saidIn({ error });
  const known = [said.code, said.type].find((each) => each !== null && Object.hasOwn(kindsOfCodes, each)) ?? '';
  const meaning = meaningOf([said.code, said.type]) ?? { kind: kindsOfCodes[known] ?? '5xx', subject: null };
  const errorType = said.code ?? said.type ?? 'error';
  return { ...meaning, code: null, errorType, message: said.message ?? 'the provider said that it failed' };
}

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
};

export const typeOfStatus = (status: number): string =>
  types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');

/** Our reply, whole, with what clients of OpenAI read beside it. */
export function errorObject(reply: ErrorReply, status: number): JsonObject {
  const { message, code } = reply;
  return { ...asJson(reply), message, type: typeOfStatus(status), param: null, code };
}

export const asJson = (reply: ErrorReply): JsonObject => JSON.parse(JSON.stringify(reply)) as JsonObject;
