/**
 * Finds API keys in the result of a tool and masks them. Looks into every text and member name, at keys split over
 * items, lines or members, and into base64 and bytes. The caller says which ids are live. Unmasked parts are shared,
 * not copied. Takes time linear in the size of the value.
 */
import { isObject } from '../../core/values/json.ts';
import { cutOut, type Range, type Text } from './key-pieces.ts';
import { createKeySearch, hideLong, hideLongName, type KeySearch, type LiveKeys } from './key-search.ts';

export interface FoundKeyIds {
  /** The distinct ids of everything that could be a key or part of one. */
  readonly ids: readonly string[];
  /** The value with live keys masked, and their ids; null if there are none. */
  mask(live: LiveKeys): { readonly value: unknown; readonly keyIds: readonly string[] } | null;
}

/** Base64 at least as long as a key, possibly split into lines. */
const base64 = /[A-Za-z0-9+/_-]{20,}(?:\r?\n[A-Za-z0-9+/_-]+)*={0,2}/g;
const minBase64Chars = 84;
/** `rk_` in base64 at each of its three possible offsets, also as UTF-16. */
const encodedPrefix = new RegExp(
  ['cmtf', 'JrX', 'ya1', 'cgBr', 'AGsA', 'awBf'].map((part) => [...part].join('\\s{0,2}')).join('|'),
);
/** Fewer bytes cannot hold the id of a key and part of its secret. */
const minBytes = 21;

/** A text of the value: a member's value, an item, or a member's name. */
interface Leaf extends Text {
  readonly parent: object;
  readonly key: string;
  readonly isName: boolean;
  /** Converts a text back, if the leaf was bytes. */
  readonly write?: (text: string) => unknown;
}

/** Part of a text that is base64. */
interface Encoded {
  readonly start: number;
  readonly end: number;
  readonly decoded: Text;
  readonly search: KeySearch;
}

/** Null if there is nothing like a key in it. */
export function findKeyIds(value: unknown): FoundKeyIds | null {
  if (!mayHoldKeys(value, new Set())) return null;
  const root = { value };
  const { runs, values, all } = leavesIn(root);
  const search = createKeySearch(runs, [values, all]);
  const encoded = new Map(all.map((leaf) => [leaf, encodedIn(leaf.text)]));
  const ids = new Set(search.ids);
  for (const parts of encoded.values()) for (const part of parts) for (const id of part.search.ids) ids.add(id);
  if (ids.size === 0) return null;
  return {
    ids: [...ids],
    mask(live) {
      const found = search.find(live);
      const keyIds = new Set(found.ids);
      const changes = new Map<object, Change[]>();
      for (const leaf of all) {
        const ranges = [...found.rangesIn(leaf), ...maskEncoded(encoded.get(leaf) ?? [], live, keyIds)];
        const cut = cutOut(leaf.text, ranges);
        const text = !found.hidesLong ? cut : leaf.isName ? hideLongName(cut) : hideLong(cut);
        if (text === leaf.text) continue;
        const others = changes.get(leaf.parent);
        const change = { key: leaf.key, isName: leaf.isName, item: leaf.write?.(text) ?? text };
        if (others === undefined) changes.set(leaf.parent, [change]);
        else others.push(change);
      }
      if (changes.size === 0) return null;
      return { value: (rebuilt(root, changes, new Map()) as typeof root).value, keyIds: [...keyIds] };
    },
  };
}

/** Every part that may be base64 and hold a key. */
function encodedIn(text: string): readonly Encoded[] {
  if (text.length < minBase64Chars || !encodedPrefix.test(text)) return [];
  return [...text.matchAll(base64)].flatMap(({ 0: part, index }) => {
    if (part.length < minBase64Chars) return [];
    const decoded = { text: Buffer.from(part, 'base64').toString('latin1') };
    if (!mayHoldKey(decoded.text)) return [];
    return [{ start: index, end: index + part.length, decoded, search: createKeySearch([[decoded]], []) }];
  });
}

/** Replacements for the parts that hold live keys; adds the ids of these keys. */
function maskEncoded(parts: readonly Encoded[], live: LiveKeys, keyIds: Set<string>): readonly Range[] {
  return parts.flatMap(({ start, end, decoded, search }) => {
    const { rangesIn, hidesLong, ids } = search.find(live);
    const cut = cutOut(decoded.text, rangesIn(decoded));
    const text = hidesLong ? hideLong(cut) : cut;
    if (text === decoded.text) return [];
    for (const id of ids) keyIds.add(id);
    return [{ start, end, shown: Buffer.from(text, 'utf8').toString('base64') }];
  });
}

/** A path in the value, the same for every item of a list. */
interface Spot {
  readonly leaves: Leaf[];
  readonly members: Map<string, Spot>;
}

const createSpot = (): Spot => ({ leaves: [], members: new Map() });

