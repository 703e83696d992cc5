/**
 * Finds keys in texts, also when they were split. A secret is recognised by its hash: first right after its id, then
 * anywhere. The work is bounded; above the bound everything long is hidden.
 */
import { addRange, join, joinedInTurn, mark, pieceAt, type Joined, type Range, type Text } from './key-pieces.ts';
import { idChars, idClass, secretChars, secretHash } from './key-text.ts';

/** Of the keys whose ids were found. */
export interface LiveKeys {
  /** The hashes of the secrets of those that work, by id. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Ids that could not be checked: they count as keys. */
  readonly unsure: ReadonlySet<string>;
}

export interface FoundKeys {
  readonly rangesIn: (text: Text) => readonly Range[];
  /** Whether a secret may be anywhere: then everything long enough to be much of one is hidden. */
  readonly hidesLong: boolean;
  /** Ids of the keys that were, or may have been, disclosed. */
  readonly ids: ReadonlySet<string>;
}

export interface KeySearch {
  readonly ids: ReadonlySet<string>;
  find(live: LiveKeys): FoundKeys;
}

const prefix = new RegExp(`rk_(?=(${idClass}{${idChars}})_)`, 'g');
const prefixChars = 'rk_'.length + idChars + '_'.length;
/** Longer texts are not searched everywhere. */
const maxSearchedChars = 1 << 17;
/** More secrets than this are not masked one by one. */
const maxSecrets = 50;
/** Shorter parts of a secret disclose too little to matter. Member names may be longer, because programs read them. */
const longChars = { text: 16, name: 32 };
const gramChars = 8;
/** 32 bytes in base64 end in one of these. */
const lastChars = new Set('AEIMQUYcgkosw048');

/** `runs` are texts that belong together; `orders` are other orders in which parts of a key could follow each other. */
export function createKeySearch(runs: readonly (readonly Text[])[], orders: readonly (readonly Text[])[]): KeySearch {
  const texts = new Set([...runs.flat(), ...orders.flat()]);
  const chars = [...texts].reduce((sum, { text }) => sum + text.length, 0);
  const isSearched = chars <= maxSearchedChars;
  const joined = isSearched ? [...runs, ...orders].flatMap(joinedInTurn) : runs.map((run) => join(run, 1));
  const ids = new Set(joined.flatMap(({ text }) => [...text.matchAll(prefix)].map(([, id = '']) => id)));
  return {
    ids,
    find(known) {
      const hashes = new Map([...known.hashes].filter(([id]) => ids.has(id)));
      const unsure = new Set([...known.unsure].filter((id) => ids.has(id)));
      const secrets = secretsBehind(joined, hashes);
      const missing = new Map([...hashes].flatMap(([id, hash]) => (secrets.has(id) ? [] : [[hash, id]])));
      if (isSearched) searchEverywhere(joined, missing, secrets);
      const found = findRanges(joined, secrets, { hashes, unsure });
      const isAnywhere = found.isCut || unsure.size > 0 || secrets.size > maxSecrets;
      const hidesLong = isAnywhere || (!isSearched && missing.size > 0);
      if (hidesLong) for (const id of [...missing.values(), ...unsure]) found.ids.add(id);
      return { rangesIn: (text) => found.ranges.get(text) ?? [], hidesLong, ids: found.ids };
    },
  };
}

const secretBehind = ({ text }: Joined, index: number): string =>
  text.slice(index + prefixChars, index + prefixChars + secretChars);

function secretsBehind(joined: readonly Joined[], hashes: LiveKeys['hashes']): Map<string, string> {
  const secrets = new Map<string, string>();
  for (const each of joined)
    for (const { 1: id = '', index } of each.text.matchAll(prefix)) {
      const hash = secrets.has(id) ? undefined : hashes.get(id);
      const secret = secretBehind(each, index);
      if (hash !== undefined && secretHash(secret) === hash) secrets.set(id, secret);
    }
  return secrets;
}

/** Removes what it finds from `missing`. */
function searchEverywhere(joined: readonly Joined[], missing: Map<string, string>, secrets: Map<string, string>): void {
  for (const { text } of joined)
    for (let end = secretChars; end <= text.length && missing.size > 0; end++) {
      if (!lastChars.has(text.charAt(end - 1))) continue;
      const secret = text.slice(end - secretChars, end);
      const hash = secretHash(secret);
      const id = missing.get(hash);
      if (id === undefined) continue;
      secrets.set(id, secret);
      missing.delete(hash);
    }
}

interface Ranges {
  readonly ranges: Map<Text, Range[]>;
  readonly ids: Set<string>;
  /** Part of a secret follows its id, and the rest was not found. */
  isCut: boolean;
}

function findRanges(joined: readonly Joined[], secrets: ReadonlyMap<string, string>, live: LiveKeys): Ranges {
  const found: Ranges = { ranges: new Map(), ids: new Set(), isCut: false };
  for (const each of joined)
    for (const { 1: id = '', index } of each.text.matchAll(prefix)) {
      if (!live.hashes.has(id) && !live.unsure.has(id)) continue;
      const isWhole = secrets.get(id) === secretBehind(each, index);
      // INVARIANT: what directly follows the id of a live key is masked, whether or not it is its secret.
      const chars = isWhole
        ? secretChars
        : Math.min(pieceAt(each, index + prefixChars - 1).end - index - prefixChars, secretChars);
      if (chars === 0) continue;
      if (chars < secretChars && !secrets.has(id)) found.isCut = true;
      found.ids.add(id);
      addRange(found.ranges, each, { start: index, end: index + prefixChars + chars, shown: `rk_${id}_${mark}` });
    }
  for (const [id, secret] of [...secrets].slice(0, maxSecrets)) {
    found.ids.add(id);
    for (const each of joined)
      for (const part of [...wholesOf(secret, each), ...partsOf(secret, each)])
        addRange(found.ranges, each, { ...part, shown: mark });
  }
  return found;
}

interface Part {
  readonly start: number;
  readonly end: number;
}

function wholesOf(secret: string, { text }: Joined): readonly Part[] {
  const parts: Part[] = [];
  for (let start = text.indexOf(secret); start !== -1; start = text.indexOf(secret, start + secretChars))
    parts.push({ start, end: start + secretChars });
  return parts;
}

/** Long parts of the secret in one piece. Each contains one of the secret's aligned groups of eight characters. */
function partsOf(secret: string, joined: Joined): readonly Part[] {
  if (!joined.leavesNothingOut) return [];
  const { text } = joined;
  const parts: Part[] = [];
  for (let place = 0; place + gramChars <= secretChars; place += gramChars) {
    const gram = secret.slice(place, place + gramChars);
    for (let at = text.indexOf(gram); at !== -1; at = text.indexOf(gram, at + gramChars)) {
      const piece = pieceAt(joined, at);
      let [start, end] = [at, at + gramChars];
      while (start > piece.start && start > at - place && text[start - 1] === secret[place + start - 1 - at])
        start -= 1;
      while (end < piece.end && text[end] === secret[place + end - at]) end += 1;
      if (end <= piece.end && end - start >= longChars.text) parts.push({ start, end });
    }
  }
  return parts;
}

/** Hides long runs of characters; the id of a key may be shown. */
export function hideLong(text: string, least = longChars.text): string {
  return text.replaceAll(/[\w-]+/g, (run) => {
    const id = run.slice(-prefixChars);
    const kept = id.search(prefix) === 0 ? id : '';
    return run.length - kept.length < least ? run : `${mark}${kept}`;
  });
}

export const hideLongName = (name: string): string => hideLong(name, longChars.name);
