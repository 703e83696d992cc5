/** An in-house ticket system, as servers of the kind `helpdesk`: two tools, and what each answer of it means. */
import {
  type Attempt,
  type ExtensionUpstream,
  type Failure,
  type Host,
  type JsonObject,
  makeFailure,
  type UpstreamKind,
  type UpstreamResult,
} from '../../../src/extension/index.ts';

const tools: UpstreamKind['tools'] = [
  {
    name: 'create_ticket',
    description: 'Opens a ticket for the people of the help desk.',
    input: {
      type: 'object',
      properties: { subject: { type: 'string' }, priority: { enum: ['low', 'high'] } },
      required: ['subject'],
      additionalProperties: false,
    },
    output: { type: 'object', properties: { ok: { type: 'boolean' }, ticket: { type: 'string' } } },
    // It remembers the keys of a day: after a lost answer the same ticket may be asked for again.
    effect: 'keyed',
    dedupe_window_seconds: 86_400,
  },
  {
    name: 'read_ticket',
    description: 'Reads a ticket by its number.',
    input: { type: 'object', properties: { ticket: { type: 'string' } }, required: ['ticket'] },
    effect: 'pure',
  },
];

export const helpdeskKind: UpstreamKind = {
  settings: {
    type: 'object',
    properties: { url: { type: 'string', minLength: 1 }, token: { type: 'string', writeOnly: true } },
    required: ['url', 'token'],
  },
  tools,
  create: (settings, host) => createTicketSystem(settings, host),
};

const maxAnswerBytes = 64 << 10;

export function createTicketSystem({ url, token }: JsonObject, { http }: Pick<Host, 'http'>): ExtensionUpstream {
  return {
    async invoke(attempt, signal): Promise<UpstreamResult> {
      if (signal.aborted) return failed(makeFailure('cancelled', 'it was stopped', { effect: 'none' }));
      const plan = planOf(attempt);
      if (plan === null) return failed(makeFailure('404_not_found', `there is no ${attempt.tool}`, { effect: 'none' }));
      const { method, path, body } = plan;
      const headers = {
        authorization: `Bearer ${String(token)}`,
        // The same for every attempt of this call.
        'idempotency-key': attempt.callId,
        'content-type': 'application/json',
      };
      const timeoutMs = attempt.timeoutMs;
      const order = { method, url: `${String(url)}${path}`, headers, body, timeoutMs, maxBytes: maxAnswerBytes };
      const answer = await http.request(order, signal);
      if (!answer.ok) return failed(lost(answer, signal));
      if (answer.status >= 400) return failed(refusal(answer.status, answer.headers, answer.body));
      const output = jsonIn(answer.body);
      if (output !== undefined) return { kind: 'returned', output, errors: [] };
      return failed(makeFailure('schema_validation', 'its answer is no JSON', { subject: 'response' }));
    },
  };
}

function planOf({
  tool,
  args,
}: Attempt): { readonly method: string; readonly path: string; readonly body: string } | null {
  const { ticket } = (args ?? {}) as { readonly ticket?: unknown };
  if (tool === 'create_ticket') return { method: 'POST', path: '/tickets', body: JSON.stringify(args) };
  if (tool !== 'read_ticket') return null;
  return { method: 'GET', path: `/tickets/${encodeURIComponent(String(ticket))}`, body: '' };
}

type Lost = Extract<Awaited<ReturnType<Host['http']['request']>>, { ok: false }>;

/** What was never sent had no effect; of anything else nobody knows. */
function lost({ why, sent, reason }: Lost, signal: AbortSignal): Failure {
  const message = `the ticket system: ${reason}`;
  if (signal.aborted)
    return makeFailure(isTimeout(signal) ? 'timeout' : 'cancelled', message, sent ? { effect: 'unknown' } : {});
  if (!sent) return makeFailure('never_sent', message, { effect: 'none' });
  if (why === 'too_long') return makeFailure('schema_validation', message, { subject: 'response', effect: 'unknown' });
  return makeFailure('timeout', message, { effect: 'unknown' });
}

const isTimeout = ({ reason }: AbortSignal): boolean => reason instanceof Error && reason.name === 'TimeoutError';

const kinds: Readonly<Record<number, Failure['kind']>> = {
  401: '401_unauthenticated',
  403: '403_forbidden',
  404: '404_not_found',
  409: '409_conflict',
  412: '412_precondition',
  422: '400_invalid',
  429: '429',
};

/** The words of its error codes for a key. */
const subjects: Readonly<Record<string, string>> = {
  key_in_use: 'in_flight',
  key_done: 'completed',
  key_of_another: 'mismatch',
  stale: 'evidence',
};

function refusal(status: number, headers: Readonly<Record<string, string>>, body: string): Failure {
  const kind = kinds[status] ?? '5xx';
  const { code } = (jsonIn(body) ?? {}) as { readonly code?: unknown };
  const seconds = Number(headers['retry-after']);
  return makeFailure(kind, `the ticket system answered with ${status}`, {
    subject: typeof code === 'string' ? (subjects[code] ?? null) : null,
    errorType: `Helpdesk${status}`,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : null,
  });
}

function jsonIn(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}

const failed = (failure: Failure): UpstreamResult => ({ kind: 'failed', failure });
