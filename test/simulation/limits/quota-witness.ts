/**
 * Sees what calls hold and cost, and keeps an account of its own: from the records of intents, the states of calls and
 * what people said, compared with the store's rows after every transition. Invariants: `8` nothing held beyond the
 * limit; `9` held is what unfinished calls hold; `charged` each call once, what it cost; `window` where it was held;
 * `10` no more admitted than the rate and the burst.
 */
import type { Json } from '../../../src/core/values/json.ts';
import { callStates } from '../../../src/core/taxonomy.ts';
import type { Call } from '../../../src/core/call/call.ts';
import type { ApprovalWrite, Transition } from '../../../src/ports/store.ts';
import { hashing, type MemoryRecord } from '../memory-journal.ts';
import type { MemoryState } from '../memory-state.ts';
import { type Breaks, createLedgers, createRateCheck, heldIn } from './quota-ledgers.ts';
import { accountsOf, ceilingOf, type Quotas } from './quota-setting.ts';

type Rows = Pick<MemoryState, 'accounts' | 'holds' | 'calls'>;

export type QuotaWitness = ReturnType<typeof createWitness>;

const paidStates: ReadonlySet<string> = new Set(['SUCCEEDED', 'CLOSED_UNKNOWN']);

/** Null in a world without quotas. */
export const createQuotaWitness = (quotas: Quotas | null, state: Rows, breaks: Breaks) =>
  quotas === null ? null : createWitness(quotas, state, breaks);

function createWitness(quotas: Quotas, state: Rows, breaks: Breaks) {
  const { ledgerOf, checkWindow, compare } = createLedgers(state, breaks);
  const checkRate = createRateCheck(quotas, breaks);
  const holders = new Map<string, ReadonlyMap<string, number>>();
  const charged = new Set<string>();
  const totals = { admitted: 0, charged: 0, released: 0, doubted: 0, crossed: 0, raised: 0, asked: 0 };

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

  /** One that adopts a result is prepared and ends at once: it is not admitted, and costs nothing. */
  const begin = (
    { agent, state: into }: Pick<Call, 'agent' | 'state'>,
    records: readonly MemoryRecord[],
    atMs: number,
  ) => {
    for (const record of records) {
      if (record.kind !== 'prepared') continue;
      if (into === 'DISPATCHED') admit(record, agent, atMs);
      else if (budgetsIn(record).length > 0)
        breaks('charged', `${record.call} is not admitted, and its record says what it holds`);
    }
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
      if (moved !== null) begin(moved.call, records, atMs);
      const into = moved?.call.state ?? '(none)';
      if (moved !== null && into !== '(none)' && callStates[into].terminal) end(moved.call.id, into, atMs);
      if (into === 'IN_DOUBT') totals.doubted += 1;
      for (const write of approvals) decide(write);
      const id = moved?.call.id ?? 'a transition without a call';
      checkWindow(id, holders.get(id));
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
