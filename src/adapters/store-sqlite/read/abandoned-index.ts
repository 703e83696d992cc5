/**
 * Remembers for which sessions and fingerprints there may be a call whose requester left. Every write asks, and almost
 * never is there one: the owner sees every commit, so it answers without reading the file. A yes may be wrong; a no
 * never is.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { CallChange, CommitResult, Transition } from '../../../ports/store.ts';

/** Beyond this many every lookup reads the file. */
const maxEntries = 10_000;

type Entry = { session: string | null; fingerprint: string };

const nameOf = (session: string | null, fingerprint: string) => `${session} ${fingerprint}`;

/** A requester leaves, or a call that was left while it waited for an approval is taken over. */
const mayAbandon = (call: CallChange): boolean =>
  call.kind === 'mark'
    ? call.requester === 'left'
    : call.kind === 'update' && call.expect.state === 'AWAITING_APPROVAL';

export function createAbandonedIndex(database: DatabaseSync) {
  const select = 'SELECT session, fingerprint FROM calls';
  const found = database
    .prepare(`${select} INDEXED BY calls_abandoned WHERE requester_left_at IS NOT NULL LIMIT ?`)
    .all(maxEntries + 1) as unknown as Entry[];
  const byId = database.prepare(`${select} WHERE id = ? AND requester_left_at IS NOT NULL`);
  let known: Set<string> | null = new Set(found.map(({ session, fingerprint }) => nameOf(session, fingerprint)));
  if (found.length > maxEntries) known = null;
  return {
    /** INVARIANT: a call is known here before the commit that says its requester left is acknowledged. */
    committed({ call }: Transition, result: CommitResult): void {
      if (known === null || call === null || result.kind !== 'committed' || !mayAbandon(call)) return;
      const entry = byId.get(call.kind === 'mark' ? call.id : call.call.id) as Entry | undefined;
      if (entry !== undefined) known.add(nameOf(entry.session, entry.fingerprint));
      if (known.size > maxEntries) known = null;
    },
    mayHave: (session: string, fingerprint: string): boolean =>
      known === null || known.has(nameOf(session, fingerprint)),
  };
}
