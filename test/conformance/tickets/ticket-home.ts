/** A gateway with a tool that does what the test says next, and a ledger of what it did. */
import type { TestContext } from 'node:test';

import type { Tool } from '../../../src/index.ts';
import type { ErrorReply, Reply } from '../../../src/core/call/reply.ts';
import type { ErrorKind } from '../../../src/core/taxonomy.ts';
import { errorOf } from '../../support/check-reply.ts';
import { openGateway, type OpenedGateway, type OpenOptions } from '../../support/open-gateway.ts';
import { createShiftedClock, type ShiftedClock } from '../../support/shifted-clock.ts';
import { aTool } from '../../support/tools.ts';

export interface Ledger {
  /** What was done, in order. */
  readonly done: unknown[];
  /** Did it, and answers; fails like this; or does it and never answers. */
  next: 'answer' | 'lose' | ErrorKind;
}

export interface TicketHome {
  readonly gateway: OpenedGateway;
  readonly ledger: Ledger;
  readonly clock: ShiftedClock;
  readonly pay: (args?: object, more?: object) => Promise<Reply>;
  /** Pays, and fails so that a ticket is opened; its id. */
  readonly failed: (kind?: ErrorKind, more?: object) => Promise<{ reply: ErrorReply; ticket: string }>;
}

export function payingTool(ledger: Ledger, more: object = {}): Tool {
  return aTool(
    'pay',
    (args, { fail }) => {
      if (ledger.next === 'answer') {
        ledger.done.push(args);
        return { paid: ledger.done.length };
      }
      if (ledger.next !== 'lose') return fail({ kind: ledger.next, message: 'no' });
      ledger.done.push(args);
      return new Promise(() => undefined);
    },
    { effect: 'plain', timeout_seconds: 0.05, ...more },
  );
}

export async function openTicketHome(
  t: TestContext,
  { tool = {}, ...options }: OpenOptions & { readonly tool?: object } = {},
): Promise<TicketHome> {
  const ledger: Ledger = { done: [], next: 'answer' };
  const clock = createShiftedClock();
  const gateway = await openGateway(t, [payingTool(ledger, tool)], { clock, ...options });
  const pay = (args: object = { amount: 5 }, more: object = {}) => gateway.call({ tool: 'pay', args, ...more });
  return {
    gateway,
    ledger,
    clock,
    pay,
    async failed(kind = '403_forbidden', more = {}) {
      ledger.next = kind;
      const reply = errorOf(await pay({ amount: 5 }, more), 'action_error');
      ledger.next = 'answer';
      const ticket = reply.resolution.type === 'escalated' ? reply.resolution.ticket_id : '';
      return { reply, ticket };
    },
  };
}
