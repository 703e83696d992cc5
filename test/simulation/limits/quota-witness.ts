/**
 * Sees what calls hold and cost, and keeps an account of its own: from the records of intents, the states of calls and
 * what people said, compared with the store's rows after every transition. Invariants: `8` nothing held beyond the
 * limit; `9` held is what unfinished calls hold; `charged` each call once, what it cost; `window` where it was held;
 * `10` no more admitted than the rate and the burst.
 */
import type { Json } from '../../../src/core/values/json.ts';
import { callStates } from '../../../src/core/taxonomy.ts';
import type { ApprovalWrite, StoredAccount, Transition } from '../../../src/ports/store.ts';
import { hashing, type MemoryRecord } from '../memory-journal.ts';
import { type MemoryState, nameOf } from '../memory-state.ts';
import { emptyAccount } from './memory-quotas.ts';
import { accountsOf, bucketOf, ceilingOf, type Quotas } from './quota-setting.ts';

interface Ledger {
  settled: number;
  allowed: number;
  readonly holds: Map<string, number>;
}

/** Admissions of one agent: how far they ran ahead of the rate. */
interface Admissions {
  count: number;
  leastAhead: number;
}

export interface QuotaEyes {
  readonly quotas: Quotas;
  readonly state: Pick<MemoryState, 'accounts' | 'holds' | 'calls'>;
  readonly breaks: (invariant: string, detail: string) => void;
}

export type QuotaWitness = ReturnType<typeof createQuotaWitness>;

const tenant = 'acme';
const paidStates: ReadonlySet<string> = new Set(['SUCCEEDED', 'CLOSED_UNKNOWN']);

