/**
 * What must hold of the history of any workflow session: nothing is missing, and every state follows from the one
 * before.
 */
import assert from 'node:assert/strict';
import type { ErrorReply } from '../../src/index.ts';
import type { HistoryEntry, HistoryPage } from '../../src/shell/look/history.ts';

interface Histories {
  history(session: string, page?: { after?: number; limit?: number }): Promise<HistoryPage | ErrorReply>;
}

const pageSize = 200;

export async function wholeHistory(session: string, sessions: Histories): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page: HistoryPage | ErrorReply = await sessions.history(session, { after, limit: pageSize });
    assert.ok(!('error' in page), JSON.stringify(page));
    entries.push(...page.entries);
    after = page.next;
  }
  return entries;
}

/** Kinds of entries that may change the state, beside a success. */
const movers: ReadonlySet<string> = new Set(['timer_fired', 'session_reset', 'session_migrated']);

export const movesState = ({ kind, outcome }: HistoryEntry): boolean =>
  movers.has(kind) || (kind === 'attempt' && outcome === 'succeeded');

/**
 * INVARIANT: the states chain. Entries are numbered in the order in which they began, and steps have the turn one after
 * the other; so what moved the state is in order, each from the digest that the one before left, each one sequence
 * further.
 */
export function checkHistory(
  entries: readonly HistoryEntry[],
  now: { readonly seq: number; readonly state_digest: string },
): void {
  const [first, ...rest] = entries;
  assert.ok(first !== undefined && ['session_opened', 'session_forked'].includes(first.kind), JSON.stringify(first));
  assert.equal(first.seq, 0);
  const digestAt = new Map([[0, first.state_after]]);
  let seq = 0;
  for (const entry of rest.filter(movesState)) {
    const what = JSON.stringify(entry);
    assert.equal(entry.seq, seq + 1, `one sequence further than ${seq}: ${what}`);
    assert.equal(entry.state_before, digestAt.get(seq), `begins where the one before ended: ${what}`);
    seq = entry.seq;
    digestAt.set(seq, entry.state_after);
  }
  assert.equal(now.seq, seq, 'the session is where its history ends');
  assert.equal(now.state_digest, digestAt.get(seq), 'and in the state that its history ends in');
  // INVARIANT: what did not succeed changed nothing.
  for (const entry of rest) {
    if (movesState(entry) || entry.state_before === null) continue;
    assert.equal(entry.state_after, entry.state_before, JSON.stringify(entry));
    assert.equal(entry.state_before, digestAt.get(entry.seq), `saw a state that was there: ${JSON.stringify(entry)}`);
  }
}
