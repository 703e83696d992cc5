/** Resolves an id from a unique prefix, as git does for commits. The caller provides the ids. */
export type MeantId =
  | { readonly kind: 'one'; readonly id: string }
  | { readonly kind: 'several'; readonly ids: readonly string[] }
  | { readonly kind: 'none' };

/** How many are named where several begin so. */
const maxNamed = 5;
/** What is looked up: one more than is named. */
export const maxLookedAt = maxNamed + 1;
/** Behind `call_` or `apr_`, where something is decided and not only looked at. */
const leastToDecide = 8;

/** Lists are read from the newest down, those before this one: it comes after every id that begins so. */
export const afterAll = (beginning: string): string => `${beginning}~`;

/** Ids of calls and approvals are a word, `_`, and 26 characters. */
export const isWhole = (given: string): boolean => /^[a-z]+_[0-9a-z]{26}$/.test(given);

/** True for a beginning that says enough for this. */
export function saysEnough(beginning: string, use: 'look' | 'decide'): boolean {
  const [, rest = ''] = /^[a-z]+_([0-9a-z_]*)$/.exec(beginning) ?? [];
  return rest.length >= (use === 'look' ? 1 : leastToDecide);
}

/** As lists and messages shorten them, with the mark at the end. */
export const unmarked = (given: string): string => given.replace(/(?:…|\.\.\.)$/, '');

/** `found` are ids of a list that holds all which begin so, or `maxLookedAt` of them. */
export function meantId(beginning: string, found: readonly string[]): MeantId {
  const ids = found.filter((id) => id.startsWith(beginning));
  const [id] = ids;
  if (id === undefined) return { kind: 'none' };
  return ids.length === 1 ? { kind: 'one', id } : { kind: 'several', ids: ids.slice(0, maxNamed) };
}

/** What is taken for a beginning, or a sentence for whoever gave it. What begins nothing is taken as it is. */
export function chosenId(
  beginning: string,
  use: 'look' | 'decide',
  meant: MeantId,
): { readonly id: string } | { readonly problem: string } {
  if (meant.kind === 'none') return { id: beginning };
  if (meant.kind === 'several') return { problem: severalMeant(beginning, meant.ids) };
  return saysEnough(beginning, use) ? { id: meant.id } : { problem: tooShort(beginning, meant.id) };
}

const tooShort = (beginning: string, id: string): string =>
  `'${beginning}' begins ${id}, and is too short to decide by: give at least ${leastToDecide} characters behind '${id.slice(0, id.indexOf('_') + 1)}'`;

export const severalMeant = (beginning: string, ids: readonly string[]): string =>
  `several begin with '${beginning}': ${ids.join(', ')}${ids.length < maxNamed ? '' : ', …'}; give more characters`;
