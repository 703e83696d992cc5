/**
 * The ceiling of a session, kept in its handle. It cannot be raised, since a changed handle names no session, and it
 * needs no place in the store.
 */
import { type Reach, reaches } from './policy.ts';

const mark = '~';

export const withCeiling = (handle: string, ceiling: Reach | null): string =>
  ceiling === null ? handle : `${handle}${mark}${ceiling}`;

export function ceilingOf(handle: string | null | undefined): Reach | null {
  const ending = handle?.split(mark)[1];
  return reaches.find((reach) => reach === ending) ?? null;
}

/** A reach that is not known is beyond every ceiling. */
export function isBeyond(reach: Reach, ceiling: Reach | null): boolean {
  const rank = reaches.indexOf(reach);
  return ceiling !== null && (rank < 0 || rank > reaches.indexOf(ceiling));
}
