/**
 * A process that shares a store with others: the first owns it, the others forward to it. Asks and approves as it is
 * told, line by line, and says what became of it. Ends when nobody tells it anything any more.
 */
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { isRefusal, type Reply } from '../../src/index.ts';
import { type Death, openApprovalGateway } from './approval-gateway.ts';
import type { ApprovalRequest } from './approval-round.ts';
import type { Marked } from './approval-world.ts';

export type AskerOrder =
  | {
      readonly order: 'ask';
      readonly request: ApprovalRequest & { readonly wait_seconds?: number };
      readonly times: number;
    }
  | { readonly order: 'approve'; readonly approval: string; readonly by: string; readonly args?: Marked };

export interface AskerPlace {
  readonly file: string;
  readonly ledger: string;
  /** The act at which it dies, if it is the one that comes to it. */
  readonly death?: Death;
  /** Asks again when the store had no time for it, as on a busy machine. */
  readonly insists?: boolean;
}

const { file, ledger, death = null, insists = false } = JSON.parse(process.argv[2] ?? '{}') as AskerPlace;
const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);
const { gateway, approvals } = await openApprovalGateway(file, ledger, () => undefined, death);
say({ role: gateway.role });

async function ask(request: ApprovalRequest): Promise<Reply> {
  for (;;) {
    const reply = await gateway.handle(request);
    if (!insists || !isRefusal(reply) || reply.code !== 'StoreUnavailable') return reply;
    await pause(100);
  }
}

async function obey(order: AskerOrder): Promise<readonly Reply[] | string | null> {
  if (order.order === 'ask') return Promise.all(Array.from({ length: order.times }, () => ask(order.request)));
  const word = order.args === undefined ? {} : { args: { ...order.args } };
  const decided = await approvals.approve(order.approval, { kind: 'person', tenant: 'default', name: order.by }, word);
  return decided.ok ? decided.approval.state : decided.problem;
}

const orders = createInterface({ input: process.stdin });
orders.on('line', (line) => {
  const { at, order } = JSON.parse(line) as { at: number; order: AskerOrder };
  void obey(order).then((value) => say({ at, value }));
});
orders.on('close', () => void gateway.close({ drain_seconds: 0 }).then(() => process.exit(0)));
