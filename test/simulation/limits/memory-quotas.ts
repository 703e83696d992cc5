/** Accounts and buckets of a memory store: what stands against a write, what it leaves, and what is read of them. */
import { takeToken } from '../../../src/core/rate/rate-limit.ts';
import type { AccountWrite, CommitResult, StoredAccount, Transition } from '../../../src/ports/store.ts';
import { type MemoryState, nameOf } from '../memory-state.ts';

type Conflict = Extract<CommitResult, { kind: 'conflict' }>;
type Hold = { readonly tenant: string; readonly account: string; readonly amount: number };

/** What the transition would leave; it counts once nothing was refused. */
export interface StagedQuotas {
  readonly accounts: Map<string, StoredAccount>;
  readonly buckets: Map<string, number>;
  readonly holds: Map<string, readonly Hold[]>;
}

export const emptyAccount: StoredAccount = { held: 0, settled: 0, allowed: 0, approval: null };

export const stageNothing = (): StagedQuotas => ({ accounts: new Map(), buckets: new Map(), holds: new Map() });

export function quotaConflict(transition: Transition, staged: StagedQuotas, state: MemoryState): Conflict | null {
  return (
    takeTokens(transition, staged, state) ??
    reserve(transition, staged, state) ??
    settle(transition, staged, state) ??
    change(transition.accounts, staged, state)
  );
}

function accountIn(name: string, staged: StagedQuotas, state: MemoryState): StoredAccount {
  return staged.accounts.get(name) ?? state.accounts.get(name) ?? emptyAccount;
}

function takeTokens({ tokens, atMs }: Transition, { buckets }: StagedQuotas, state: MemoryState): Conflict | null {
  for (const { tenant, bucket, isForced, ...size } of tokens) {
    const name = nameOf(tenant, bucket);
    const before = buckets.get(name) ?? state.buckets.get(name) ?? null;
    const { fullAtMicros, waitMicros } = takeToken(size, before, atMs * 1_000);
    if (waitMicros > 0 && !isForced) return { kind: 'conflict', on: 'rate', bucket };
    buckets.set(name, waitMicros > 0 ? (before ?? fullAtMicros) : fullAtMicros);
  }
  return null;
}

function reserve({ reserve: asked, call }: Transition, staged: StagedQuotas, state: MemoryState): Conflict | null {
  for (const { tenant, account, amount, limit } of asked) {
    const name = nameOf(tenant, account);
    const before = accountIn(name, staged, state);
    const most = Math.min((limit ?? Infinity) + before.allowed, Number.MAX_SAFE_INTEGER);
    if (before.settled + before.held + amount > most) return { kind: 'conflict', on: 'reserve', account };
    staged.accounts.set(name, { ...before, held: before.held + amount });
    if (call === null || call.kind === 'mark') continue;
    const { id } = call.call;
    const held = staged.holds.get(id) ?? state.holds.get(id) ?? [];
    const isSame = (hold: Hold) => hold.tenant === tenant && hold.account === account;
    const sum = amount + (held.find(isSame)?.amount ?? 0);
    staged.holds.set(id, [...held.filter((hold) => !isSame(hold)), { tenant, account, amount: sum }]);
  }
  return null;
}

function settle({ settle: asked }: Transition, staged: StagedQuotas, state: MemoryState): null {
  for (const { call, spent } of asked) {
    for (const { tenant, account, amount } of staged.holds.get(call) ?? state.holds.get(call) ?? []) {
      const name = nameOf(tenant, account);
      const before = accountIn(name, staged, state);
      const listed = typeof spent === 'string' ? undefined : spent.find((each) => each.account === account)?.amount;
      const charge = spent === 'nothing' ? 0 : (listed ?? amount);
      const settled = Math.min(before.settled + charge, Number.MAX_SAFE_INTEGER);
      staged.accounts.set(name, { ...before, held: before.held - amount, settled });
    }
    staged.holds.set(call, []);
  }
  return null;
}

function change(writes: readonly AccountWrite[], staged: StagedQuotas, state: MemoryState): Conflict | null {
  for (const write of writes) {
    const name = nameOf(write.tenant, write.account);
    const before = accountIn(name, staged, state);
    const conflict: Conflict = { kind: 'conflict', on: 'account', account: write.account };
    if (write.kind === 'ask' && before.approval !== write.expect) return conflict;
    if (write.kind === 'correct' && before.settled !== write.expect) return conflict;
    const after =
      write.kind === 'ask'
        ? { approval: write.approval }
        : write.kind === 'allow'
          ? { allowed: write.amount }
          : { settled: write.settled };
    staged.accounts.set(name, { ...before, ...after });
  }
  return null;
}

export function writeQuotas(staged: StagedQuotas, state: MemoryState): void {
  for (const [name, account] of staged.accounts) state.accounts.set(name, account);
  for (const [name, fullAt] of staged.buckets) state.buckets.set(name, fullAt);
  for (const [call, holds] of staged.holds)
    if (holds.length === 0) state.holds.delete(call);
    else state.holds.set(call, holds);
}

const isAmount = (value: number) => Number.isSafeInteger(value) && value >= 0;

export function quotaIllegality({ reserve: asked, settle: ended, tokens, accounts, call }: Transition): string | null {
  if (!asked.every(({ amount, limit }) => isAmount(amount) && (limit === null || Number.isSafeInteger(limit))))
    return 'what is reserved is a whole number from 0';
  if (asked.length > 0 && (call === null || call.kind === 'mark')) return 'what is reserved is held by a call';
  const isSpent = ({ spent }: Transition['settle'][number]) =>
    typeof spent === 'string' || spent.every(({ amount }) => isAmount(amount));
  if (!ended.every(isSpent)) return 'what was spent is a whole number from 0';
  if (!tokens.every(({ burst, intervalMicros }) => isAmount(burst - 1) && isAmount(intervalMicros - 1)))
    return 'a bucket has whole numbers from 1';
  const amountOf = (write: AccountWrite) =>
    write.kind === 'allow' ? write.amount : write.kind === 'correct' ? write.settled : 0;
  return accounts.every((write) => isAmount(amountOf(write))) ? null : 'an account changes by whole numbers from 0';
}

export function quotaReads(state: MemoryState) {
  return {
    account: (tenant: string, account: string) => state.accounts.get(nameOf(tenant, account)) ?? emptyAccount,
    holdsOf: (call: string) =>
      [...(state.holds.get(call) ?? [])]
        .map(({ account, amount }) => ({ account, amount }))
        .sort((one, other) => (one.account < other.account ? -1 : 1)),
    bucket: (tenant: string, bucket: string) => state.buckets.get(nameOf(tenant, bucket)) ?? null,
    overdueSpending: (nowMs: number, limit: number) =>
      [...state.approvals.values()]
        .filter(({ spending, state: now, expiresAtMs }) => {
          const isLive = now === 'pending' || now === 'granted' || now === 'denied';
          return spending !== undefined && isLive && expiresAtMs <= nowMs;
        })
        .sort((one, other) => one.expiresAtMs - other.expiresAtMs)
        .slice(0, limit),
  };
}
