/**
 * A process with a stage on a real file. It kills itself with SIGKILL at the boundary that it was told: before and after
 * each phase, and before and after each effect. Without one it brings the stage to its end, settling doubts by the
 * ledger, and says what came of it.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createMachine } from 'xstate';
import { createGateway, isSuccess, mount, tool } from '../../../src/index.ts';

interface Orders {
  readonly file: string;
  readonly ledger: string;
  /** Which boundary is the last; null: none. */
  readonly dieAt: number | null;
}

const { file, ledger, dieAt } = JSON.parse(process.argv[2] ?? '{}') as Orders;

let passed = 0;
const boundary = () => {
  passed += 1;
  if (passed === dieAt) process.kill(process.pid, 'SIGKILL');
};

const entries = (): readonly string[] =>
  existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [];

const enter = (entry: string) => {
  boundary();
  appendFileSync(ledger, `${entry}\n`);
  boundary();
};

const mail = tool({
  name: 'mail',
  effect: 'plain',
  input: { type: 'object' },
  run: async (args: Record<string, unknown>, ctx: { call_id: string }) => {
    enter(`mail ${ctx.call_id} ${String(args['what'])}`);
    return { sent: args['what'] };
  },
} as never);

/** Its upstream remembers its work by the key. */
const charge = tool({
  name: 'charge',
  effect: 'keyed',
  dedupe_window_seconds: 3_600,
  input: { type: 'object' },
  run: async (_args: unknown, ctx: { idempotency_key: string }) => {
    const entry = `charge ${ctx.idempotency_key}`;
    if (!entries().includes(entry)) enter(entry);
    return { charged: true };
  },
} as never);

const phase =
  <Given extends readonly unknown[], Answer>(code: (...given: Given) => Answer) =>
  async (...given: Given) => {
    boundary();
    const answer = await code(...given);
    boundary();
    return answer;
  };

interface Ctx {
  readonly context: { readonly n: number };
  readonly attempt: number;
  readonly call: (tool: string, args: object) => Promise<unknown>;
}

const flow = mount(
  createMachine({
    id: 'flow',
    initial: 'open',
    context: { n: 0 },
    states: { open: { on: { deliver: 'delivered' } }, delivered: { type: 'final' } },
  }),
  {
    actions: {
      deliver: {
        stage: {
          setup: phase(({ context }: Ctx) => ({ n: context.n + 1 })),
          act: phase(async ({ call, attempt }: Ctx) => {
            await call('mail', { what: `first of ${attempt}` });
            await call('charge', { amount: 1 });
            await call('mail', { what: `second of ${attempt}` });
            return { ok: true };
          }),
          assert: phase((_ctx: Ctx, { ok }: { ok: boolean }) => ok),
          exit: phase((_ctx: Ctx, acted: unknown) => acted),
          next: phase(() => null),
          retry: { max_attempts: 3, backoff: 'fixed', base: '10ms' },
        },
      },
    },
  } as never,
);

const limits = { sweepEveryMs: 20, firstProbeMs: 20 };
const gateway = await createGateway({
  workflows: [flow],
  tools: [mail, charge],
  file,
  limits,
  onNotice: () => undefined,
});
const step = { workflow: 'flow', action: 'deliver', inputs: {}, key: 'once' };

for (let tries = 0; tries < 2_000; tries++) {
  const reply = await gateway.handleStep(step);
  if (isSuccess(reply)) {
    const view = await gateway.sessions.look(reply.session ?? '');
    process.stdout.write(`${JSON.stringify({ reply, view, passed })}\n`);
    break;
  }
  for (const ticket of await gateway.tickets.list({ state: 'open' })) {
    if (ticket.tool !== 'mail') continue;
    const happened = entries().some((entry) => entry.startsWith(`mail ${ticket.call_id} `));
    await gateway.settle(ticket.call_id, { happened: happened ? 'yes' : 'no', by: 'ann', result: {}, force: true });
  }
  await pause(10);
}
await gateway.close({ drain_seconds: 1 });
