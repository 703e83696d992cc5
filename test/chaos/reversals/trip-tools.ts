/** Bookings whose ledger is a file that outlives every process: a line is there, fsynced, before its body answers. */
import { existsSync, readFileSync } from 'node:fs';
import type { Tool } from '../../../src/index.ts';
import { aTool } from '../../support/tools.ts';
import { appendLine } from '../../support/world.ts';

export const limits = { storeRetryMs: [], sweepEveryMs: 50, leaseMarginMs: 50 } as const;

export function tripTools(ledger: string, acted: (line: string) => void = () => undefined): readonly Tool[] {
  const act = (what: string) =>
    (({ id }: { id: string }) => {
      appendLine(ledger, `${what} ${id}`);
      acted(`${what} ${id}`);
      return { booking: `b-${id}` };
    }) as never;
  const reverse = { tool: 'cancel', args: { id: 'args.id', booking: 'result.booking' }, window_seconds: 86_400 };
  return [aTool('book', act('book'), { reverse }), aTool('cancel', act('cancel'))];
}

export const linesOf = (ledger: string): readonly string[] =>
  existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').slice(0, -1) : [];
