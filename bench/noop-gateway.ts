/** A gateway with one tool that does nothing, so that only the gateway is measured. */
import { createGateway, isSuccess, tool } from '../src/index.ts';

export const args = {
  order: 'ord_8841',
  amount: 12.5,
  currency: 'EUR',
  reason: 'the coffee was cold',
  items: [1, 2, 3],
};

export const noop = tool({
  name: 'noop',
  description: 'Does nothing.',
  input: {
    type: 'object',
    properties: {
      order: { type: 'string' },
      amount: { type: 'number' },
      currency: { enum: ['EUR', 'USD'] },
      reason: { type: 'string', maxLength: 200 },
      items: { type: 'array', items: { type: 'integer' } },
    },
    required: ['order', 'amount'],
    additionalProperties: false,
  },
  run: async () => ({ done: true, reference: 'ref_1' }),
});

export async function openNoop(file: string) {
  const gateway = await createGateway({ tools: [noop], file });
  return {
    async call(): Promise<void> {
      const reply = await gateway.handle({ tool: 'noop', args });
      if (!isSuccess(reply)) throw new Error(`the bench met ${JSON.stringify(reply)}`);
    },
    close: () => gateway.close(),
  };
}