export function createQuotaWitness({ quotas, state, breaks }: QuotaEyes) {
  const ledgers = new Map<string, Ledger>();
  const holders = new Map<string, ReadonlyMap<string, number>>();
  const charged = new Set<string>();
  const admissions = new Map<string, Admissions>();
  const totals = { admitted: 0, charged: 0, released: 0, doubted: 0, crossed: 0, raised: 0, asked: 0 };

  const ledgerOf = (account: string): Ledger => {
    const known = ledgers.get(account) ?? { settled: 0, allowed: 0, holds: new Map<string, number>() };
    ledgers.set(account, known);
    return known;
  };

  const rowOf = (account: string): StoredAccount => state.accounts.get(nameOf(tenant, account)) ?? emptyAccount;

  const checkRate = (agent: string, call: string, atMs: number) => {
    const { intervalMicros, burst } = bucketOf(quotas);
    const seen = admissions.get(agent) ?? { count: 0, leastAhead: Infinity };
    const ahead = seen.count * intervalMicros - atMs * 1_000;
    seen.count += 1;
    seen.leastAhead = Math.min(seen.leastAhead, ahead);
    admissions.set(agent, seen);
    // From any admission to this one: as many as the time gives, and the burst.
    if (ahead - seen.leastAhead > (burst - 1) * intervalMicros)
      breaks('10', `${call} is admitted, and ${agent} has used up rate and burst`);
  };

  const admit = (record: MemoryRecord, agent: string, atMs: number) => {
    const call = record.call ?? '';
    const payload = record.payloads[record.parts.indexOf('args')] ?? null;
    const args = (payload === null ? null : JSON.parse(hashing.text(payload.bytes))) as Json;
    const own = new Map(budgetsIn(record).map(({ account, held }) => [account, held]));
    for (const name of accountsOf(agent))
      if ([...own.keys()].filter((account) => name.test(account)).length !== 1)
        breaks('8', `${call} of ${agent} is admitted, and ${name} names none of ${[...own.keys()].join()}`);
    for (const [account, held] of own) {
      const { max, raise, costOf } = ceilingOf(quotas, account);
      const ledger = ledgerOf(account);
      if (held !== costOf(args)) breaks('charged', `${call} costs ${costOf(args)} of ${account}, and holds ${held}`);
      ledger.holds.set(call, held);
      const limit = max + ledger.allowed;
      if (ledger.allowed > raise) breaks('8', `${ledger.allowed} beyond ${account} is allowed`);
      if (ledger.settled + heldIn(ledger) > limit)
        breaks('8', `${call} makes ${ledger.settled} settled and ${heldIn(ledger)} held of ${account}: ${limit}`);
    }
    holders.set(call, own);
    totals.admitted += 1;
    checkRate(agent, call, atMs);
  };

  const end = (call: string, into: string, atMs: number) => {
    const own = holders.get(call);
    if (own === undefined || charged.has(call)) return;
    const isPaid = paidStates.has(into);
    for (const [account, held] of own) {
      const ledger = ledgerOf(account);
      ledger.holds.delete(call);
      if (isPaid) ledger.settled += held;
      const hour = Date.parse(account.split('/').at(-1) ?? '');
      if (isPaid && atMs >= hour + 3_600_000) totals.crossed += 1;
    }
    charged.add(call);
    totals[isPaid ? 'charged' : 'released'] += 1;
  };

  const decide = ({ approval: { spending, state: into } }: ApprovalWrite) => {
    if (spending === undefined) return;
    const ledger = ledgerOf(spending.account);
    if (into === 'pending') totals.asked += 1;
    if (into === 'granted') {
      ledger.allowed = ceilingOf(quotas, spending.account).raise;
      totals.raised += 1;
    }
    if (into === 'revoked' || into === 'void') ledger.allowed = 0;
  };

  /** Whether the call of this transition was charged where its intent had held nothing. */
  const checkWindow = (ended: string) => {
    const known = new Set([...ledgers.keys()].map((account) => nameOf(tenant, account)));
    for (const name of state.accounts.keys())
      if (!known.has(name)) breaks('window', `${ended} changes ${name}, which no intent named`);
    for (const [account, ledger] of ledgers) {
      const { settled } = rowOf(account);
      if (settled > ledger.settled && holders.get(ended)?.has(account) !== true)
        breaks('window', `${ended} is charged to ${account}, where it held nothing`);
    }
  };

  /** Every account of the store, beside what it must be. */
  const compare = () => {
    for (const [account, ledger] of ledgers) {
      const { settled, held, allowed } = rowOf(account);
      if (held !== heldIn(ledger)) breaks('9', `${held} of ${account} are held, calls hold ${heldIn(ledger)}`);
      if (settled !== ledger.settled)
        breaks('charged', `${settled} of ${account} are settled, calls cost ${ledger.settled}`);
      if (allowed !== ledger.allowed) breaks('8', `${allowed} beyond ${account} are allowed, not ${ledger.allowed}`);
    }
  };

  /** The rows of one call: all that it holds until it ends, none afterwards. */
  const compareHolds = (call: string) => {
    const own = charged.has(call) ? [] : [...(holders.get(call) ?? [])];
    const rows = (state.holds.get(call) ?? []).map(({ account, amount }) => [account, amount]);
    const [expected, found] = [own, rows].map((all) => JSON.stringify(all.toSorted()));
    if (expected !== found) breaks('9', `${call} holds ${found}, not ${expected}`);
  };

  return {
    totals,

    applied({ call, approvals, atMs }: Transition, records: readonly MemoryRecord[]): void {
      const moved = call === null || call.kind === 'mark' ? null : call;
      // One that adopts a result is prepared and ends at once: it is not admitted, and costs nothing.
      for (const record of records) {
        if (moved === null || record.kind !== 'prepared') continue;
        if (moved.call.state === 'DISPATCHED') admit(record, moved.call.agent, atMs);
        else if (budgetsIn(record).length > 0)
          breaks('charged', `${record.call} is not admitted, and its record says what it holds`);
      }
      const into = moved?.call.state ?? '(none)';
      if (moved !== null && into !== '(none)' && callStates[into].terminal) end(moved.call.id, into, atMs);
      if (into === 'IN_DOUBT') totals.doubted += 1;
      for (const write of approvals) decide(write);
      checkWindow(moved?.call.id ?? 'a transition without a call');
      compare();
      if (moved !== null) compareHolds(moved.call.id);
    },

    /** At rest: what is held is held by doubts, and every effect was paid for or is held. */
    checkAtRest(isQuiet: boolean, effectsOf: Iterable<{ readonly id: string; readonly effects: number }>): void {
      compare();
      for (const call of state.holds.keys()) {
        const found = state.calls.get(call)?.call.state ?? '(none)';
        if (found === '(none)' || callStates[found].terminal || (isQuiet && found !== 'IN_DOUBT'))
          breaks('9', `${call} is ${found}, and holds its amounts at rest`);
      }
      for (const call of holders.keys()) compareHolds(call);
      for (const { id, effects } of effectsOf)
        if (effects > 0 && !holders.has(id)) breaks('charged', `${id} took effect, and nobody paid for it`);
    },
  };
}

function budgetsIn({ body }: MemoryRecord): readonly { readonly account: string; readonly held: number }[] {
  return (JSON.parse(body) as { budgets?: [] }).budgets ?? [];
}

function heldIn({ holds }: Ledger): number {
  let sum = 0;
  for (const amount of holds.values()) sum += amount;
  return sum;
}