interface Leaves {
  /** Texts that belong together: those at the same path in each item of a list. Names are separate. */
  readonly runs: readonly (readonly Leaf[])[];
  readonly values: readonly Leaf[];
  /** With names, each before its value. */
  readonly all: readonly Leaf[];
}

/** All texts, in order. */
function leavesIn(root: object): Leaves {
  const runs: Leaf[][] = [];
  const values: Leaf[] = [];
  const all: Leaf[] = [];
  const seen = new Set<object>();
  const walk = (parent: object, spot: Spot): void => {
    if (seen.has(parent)) return;
    seen.add(parent);
    const isList = Array.isArray(parent);
    for (const key of Object.keys(parent)) {
      if (!isList && parent !== root) {
        const name = { parent, key, isName: true, text: key };
        if (key.includes('rk_')) runs.push([name]);
        all.push(name);
      }
      const item: unknown = (parent as Record<string, unknown>)[key];
      if (typeof item !== 'string' && (typeof item !== 'object' || item === null)) continue;
      const at = isList ? '' : key;
      let next = spot.members.get(at);
      if (next === undefined) {
        next = createSpot();
        spot.members.set(at, next);
        runs.push(next.leaves);
      }
      const bytes = typeof item === 'object' ? bytesIn(item) : null;
      if (typeof item === 'object' && bytes === null) {
        walk(item, next);
        continue;
      }
      const leaf = { parent, key, isName: false, ...(bytes ?? { text: item as string }) };
      next.leaves.push(leaf);
      values.push(leaf);
      all.push(leaf);
    }
  };
  walk(root, createSpot());
  return { runs, values, all };
}

/** Bytes as JSON writes them: a list of numbers, or an object with numbered members. Null otherwise. */
function bytesIn(value: object): Required<Pick<Leaf, 'text' | 'write'>> | null {
  const isList = Array.isArray(value);
  if (typeof (value as { 0?: unknown })[0] !== 'number') return null;
  const bytes: readonly unknown[] = isList ? value : Object.values(value);
  if (bytes.length < minBytes || !(bytes.length - 1 in value) || !bytes.every(isByte)) return null;
  return {
    text: Buffer.from(bytes as number[]).toString('latin1'),
    write: (text) => (isList ? [...Buffer.from(text)] : { ...Buffer.from(text) }),
  };
}

const isByte = (item: unknown): boolean => Number.isInteger(item) && (item as number) >= 0 && (item as number) < 256;

/** A cheap test: `_` after `k` after `r` is rare. The text may continue an earlier one. */
function mayHoldKey(text: string): boolean {
  for (let at = text.indexOf('_'); at !== -1; at = text.indexOf('_', at + 1)) {
    const k = lastBefore(text, at, 'k');
    if (k === -1 || (k !== null && lastBefore(text, k, 'r') !== null)) return true;
  }
  return false;
}

/** Whitespace and zero bytes of UTF-16, also as JSON escapes. */
const mayBeGap = new Set(' \n\r\t\0\\nrtu0');

/**
 * The index of this character before the place, with only gaps between. -1 at the start of the text, null otherwise.
 */
function lastBefore(text: string, at: number, wanted: string): number | null {
  let before = at - 1;
  while (before >= 0 && text.charAt(before) !== wanted && mayBeGap.has(text.charAt(before))) before -= 1;
  return before < 0 || text.charAt(before) === wanted ? before : null;
}

/** The same test for all texts of a value. Most results end here. */
function mayHoldKeys(value: unknown, seen: Set<object>): boolean {
  if (typeof value === 'string')
    return mayHoldKey(value) || (value.length >= minBase64Chars && encodedPrefix.test(value));
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  const bytes = bytesIn(value);
  if (bytes !== null) return mayHoldKey(bytes.text);
  if (Array.isArray(value)) return value.some((item) => mayHoldKeys(item, seen));
  const members = value as Readonly<Record<string, unknown>>;
  return Object.keys(members).some((name) => mayHoldKey(name) || mayHoldKeys(members[name], seen));
}

interface Change {
  readonly key: string;
  readonly isName: boolean;
  readonly item: unknown;
}

function rebuilt(value: unknown, changes: ReadonlyMap<object, readonly Change[]>, done: Map<object, unknown>): unknown {
  if (!isObject(value) && !Array.isArray(value)) return value;
  if (done.has(value)) return done.get(value);
  // A cyclic value is not JSON, and is refused later.
  done.set(value, value);
  const own = changes.get(value) ?? [];
  const items = new Map(own.filter(({ isName }) => !isName).map(({ key, item }) => [key, item]));
  const names = new Map(own.filter(({ isName }) => isName).map(({ key, item }) => [key, String(item)]));
  const before = value as unknown as Readonly<Record<string, unknown>>;
  let changed = own.length > 0;
  const entries = Object.keys(before).map((key): [string, unknown] => {
    const item = items.get(key) ?? rebuilt(before[key], changes, done);
    if (item !== before[key]) changed = true;
    return [names.get(key) ?? key, item];
  });
  const after = !changed ? value : Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
  done.set(value, after);
  return after;
}
