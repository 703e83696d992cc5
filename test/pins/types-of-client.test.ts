/** What the compiler promises a user of the client. Most of this file is checked by the type check alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import {
  CallError,
  createClient,
  governTools,
  httpTransport,
  localTools,
  type Refusal,
  remote,
  type Resolution,
  type ResolutionOf,
  ToolDeniedError,
} from '../../src/client/index.ts';
import { createScriptedTransport, defer, permit } from '../../src/client/testing.ts';
import type { Tool } from '../../src/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <Claim extends true>(claim?: Claim): unknown => claim;

const transport = createScriptedTransport({ default: permit({ refunded: 40 }) });

test('advice narrows by its type, with the names of TypeScript', () => {
  holds<Equal<ResolutionOf<'rule_block'>, { readonly type: 'rule_block'; readonly ruleId: string }>>();
  holds<Equal<ResolutionOf<'pending_approval'>, { readonly type: 'pending_approval'; readonly approvalId: string }>>();
  holds<Equal<ResolutionOf<'pending_approvals'>['approvalIds'], readonly string[]>>();
  holds<Equal<ResolutionOf<'retry_after'>, { readonly type: 'retry_after'; readonly retryAfterSeconds: number }>>();
  holds<Equal<ResolutionOf<'budget_reset'>, { readonly type: 'budget_reset'; readonly resetsAt: string }>>();
  holds<Equal<ResolutionOf<'manual_audit'>, { readonly type: 'manual_audit' }>>();
  holds<Equal<ResolutionOf<'choose_action'>['actions'], readonly string[]>>();
  holds<Equal<ResolutionOf<'fix_input'>['fields'], readonly string[]>>();
  holds<Equal<ResolutionOf<'reconcile'>['callId'], string>>();
  holds<Equal<ResolutionOf<'escalated'>['ticketId'], string>>();
  holds<Equal<ResolutionOf<'replan'>['reason'], string>>();
  holds<Equal<ResolutionOf<'authenticate'>['interactionId'], string>>();
  const secondsIn = (resolution: Resolution): number | null => {
    // @ts-expect-error not every advice has a time
    void resolution.retryAfterSeconds;
    // @ts-expect-error that is the name on the wire
    if (resolution.type === 'retry_after') void resolution.retry_after_seconds;
    return resolution.type === 'retry_after' ? resolution.retryAfterSeconds : null;
  };
  assert.equal(secondsIn({ type: 'retry_after', retryAfterSeconds: 3 }), 3);
});

test('[S002-client-1] what is thrown is told apart by its class', async () => {
  const client = createClient({ transport: createScriptedTransport({ refund: defer({ approvalId: 'apr-1' }) }) });
  const error = (await client.call('refund').catch((thrown: unknown) => thrown)) as Refusal;
  if (error instanceof ToolDeniedError) {
    holds<Equal<typeof error.effect, 'none'>>();
    holds<Equal<typeof error.approvalId, string | null>>();
    if (error.code === 'POLICY_DEFER') holds<Equal<typeof error.approvalId, string>>();
    if (error.code === 'POLICY_DENY') holds<Equal<typeof error.approvalId, string | null>>();
    // @ts-expect-error such a code does not exist
    void (error.code === 'POLICY_DENIED');
    assert.equal(error.code === 'POLICY_DEFER' && error.approvalId, 'apr-1');
  } else {
    holds<Equal<typeof error, CallError>>();
    holds<Equal<typeof error.effect, 'none' | 'applied' | 'unknown'>>();
    assert.fail('a denial is no CallError');
  }
});

test('the value of a call has the type that its caller states', async () => {
  const client = createClient({ transport });
  const value = await client.call<{ refunded: number }>('refund');
  holds<Equal<typeof value, { refunded: number }>>();
  holds<Equal<Awaited<ReturnType<typeof client.call>>, unknown>>();
  assert.equal(value.refunded, 40);
});

const plain = async (args: { order: string }) => ({ refunded: args.order.length });
const sdk = { description: 'x', inputSchema: z.object({ order: z.string() }), execute: plain };
const openAi = {
  type: 'function' as const,
  name: 'refund',
  description: 'x',
  parameters: {},
  invoke: async (_context: object, input: string): Promise<string | { refunded: number }> => input,
};

test('governed tools have the types of what was given', async () => {
  const record = governTools({ plain, sdk, openAi }, { transport });
  holds<Equal<typeof record.plain, typeof plain>>();
  holds<Equal<typeof record.sdk, typeof sdk>>();
  holds<Equal<typeof record.openAi, typeof openAi>>();
  const list = governTools([openAi], { transport });
  holds<Equal<(typeof list)[0], typeof openAi>>();
  const { refunded } = await record.plain({ order: 'ord_1' });
  holds<Equal<typeof refunded, number>>();
  const far = remote<(args: { order: string }) => Promise<boolean>>();
  holds<Equal<typeof far, (args: { order: string }) => Promise<boolean>>>();
  assert.equal(refunded, 40);
});

test('what could not keep its type is refused by the compiler', () => {
  // @ts-expect-error a function that answers at once cannot be asked over a wire
  governTools({ now: (args: { n: number }) => args.n }, { transport });
  // @ts-expect-error the arguments of a tool are one object
  governTools({ two: async (a: string, b: number) => a.length + b }, { transport });
  const url = 'http://127.0.0.1:1';
  // @ts-expect-error over HTTP the key says who asks
  assert.throws(() => governTools({ plain }, { transport: httpTransport({ url, key: 'k' }), agent: 'a' }));
  // @ts-expect-error in the same process somebody must be named
  assert.throws(() => governTools({ plain }, { gateway: {} as never }));
});

test('local tools are tools of a gateway', () => {
  const tools: readonly Tool[] = localTools({ plain, sdk });
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['plain', 'sdk'],
  );
});

test('a tool of the AI SDK 7, whose description may be a function, can be governed and run', async () => {
  const described = 'The weather.' as string | ((options: { readonly context: object }) => string);
  const seven = {
    weather: {
      description: described,
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }: { city: string }) => ({ degrees: city.length }),
    },
  };
  const governed = governTools(seven, { transport });
  holds<Equal<typeof governed, typeof seven>>();
  const [local] = localTools({ weather: { ...seven.weather, description: () => 'late' } });
  assert.deepEqual([local?.name, local?.description], ['weather', undefined]);
});
