/**
 * Checks and writes what a transition does to accounts and buckets. Everything is staged first, so a conflict leaves
 * nothing to undo: tokens, then what is held, then what is given back, then what people change.
 */
import { maxSumMicros } from '../../../core/budget/amount.ts';
import { takeToken } from '../../../core/rate/rate-limit.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { AccountWrite, Reservation, Settlement, StoredAccount, Transition } from '../../../ports/store.ts';
import type { Conflict } from './examine.ts';
import type { Statements } from './statements.ts';

type Account = { -readonly [Name in keyof StoredAccount]: StoredAccount[Name] } & {
  readonly tenant: string;
  readonly account: string;
};

interface HoldRow {
  readonly tenant: string;
  readonly account: string;
  readonly amount: number;
}

/** What will be written once nothing can be refused any more. */
export interface StagedQuotas {
  readonly accounts: readonly Account[];
  readonly buckets: readonly { readonly tenant: string; readonly bucket: string; readonly fullAt: number }[];
}

const nameOf = (tenant: string, name: string): string => `${tenant.length} ${tenant} ${name}`;

const nothing: StagedQuotas = { accounts: [], buckets: [] };

export const hasQuotas = ({ reserve, settle, tokens, accounts }: Transition): boolean =>
  reserve.length + settle.length + tokens.length + accounts.length > 0;

export function stageQuotas(transition: Transition, statements: Statements): Conflict | StagedQuotas {
  if (!hasQuotas(transition)) return nothing;
  const staged = new Map<string, Account>();
  const stage = (tenant: string, account: string): Account => {
    const name = nameOf(tenant, account);
    const found = staged.get(name) ?? { tenant, account, ...accountIn(statements, tenant, account) };
    staged.set(name, found);
    return found;
  };
  const taken = stageTokens(transition, statements);
  if ('kind' in taken) return taken;
  for (const each of transition.reserve) {
    const conflict = reserveIn(stage(each.tenant, each.account), each);
    if (conflict !== null) return conflict;
  }
  const settled = new Set<string>();
  for (const each of transition.settle) {
    // INVARIANT: what a call holds is given back once, however often a transition says so.
    if (settled.has(each.call)) continue;
    settled.add(each.call);
    settleAll(each, stage, heldBy(each.call, transition, statements));
  }
  for (const write of transition.accounts) {
    const conflict = changeIn(stage(write.tenant, write.account), write);
    if (conflict !== null) return conflict;
  }
  return { accounts: [...staged.values()], buckets: taken.buckets };
}

function stageTokens({ tokens, atMs }: Transition, statements: Statements): Conflict | Pick<StagedQuotas, 'buckets'> {
  const buckets = new Map<string, StagedQuotas['buckets'][number]>();
  for (const { tenant, bucket, isForced, ...size } of tokens) {
    const name = nameOf(tenant, bucket);
    const row = statements.bucket.get(tenant, bucket) as { full_at: number } | undefined;
    const before = buckets.get(name)?.fullAt ?? row?.full_at ?? null;
    const { fullAtMicros, waitMicros } = takeToken(size, before, atMs * 1_000);
    // INVARIANT: no more tokens are taken than the bucket has.
    if (waitMicros > 0 && !isForced) return { kind: 'conflict', on: 'rate', bucket };
    buckets.set(name, { tenant, bucket, fullAt: waitMicros > 0 ? (before ?? fullAtMicros) : fullAtMicros });
  }
  return { buckets: [...buckets.values()] };
}

function reserveIn(account: Account, { amount, limit, account: name }: Reservation): Conflict | null {
  // INVARIANT: settled + held never passes the limit and what was allowed beyond it.
  const most = limit === null ? maxSumMicros : Math.min(limit + account.allowed, maxSumMicros);
  if (account.settled + account.held + amount > most) return { kind: 'conflict', on: 'reserve', account: name };
  account.held += amount;
  return null;
}

