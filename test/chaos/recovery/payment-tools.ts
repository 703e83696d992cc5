/**
 * Tools of the faulty payment service, one of each effect class, over HTTP. The only file that knows how the service is
 * called: tools that come from `httpTool` or OpenAPI would replace it.
 */
import { tool, type ToolContext, ToolFailure } from '../../../src/index.ts';

/** Which operation of the service a tool stands for. */
export const toolNames = ['refund', 'refund_once', 'add_note'] as const;
export type PaymentTool = (typeof toolNames)[number];

const subjects = ['in_flight', 'completed', 'mismatch'] as const;
const refused = { 400: '400_invalid', 401: '401_unauthenticated', 403: '403_forbidden', 404: '404_not_found' } as const;

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

async function send(url: string, { method, path, body, key }: Sent, context: ToolContext): Promise<unknown> {
  const headers = { connection: 'close', ...(key === undefined ? {} : { 'idempotency-key': key }) };
  const options = { method, headers, signal: context.signal, ...(body ? { body: JSON.stringify(body) } : {}) };
  // A connection that was cut proves nothing: the request may have arrived.
  const response = await fetch(`${url}${path}`, options).catch((cause: unknown) => lost('no answer', cause));
  const text = await response.text().catch((cause: unknown) => lost('half an answer', cause));
  if (!response.ok) throw failureOf(response, text);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ToolFailure({ kind: 'schema_validation', subject: 'response', message: 'not JSON', cause });
  }
}

function lost(message: string, cause: unknown): never {
  throw new ToolFailure({ kind: 'timeout', message, cause });
}

function failureOf({ status, headers }: Response, text: string): ToolFailure {
  const message = `the service said ${status}`;
  if (status === 429) {
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    return new ToolFailure({ kind: '429', message, ...(seconds >= 0 ? { retry_after_seconds: seconds } : {}) });
  }
  if (status === 409) {
    const subject = subjects.find((each) => text.includes(each));
    return new ToolFailure({ kind: '409_conflict', message, ...(subject === undefined ? {} : { subject }) });
  }
  if (status >= 500) return new ToolFailure({ kind: '5xx', message });
  return new ToolFailure({ kind: refused[status as keyof typeof refused] ?? 'unknown', message });
}

const text = { type: 'string' } as const;
const objectOf = <Properties extends Readonly<Record<string, object>>>(properties: Properties) =>
  ({ type: 'object', properties, required: Object.keys(properties) }) as const;
const made = objectOf({ id: text, order: text });
const refundInput = objectOf({ order: text, amount: { type: 'number' } });
interface Refund {
  readonly order: string;
  readonly amount: number;
}
interface Found {
  readonly refunds: readonly { readonly id: string }[];
}

/** Longer than the latest execution that the service draws, half a second, on a machine that is very busy. */
const quarantineSeconds = 10;

export function paymentTools(url: string) {
  // Short pauses, so that many retries fit into a test.
  const retry = { max_attempts: 3, backoff: 'fixed', base_ms: 40, jitter: 0.5 } as const;
  const common = { timeout_seconds: 2, retry, output: made };
  const readable = {
    reconcile: {
      tool: 'find_refund',
      args: ({ order }: Refund) => ({ order }),
      happened: ({ refunds }: Found) => refunds.length > 0,
      result: ({ refunds }: Found, { order }: Refund) => ({ id: refunds[0]?.id ?? '', order }),
    },
    quarantine_seconds: quarantineSeconds,
  };
  return [
    tool({
      name: 'refund',
      description: 'Refunds an order; the service deduplicates by our key.',
      input: refundInput,
      effect: 'keyed',
      dedupe_window_seconds: 3_600,
      ...common,
      ...readable,
      run: async (body: Refund, context) =>
        send(url, { method: 'POST', path: '/refunds', body, key: context.idempotency_key }, context),
    }),
    tool({
      name: 'refund_once',
      description: 'Refunds an order; the service can be asked whether it happened.',
      input: refundInput,
      effect: 'probeable',
      operation_key: ({ order }: Refund) => order,
      ...common,
      ...readable,
      run: async (body: Refund, context) => send(url, { method: 'POST', path: '/refunds', body }, context),
    }),
    tool({
      name: 'add_note',
      description: 'Adds a note to an order; nobody can tell whether it did.',
      input: objectOf({ order: text, text }),
      effect: 'plain',
      ...common,
      run: async (body: object, context) => send(url, { method: 'POST', path: '/notes', body }, context),
    }),
    tool({
      name: 'find_refund',
      description: 'Lists the refunds of an order.',
      input: objectOf({ order: text }),
      output: objectOf({ order: text, refunds: { type: 'array' } }),
      effect: 'pure',
      timeout_seconds: 2,
      run: async ({ order }: Pick<Refund, 'order'>, context) =>
        send(url, { method: 'GET', path: `/refunds?order=${order}` }, context),
    }),
  ] as const;
}
