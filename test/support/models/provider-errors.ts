/** Answers with which providers refuse, as they write them: status, headers and body. */
import type { Json, JsonObject } from '../../../src/core/values/json.ts';

export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Json;
}

function openai(
  status: number,
  type: string,
  code: string | null,
  message: string,
  param: string | null = null,
): Refusal {
  return { status, body: { error: { message, type, param, code } } };
}

function anthropic(status: number, type: string, message: string, details?: JsonObject): Refusal {
  const error = { type, message, ...(details === undefined ? {} : { details }) };
  return { status, body: { type: 'error', error, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' } };
}

const limited = 'Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29872.';

export const openaiErrors = {
  invalid: openai(400, 'invalid_request_error', null, "Missing required parameter: 'messages'.", 'messages'),
  contextTooLong: openai(
    400,
    'invalid_request_error',
    'context_length_exceeded',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.",
    'messages',
  ),
  contentRefused: openai(400, 'invalid_request_error', 'content_policy_violation', 'Your request was rejected.'),
  /** As Azure writes it. */
  contentFiltered: {
    status: 400,
    body: {
      error: {
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      },
    },
  },
  badKey: openai(401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided: sk-no***key.'),
  forbidden: openai(403, 'request_forbidden', 'unsupported_country_region_territory', 'Country not supported'),
  noSuchModel: openai(404, 'invalid_request_error', 'model_not_found', 'The model `gpt-9` does not exist.', 'model'),
  conflict: openai(409, 'invalid_request_error', null, 'Another request is changing this conversation.'),
  tooLarge: openai(413, 'invalid_request_error', null, 'Request too large.'),
  unprocessable: openai(422, 'invalid_request_error', null, 'Unprocessable.'),
  limited: openai(429, 'tokens', 'rate_limit_exceeded', limited),
  noQuota: openai(429, 'insufficient_quota', 'insufficient_quota', 'You exceeded your current quota.'),
  failed: openai(500, 'server_error', null, 'The server had an error while processing your request.'),
  overloaded: openai(503, 'server_error', 'server_overloaded', 'The engine is currently overloaded.'),
} as const satisfies Record<string, Refusal>;

export const anthropicErrors = {
  invalid: anthropic(400, 'invalid_request_error', 'max_tokens: Field required'),
  /** Nothing but its words tells it from other invalid requests. */
  contextTooLong: anthropic(400, 'invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
  badKey: anthropic(401, 'authentication_error', 'invalid x-api-key'),
  noCredit: anthropic(402, 'billing_error', 'Your credit balance is too low to access the Anthropic API.'),
  forbidden: anthropic(403, 'permission_error', 'Your API key does not have permission to use the resource.'),
  noSuchModel: anthropic(404, 'not_found_error', 'model: claude-9'),
  conflict: anthropic(409, 'conflict_error', 'conflict'),
  tooLarge: anthropic(413, 'request_too_large', 'Request exceeds the maximum size'),
  unprocessable: anthropic(422, 'invalid_request_error', 'unprocessable'),
  limited: anthropic(429, 'rate_limit_error', 'This request would exceed your rate limit.'),
  noQuota: anthropic(429, 'rate_limit_error', 'spend limit reached', { error_code: 'contract_spend_limit_reached' }),
  failed: anthropic(500, 'api_error', 'Internal server error'),
  timedOut: anthropic(504, 'timeout_error', 'Request timed out'),
  overloaded: anthropic(529, 'overloaded_error', 'Overloaded'),
} as const satisfies Record<string, Refusal>;

export const withHeaders = (refusal: Refusal, headers: Readonly<Record<string, string>>): Refusal => ({
  ...refusal,
  headers: { ...refusal.headers, ...headers },
});

/** A proxy before the provider: a status without its error object. */
export const htmlError = (status: number): Refusal => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<html><head><title>${status}</title></head><body><center>cloudflare</center></body></html>`,
});