/** What the call holds already, and what this very transition lets it hold: one amount for each account. */
function heldBy(call: string, transition: Transition, statements: Statements): readonly HoldRow[] {
  const rows = statements.holds.all(call) as unknown as HoldRow[];
  if (transition.reserve.length === 0 || holderOf(transition) !== call) return rows;
  const sums = new Map<string, HoldRow>();
  for (const { tenant, account, amount } of [...rows, ...transition.reserve]) {
    const name = nameOf(tenant, account);
    sums.set(name, { tenant, account, amount: amount + (sums.get(name)?.amount ?? 0) });
  }
  return [...sums.values()];
}

const holderOf = ({ call }: Transition): string | null => (call === null || call.kind === 'mark' ? null : call.call.id);

function settleAll(
  { spent }: Settlement,
  stage: (tenant: string, account: string) => Account,
  held: readonly HoldRow[],
): void {
  for (const { tenant, account, amount } of held) {
    const after = stage(tenant, account);
    after.held -= amount;
    // What is beyond counting stays used up.
    after.settled = Math.min(after.settled + chargeOf(spent, account, amount), maxSumMicros);
  }
}

function chargeOf(spent: Settlement['spent'], account: string, held: number): number {
  if (spent === 'nothing') return 0;
  if (spent === 'held') return held;
  return spent.find((each) => each.account === account)?.amount ?? held;
}

function changeIn(account: Account, write: AccountWrite): Conflict | null {
  switch (write.kind) {
    case 'ask':
      // INVARIANT: one approval of more is open for an account at a time.
      if (account.approval !== write.expect) return { kind: 'conflict', on: 'account', account: write.account };
      account.approval = write.approval;
      return null;
    case 'allow':
      account.allowed = write.amount;
      return null;
    case 'correct':
      if (account.settled !== write.expect) return { kind: 'conflict', on: 'account', account: write.account };
      account.settled = write.settled;
      return null;
    default:
      return unreachable(write);
  }
}

export function writeQuotas(transition: Transition, staged: StagedQuotas, statements: Statements): void {
  const { reserve, settle } = transition;
  const settled = new Set<string>(settle.map((each) => each.call));
  const holder = holderOf(transition);
  if (holder !== null && !settled.has(holder))
    for (const { tenant, account, amount } of reserve) statements.writeHold.run(holder, tenant, account, amount);
  for (const id of settled) statements.dropHolds.run(id);
  for (const { tenant, account, held, settled: spent, allowed, approval } of staged.accounts)
    statements.writeAccount.run(tenant, account, held, spent, allowed, approval);
  for (const { tenant, bucket, fullAt } of staged.buckets) statements.writeBucket.run(tenant, bucket, fullAt);
}

function accountIn(statements: Statements, tenant: string, account: string): StoredAccount {
  const row = statements.account.get(tenant, account) as StoredAccount | undefined;
  return { held: 0, settled: 0, allowed: 0, approval: null, ...row };
}

/** What is wrong with the amounts, whatever the file holds. */
export function wrongQuotas({ reserve, settle, tokens, accounts, call }: Transition): string | null {
  if (reserve.length > 0 && (call === null || call.kind === 'mark')) return 'what is reserved is held by a call';
  if (!reserve.every(isReservation)) return 'what is reserved is a whole number from 0';
  if (!settle.every(isSettlement)) return 'what was spent is told in whole numbers from 0';
  if (!tokens.every(({ burst, intervalMicros }) => isAmount(burst - 1) && isAmount(intervalMicros - 1)))
    return 'a bucket has whole numbers from 1';
  return accounts.every((write) => isAmount(amountOf(write))) ? null : 'an account changes by whole numbers from 0';
}

const isReservation = ({ amount, limit }: Reservation): boolean =>
  isAmount(amount) && (limit === null || Number.isSafeInteger(limit));

const isSettlement = ({ spent }: Settlement): boolean =>
  typeof spent === 'string' || spent.every(({ amount }) => isAmount(amount));

const amountOf = (write: AccountWrite): number =>
  write.kind === 'allow' ? write.amount : write.kind === 'correct' ? write.settled : 0;

const isAmount = (value: number) => Number.isSafeInteger(value) && value >= 0;
