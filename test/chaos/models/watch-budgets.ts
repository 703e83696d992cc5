/** Reads accounts beside the gateways, again and again: none is passed but by what the journal says is over. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Position } from '../../../src/core/journal/record.ts';
import type { StoreReader } from '../../../src/ports/store.ts';
import { withReader } from '../../support/read-journal.ts';
import { accountOf, agentCount, agentOf } from './spend-world.ts';

const pageSize = 1_000;
const lookEveryMs = 20;

/** Returns how often it looked. Rejects with the first account that is passed. */
export async function watchBudgets(file: string, maxMicros: number, signal: AbortSignal): Promise<number> {
  return withReader(file, async (reader) => {
    const overage = followOverage(reader);
    let looks = 0;
    for (; !signal.aborted; looks++) {
      const seen = await readAccounts(reader);
      // Read after the accounts: what was over by then is among it.
      const over = await overage();
      for (const [account, { settled, held }] of seen) {
        const limit = maxMicros + (over.get(account) ?? 0);
        assert.ok(settled + held <= limit, `${account}: ${settled} settled and ${held} held of ${limit}`);
      }
      await pause(lookEveryMs);
    }
    return looks;
  });
}

export async function readAccounts(reader: StoreReader) {
  const names = Array.from({ length: agentCount }, (_, at) => accountOf(agentOf(at)));
  return Promise.all(names.map(async (name) => [name, await reader.account('default', name)] as const));
}

interface Charge {
  readonly account: string;
  readonly over?: number;
}

function followOverage(reader: StoreReader): () => Promise<ReadonlyMap<string, number>> {
  const over = new Map<string, number>();
  let after: Position = { epoch: 0, seq: 0 };
  return async () => {
    for (;;) {
      const page = await reader.entries(after, pageSize);
      for (const { body } of page) {
        const { budgets = [] } = JSON.parse(body) as { readonly budgets?: readonly Charge[] };
        for (const charge of budgets) over.set(charge.account, (over.get(charge.account) ?? 0) + (charge.over ?? 0));
      }
      const last = page.at(-1);
      if (last !== undefined) after = { epoch: last.epoch, seq: last.seq };
      if (page.length < pageSize) return over;
    }
  };
}
