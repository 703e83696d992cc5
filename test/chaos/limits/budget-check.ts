/**
 * What must hold of budgets and rates, whoever was killed: by the rows that are read beside the gateways, and by the
 * journal, record by record.
 */
import assert from 'node:assert/strict';
import { callStates } from '../../../src/core/taxonomy.ts';
import type { StoredCall, StoreReader } from '../../../src/ports/store.ts';
import { allCalls } from '../../support/read-journal.ts';
import { accountOf, agentOf, maxDollars, rate } from './budget-world.ts';

const scale = 1_000_000;
const maxMicros = maxDollars * scale;
const tenant = 'default';

/** At this instant no budget is passed, by the rows. Returns how many had something on them. */
export async function checkNow(reader: StoreReader, generations: number): Promise<number> {
  let used = 0;
  for (let at = 0; at < generations; at++) {
    const { settled, held, allowed } = await reader.account(tenant, accountOf(agentOf(at)));
    assert.ok(settled >= 0 && held >= 0 && allowed === 0, `${agentOf(at)}: ${settled} settled, ${held} held`);
    assert.ok(settled + held <= maxMicros, `${agentOf(at)}: ${settled} settled and ${held} held of ${maxMicros}`);
    if (settled + held > 0) used += 1;
  }
  return used;
}

interface Ledger {
  settled: number;
  readonly holds: Map<string, number>;
}

export interface Told {
  readonly calls: readonly StoredCall[];
  readonly ledgers: ReadonlyMap<string, Ledger>;
  readonly admitted: number;
}

const paid: ReadonlySet<string> = new Set(['SUCCEEDED', 'CLOSED_UNKNOWN']);
interface Fields {
  readonly state?: keyof typeof callStates;
  readonly budgets?: readonly { readonly account: string; readonly held: number; readonly spent?: number }[];
}

/** INVARIANT: settled and held together never pass the budget, after any record of the journal. */
export async function replayBudgets(reader: StoreReader): Promise<Told> {
  const calls = await allCalls(reader);
  const records = (await Promise.all(calls.map(({ id }) => reader.recordsOf(id)))).flat();
  const ledgers = new Map<string, Ledger>();
  const admissions: number[] = [];
  for (const { kind, call, body, timeMs } of records.sort((a, b) => a.epoch - b.epoch || a.seq - b.seq)) {
    const { state, budgets = [] } = JSON.parse(body) as Fields;
    if (kind === 'prepared') admissions.push(timeMs);
    for (const { account, held, spent } of budgets) {
      const ledger = ledgers.get(account) ?? { settled: 0, holds: new Map<string, number>() };
      ledgers.set(account, ledger);
      if (kind === 'prepared') ledger.holds.set(String(call), held);
      if (spent === undefined || state === undefined || !callStates[state].terminal) continue;
      // INVARIANT: charged once, what it held, where it held it.
      assert.equal(ledger.holds.get(String(call)), held, `${call} gives back ${held} of ${account}`);
      assert.equal(spent, paid.has(state) ? held : 0, `${call} is ${state}`);
      ledger.holds.delete(String(call));
      ledger.settled += spent;
      assert.ok(heldIn(ledger) + ledger.settled <= maxMicros, `${account} after ${kind} of ${call}`);
    }
    for (const { account } of budgets) {
      const ledger = ledgers.get(account);
      if (ledger !== undefined) assert.ok(heldIn(ledger) + ledger.settled <= maxMicros, `${account} after ${call}`);
    }
  }
  checkRate(admissions);
  return { calls, ledgers, admitted: admissions.length };
}

export const heldIn = ({ holds }: Ledger): number => [...holds.values()].reduce((sum, amount) => sum + amount, 0);

/** From any admission to any later one: no more than the rate gives in that time, and the burst. */
function checkRate(admissions: readonly number[]): void {
  const intervalMs = 1_000 / rate.perSecond;
  let least = Infinity;
  for (const [at, timeMs] of admissions.entries()) {
    const ahead = at * intervalMs - timeMs;
    least = Math.min(least, ahead);
    assert.ok(ahead - least <= (rate.burst - 1) * intervalMs + 1e-6, `admission ${at + 1} is beyond rate and burst`);
  }
}

/** The rows say what the journal says, and only calls that may still cost something hold anything. */
export async function checkRows(reader: StoreReader, { calls, ledgers }: Told, isAtRest: boolean): Promise<void> {
  for (const [account, ledger] of ledgers) {
    const { settled, held } = await reader.account(tenant, account);
    assert.deepEqual({ settled, held }, { settled: ledger.settled, held: heldIn(ledger) }, account);
  }
  for (const { id, state } of calls) {
    const rows = await reader.holdsOf(id);
    const expected = [...ledgers].flatMap(([account, { holds }]) => {
      const amount = holds.get(id);
      return amount === undefined ? [] : [{ account, amount }];
    });
    assert.deepEqual(rows, expected, `${id}, ${state}`);
    if (rows.length > 0) assert.ok(!callStates[state as 'FAILED'].terminal, `${id} is ${state}, and holds something`);
    // INVARIANT: nothing is held at rest but what is in doubt.
    if (isAtRest) assert.equal(rows.length > 0, state === 'IN_DOUBT', `${id} is ${state} at rest`);
  }
}
