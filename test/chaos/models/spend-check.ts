/**
 * What must hold at rest, whoever was killed: what each attempt was charged, by its records, is what the provider
 * billed for its request, or all that was held where nobody told the use; and the accounts are the sum of that.
 */
import assert from 'node:assert/strict';
import { callStates } from '../../../src/core/taxonomy.ts';
import type { JournalEntry, StoredCall, StoreReader } from '../../../src/ports/store.ts';
import { billOf, type LedgerEntry, type Prices } from '../../support/models/ledger.ts';
import { allCalls } from '../../support/read-journal.ts';
import { prices } from './spend-world.ts';
import { readAccounts } from './watch-budgets.ts';

const pricesOf = (model: string): Prices => prices[model] ?? assert.fail(`${model} has no price`);
const billed = (entry: LedgerEntry | undefined): number =>
  entry === undefined ? 0 : billOf([entry], pricesOf).microDollars;

interface Charge {
  readonly account: string;
  readonly held: number;
  readonly used?: number;
  readonly spent?: number;
  readonly over?: number;
}

interface Fields {
  readonly state?: keyof typeof callStates;
  readonly event?: string;
  readonly budgets?: readonly Charge[];
  readonly end?: { readonly kind?: string; readonly subject?: string | null };
}

interface Account {
  settled: number;
  held: number;
  over: number;
}

export interface Sums {
  calls: number;
  attempts: number;
  requests: number;
  /** In millionths of a dollar. */
  charged: number;
  billed: number;
  /** Charged because nobody told the use, beyond what the provider billed for it. */
  inDoubt: number;
  /** Attempts of which nobody told the use. */
  untold: number;
  over: number;
  abandoned: number;
}

/** INVARIANT: settled and held never pass a budget, after any record, but by what that account's records say is over. */
export async function replayAccounts(reader: StoreReader, maxMicros: number): Promise<ReadonlyMap<string, Account>> {
  const calls = await allCalls(reader);
  const records = (await Promise.all(calls.map(({ id }) => reader.recordsOf(id)))).flat();
  const accounts = new Map<string, Account>();
  const holds = new Map<string, number>();
  for (const { kind, call, body } of records.sort((a, b) => a.epoch - b.epoch || a.seq - b.seq)) {
    const { state, budgets = [] } = JSON.parse(body) as Fields;
    for (const { account, held, spent, over = 0 } of budgets) {
      const sums = accounts.get(account) ?? { settled: 0, held: 0, over: 0 };
      accounts.set(account, sums);
      if (kind === 'prepared') {
        assert.ok(!holds.has(String(call)), `${call} holds something twice`);
        holds.set(String(call), held);
        sums.held += held;
        // INVARIANT: what is over lets nothing begin.
        assert.ok(sums.settled + sums.held <= maxMicros, `${account} has room for ${call}`);
      }
      if (spent === undefined || state === undefined || !callStates[state].terminal) continue;
      assert.equal(holds.get(String(call)), held, `${call} gives back ${held} of ${account}`);
      assert.equal(over, Math.max(0, spent - held), `${call} says what is over`);
      holds.delete(String(call));
      sums.held -= held;
      sums.settled += spent;
      sums.over += over;
      assert.ok(sums.settled + sums.held <= maxMicros + sums.over, `${account} after ${kind} of ${call}`);
    }
  }
  return accounts;
}

export async function checkRest(
  reader: StoreReader,
  ledger: readonly LedgerEntry[],
  accounts: ReadonlyMap<string, Account>,
): Promise<Sums> {
  const requests = Map.groupBy(ledger, ({ headers }) => String(headers['x-client-request-id']));
  const calls = await allCalls(reader);
  const known = new Set<string>(calls.map(({ id }) => id));
  for (const call of requests.keys()) assert.ok(known.has(call), `a request of ${call}, which is not on record`);
  const sums: Sums = {
    calls: calls.length,
    attempts: 0,
    requests: ledger.length,
    charged: 0,
    billed: 0,
    inDoubt: 0,
    untold: 0,
    over: [...accounts.values()].reduce((sum, { over }) => sum + over, 0),
    abandoned: 0,
  };
  for (const call of calls) {
    assert.ok(callStates[call.state as 'FAILED'].terminal, `${call.id} is ${call.state} at rest`);
    assert.deepEqual(await reader.holdsOf(call.id), [], `${call.id} is ${call.state}, and holds something`);
    checkCall(call, await reader.recordsOf(call.id), requests.get(call.id) ?? [], sums);
  }
  assert.equal(sums.billed, billOf(ledger, pricesOf).microDollars, 'every request was attributed');
  assert.equal(sums.charged, sums.billed + sums.inDoubt, 'charged is what was billed, and what is in doubt');
  const rows = new Map(await readAccounts(reader));
  for (const account of accounts.keys()) assert.ok(rows.has(account), `${account} is read beside the gateways`);
  for (const [account, { settled, held }] of rows) {
    const told = accounts.get(account) ?? { settled: 0, held: 0 };
    assert.deepEqual({ settled, held }, { settled: told.settled, held: 0 }, account);
  }
  const settled = [...accounts.values()].reduce((sum, each) => sum + each.settled, 0);
  assert.equal(settled, sums.charged, 'the accounts are the sum of the calls');
  return sums;
}

