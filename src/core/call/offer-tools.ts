/**
 * Chooses which tools a reply offers where no workflow says what comes next. Of many tools only the nearest names are
 * offered, with the total, so that replies stay small. Pure.
 */
import type { Catalogue } from './catalogue.ts';
import { distance } from '../values/nearest.ts';

/** Names in one list of a reply. */
export const maxOffered = 32;
/** Of a list that was cut, the first few are advice enough. */
const maxAdvised = 5;

const totals = new WeakMap<readonly string[], number>();
const offers = new WeakMap<Catalogue, Map<string, readonly string[]>>();

/**
 * In the order of declaration if all are offered, otherwise the nearest first. The same object for the same tool of a
 * catalogue.
 */
export function offerTools(listed: Catalogue, asked: string): readonly string[] {
  if (listed.size <= maxOffered) return [...listed.keys()];
  const known = offers.get(listed) ?? new Map<string, readonly string[]>();
  offers.set(listed, known);
  const found = known.get(asked);
  if (found !== undefined) return found;
  const offered = cutOffer([...listed.keys()], (name) => (asked === '' ? 0 : distance(asked, name)));
  // Only names of tools are kept: what callers make up has no bound.
  if (asked === '' || listed.has(asked)) known.set(asked, offered);
  return offered;
}

/** As they are given if all are offered, otherwise the nearest first. */
export function cutOffer(names: readonly string[], apartOf: (name: string) => number): readonly string[] {
  if (names.length <= maxOffered) return names;
  const apart = new Map(names.map((name) => [name, apartOf(name)]));
  const offered = names.toSorted((one, other) => (apart.get(one) ?? 0) - (apart.get(other) ?? 0)).slice(0, maxOffered);
  totals.set(offered, names.length);
  return offered;
}

/** How many there are of a list that was cut; null if the list is whole. */
export function totalOf(offered: readonly string[]): number | null {
  return totals.get(offered) ?? null;
}

/** What a resolution names of the list that stands beside it twice already. */
export function adviseOf(offered: readonly string[]): readonly string[] {
  return totalOf(offered) === null ? offered : offered.slice(0, maxAdvised);
}
