/** The accounts and admissions of a simulated world as its witness counts them, and how they are compared. */
import type { StoredAccount } from '../../../src/ports/store.ts';
import { type MemoryState, nameOf } from '../memory-state.ts';
import { emptyAccount } from './memory-quotas.ts';
import { bucketOf, type Quotas } from './quota-setting.ts';

export type Breaks = (invariant: string, detail: string) => void;

export interface Ledger {
  settled: number;
  allowed: number;
  readonly holds: Map<string, number>;
}

const tenant = 'acme';

export function heldIn({ holds }: Ledger): number {
  let sum = 0;
  for (const amount of holds.values()) sum += amount;
  return sum;
}

export function createLedgers({ accounts }: Pick<MemoryState, 'accounts'>, breaks: Breaks) {
  const ledgers = new Map<string, Ledger>();
  const rowOf = (account: string): StoredAccount => accounts.get(nameOf(tenant, account)) ?? emptyAccount;
  return {
    ledgerOf(account: string): Ledger {
      const known = ledgers.get(account) ?? { settled: 0, allowed: 0, holds: new Map<string, number>() };
      ledgers.set(account, known);
      return known;
    },

    /** Whether the call of this transition was charged where its intent, `own`, had held nothing. */
    checkWindow(call: string, own: ReadonlyMap<string, number> | undefined): void {
      const known = new Set([...ledgers.keys()].map((account) => nameOf(tenant, account)));
      for (const name of accounts.keys())
        if (!known.has(name)) breaks('window', `${call} changes ${name}, which no intent named`);
      for (const [account, ledger] of ledgers)
        if (rowOf(account).settled > ledger.settled && own?.has(account) !== true)
          breaks('window', `${call} is charged to ${account}, where it held nothing`);
    },

    /** Every account of the store, beside what it must be. */
    compare(): void {
      for (const [account, ledger] of ledgers) {
        const { settled, held, allowed } = rowOf(account);
        if (held !== heldIn(ledger)) breaks('9', `${held} of ${account} are held, calls hold ${heldIn(ledger)}`);
        if (settled !== ledger.settled)
          breaks('charged', `${settled} of ${account} are settled, calls cost ${ledger.settled}`);
        if (allowed !== ledger.allowed) breaks('8', `${allowed} beyond ${account} are allowed, not ${ledger.allowed}`);
      }
    },
  };
}

/** Admissions of each agent: from any of them to any later one as many as the time gives, and the burst. */
export function createRateCheck(quotas: Quotas, breaks: Breaks) {
  const seen = new Map<string, { count: number; leastAhead: number }>();
  const { intervalMicros, burst } = bucketOf(quotas);
  return (agent: string, call: string, atMs: number): void => {
    const own = seen.get(agent) ?? { count: 0, leastAhead: Infinity };
    const ahead = own.count * intervalMicros - atMs * 1_000;
    seen.set(agent, { count: own.count + 1, leastAhead: Math.min(own.leastAhead, ahead) });
    if (ahead - Math.min(own.leastAhead, ahead) > (burst - 1) * intervalMicros)
      breaks('10', `${call} is admitted, and ${agent} has used up rate and burst`);
  };
}
