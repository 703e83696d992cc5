/** Tools of the faulty payment service, one of each effect class, over HTTP. */
import { httpTool } from '../../../src/index.ts';

/** Which operation of the service a tool stands for. */
export const toolNames = ['refund', 'refund_once', 'add_note'] as const;
export type PaymentTool = (typeof toolNames)[number];

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
    httpTool({
      name: 'refund',
      description: 'Refunds an order; the service deduplicates by our key.',
      input: refundInput,
      effect: 'keyed',
      dedupe_window_seconds: 3_600,
      ...common,
      ...readable,
      method: 'POST',
      url: `${url}/refunds`,
    }),
    httpTool({
      name: 'refund_once',
      description: 'Refunds an order; the service can be asked whether it happened.',
      input: refundInput,
      effect: 'probeable',
      operation_key: ({ order }: Refund) => order,
      ...common,
      ...readable,
      method: 'POST',
      url: `${url}/refunds`,
      key: 'none',
    }),
    httpTool({
      name: 'add_note',
      description: 'Adds a note to an order; nobody can tell whether it did.',
      input: objectOf({ order: text, text }),
      effect: 'plain',
      ...common,
      method: 'POST',
      url: `${url}/notes`,
      key: 'none',
    }),
    httpTool({
      name: 'find_refund',
      description: 'Lists the refunds of an order.',
      input: objectOf({ order: text }),
      output: objectOf({ order: text, refunds: { type: 'array' } }),
      effect: 'pure',
      timeout_seconds: 2,
      method: 'GET',
      url: `${url}/refunds`,
    }),
  ] as const;
}
