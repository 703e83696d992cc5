/**
 * Could there be a requester who left an equal call? Almost never, and every write asks: the owner sees every commit, so
 * it remembers where to look and spares the file. A yes may be wrong, since places are not forgotten; a no never is.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { CallChange, CommitResult, Transition } from '../../../ports/store.ts';

/** Beyond this many, every question goes to the file. */
const maxPlaces = 10_000;

type Place = { session: string | null; fingerprint: string };

const nameOf = (session: string | null, fingerprint: string) => `${session} ${fingerprint}`;

/** A requester leaves, or a call that someone left while it waited for an approval becomes another's. */
const mayEmpty = (call: CallChange): boolean =>
  call.kind === 'mark'
    ? call.requester === 'left'
    : call.kind === 'update' && call.expect.state === 'AWAITING_APPROVAL';

export function createEmptyPlaces(database: DatabaseSync) {
  const select = 'SELECT session, fingerprint FROM calls';
  const found = database
    .prepare(`${select} INDEXED BY calls_abandoned WHERE requester_left_at IS NOT NULL LIMIT ?`)
    .all(maxPlaces + 1) as unknown as Place[];
  const byId = database.prepare(`${select} WHERE id = ? AND requester_left_at IS NOT NULL`);
  let places: Set<string> | null = new Set(found.map(({ session, fingerprint }) => nameOf(session, fingerprint)));
  if (found.length > maxPlaces) places = null;
  return {
    /** INVARIANT: a place is known before the commit that emptied it is acknowledged. */
    committed({ call }: Transition, result: CommitResult): void {
      if (places === null || call === null || result.kind !== 'committed' || !mayEmpty(call)) return;
      const place = byId.get(call.kind === 'mark' ? call.id : call.call.id) as Place | undefined;
      if (place !== undefined) places.add(nameOf(place.session, place.fingerprint));
      if (places.size > maxPlaces) places = null;
    },
    mayBe: (session: string, fingerprint: string): boolean =>
      places === null || places.has(nameOf(session, fingerprint)),
  };
}