/** How an attempt ended by its record, and what it was charged. */
interface End {
  readonly charge: number;
  readonly held: number;
  readonly state: string;
  readonly isAbandoned: boolean;
  /** `returned`, or the kind of its failure. */
  readonly how: string;
}

function checkCall(
  { id, state }: StoredCall,
  records: readonly JournalEntry[],
  requests: readonly LedgerEntry[],
  sums: Sums,
): void {
  const ends = endsOf(records);
  const won = records.filter(({ kind }) => kind === 'dispatched').length;
  assert.ok(requests.length <= won, `${id} was sent ${requests.length} times, and ${won} attempts are on record`);
  const left = [...requests];
  const story = records.map(({ kind, body }) => `${kind} ${body}`).join('\n');
  for (const [at, end] of ends.entries()) {
    const isLast = at === ends.length - 1;
    const entry = end.how === 'never_sent' ? undefined : left.shift();
    const what = `${id} (${state}), attempt ${at + 1} (${JSON.stringify(end)}), request ${JSON.stringify(told(entry))}\n${story}`;
    checkAttempt(end, entry, isLast, what);
    sums.attempts += 1;
    sums.charged += end.charge;
    sums.billed += billed(entry);
    sums.inDoubt += end.charge - billed(entry);
    if (end.isAbandoned) sums.abandoned += 1;
    if (isUntold(end, entry)) sums.untold += 1;
  }
  assert.equal(left.length, 0, `${id} (${state}): ${left.length} requests of which no record says anything`);
}

const told = (entry: LedgerEntry | undefined) =>
  entry === undefined ? null : { billed: billed(entry), ended: entry.ended, events: entry.events };

/** INVARIANT: what was charged without a bill of the same amount is all that was held, and no less than any bill. */
const isUntold = ({ charge }: End, entry: LedgerEntry | undefined): boolean => charge !== billed(entry);

function checkAttempt(end: End, entry: LedgerEntry | undefined, isLast: boolean, what: string): void {
  if (end.how === 'returned') assert.equal(end.charge, billed(entry), what);
  if (!isUntold(end, entry)) return;
  assert.equal(end.charge, end.held, what);
  assert.ok(end.charge > billed(entry), what);
  // What the provider refused, or told whole to a gateway that lived and listened, is known.
  const isHeard = !end.isAbandoned && end.how !== 'cancelled';
  if (isHeard) assert.ok(entry !== undefined && entry.billed !== null, what);
  if (!isHeard) assert.ok(isLast, what);
}

function howOf(kind: string, { state, end }: Fields): string {
  // What missed its window was never sent, and is claimed again at once.
  if (kind === 'retry_planned' && end === undefined) return 'never_sent';
  return end?.kind ?? (state === 'SUCCEEDED' ? 'returned' : (state ?? ''));
}

/** One for each attempt that ended, or whose process did. */
function endsOf(records: readonly JournalEntry[]): readonly End[] {
  let [used, held, isOut] = [0, 0, false];
  const ends: End[] = [];
  for (const { kind, body } of records) {
    const fields = JSON.parse(body) as Fields;
    const [charge] = fields.budgets ?? [];
    if (kind === 'prepared') held = charge?.held ?? 0;
    if (kind === 'dispatched') isOut = true;
    const { state = '', event = '' } = fields;
    const total = kind === 'retry_planned' ? (charge?.used ?? used) : charge?.spent;
    if (total === undefined) continue;
    const how = howOf(kind, fields);
    // A call that is cancelled between two attempts ends without one.
    if (isOut) ends.push({ charge: total - used, held, state, isAbandoned: event === 'abandoned', how });
    else assert.equal(total, used, body);
    [used, isOut] = [total, false];
  }
  return ends;
}
