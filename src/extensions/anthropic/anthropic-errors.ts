/**
 * What Anthropic means by an answer that is no success: by status, `type` and `error_code`, never by words. And our
 * refusals in the same form. It has no code for a prompt that is too long: that is an invalid request like any other.
 */
import type { ErrorReply, Json, JsonObject, ProviderAnswer, ProviderFailure } from '../../extension/index.ts';
import { objectOf, textOf } from '../shared/read-json.ts';
import { type Meaning, meaningOfStatus, overloaded, quota } from '../shared/status-kinds.ts';

/** Within a stream there is no status. */
const meanings: Readonly<Record<string, Meaning>> = {
  invalid_request_error: { kind: '400_invalid', subject: null },
  request_too_large: { kind: '400_invalid', subject: null },
  authentication_error: { kind: '401_unauthenticated', subject: null },
  billing_error: quota,
  permission_error: { kind: '403_forbidden', subject: null },
  not_found_error: { kind: '404_not_found', subject: null },
  rate_limit_error: { kind: '429', subject: null },
  api_error: { kind: '5xx', subject: null },
  timeout_error: { kind: '5xx', subject: null },
  overloaded_error: overloaded,
};

/** Limits that end with a payment or a decision, not with a pause. */
const spent: ReadonlySet<string> = new Set([
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'linked_organization_spend_limit_reached',
  'linked_organization_billing_unavailable',
  'organization_on_hold',
]);

interface Said {
  readonly type: string | null;
  readonly code: string | null;
  readonly message: string | null;
}

function saidIn(body: Json): Said {
  const error = objectOf(objectOf(body)['error']);
  const code = textOf(objectOf(error['details'])['error_code']);
  return { type: textOf(error['type']), code, message: textOf(error['message']) };
}

const meaningOfCodes = ({ type, code }: Said): Meaning | null => {
  if (code !== null && spent.has(code)) return quota;
  return type === 'billing_error' || type === 'overloaded_error' ? (meanings[type] ?? null) : null;
};

export function readAnthropicError({ status, body }: ProviderAnswer): ProviderFailure {
  const said = saidIn(body);
  return {
    ...(meaningOfCodes(said) ?? meaningOfStatus(status)),
    code: null,
    errorType: said.code ?? said.type ?? `Http${status}`,
    message: said.message ?? `HTTP status ${status}`,
  };
}

export function readStreamError(event: Json): ProviderFailure {
  const said = saidIn(event);
  const byType = said.type !== null && Object.hasOwn(meanings, said.type) ? meanings[said.type] : undefined;
  return {
    ...(meaningOfCodes(said) ?? byType ?? { kind: '5xx', subject: null }),
    code: null,
    errorType: said.code ?? said.type ?? 'error',
    message: said.message ?? 'the provider said that it failed',
  };
}

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const typeOfStatus = (status: number): string =>
  types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');

/** Our reply, whole, with what clients of Anthropic read beside it. */
export function sayError(reply: ErrorReply, status: number): JsonObject {
  const ours = JSON.parse(JSON.stringify(reply)) as JsonObject;
  const error = { ...ours, type: typeOfStatus(status), message: reply.message };
  return { type: 'error', error, request_id: reply.call_id };
}
