/**
 * Does a value that a tool gave hold a key of a gateway, and how is it shown without it? Looks into every text and every name of a
 * member, at what was cut over the items of a list, over lines or over members, and into base64 and bytes. Which ids are those of live keys is
 * asked elsewhere. What is not masked is shared, not copied. Takes time by the size of the value.
 */
import { isObject } from '../../core/values/json.ts';
import { cutOut, type Range, type Text } from './key-pieces.ts';
import { createKeySearch, hideLong, hideLongName, type KeySearch, type LiveKeys } from './key-search.ts';

export interface FoundKeyIds {
  /** Of whatever could be a key or part of one, each once. */
  readonly ids: readonly string[];
  /** The value without what live keys stand in it, and whose those are; null if there are none. */
  mask(live: LiveKeys): { readonly value: unknown; readonly keyIds: readonly string[] } | null;
}

/** As long as that of a whole key, in lines as programs cut them. */
const base64 = /[A-Za-z0-9+/_-]{20,}(?:\r?\n[A-Za-z0-9+/_-]+)*={0,2}/g;
const minBase64Chars = 84;
/** `rk_` at each of the three places that it can have in a group of three bytes, and the same in UTF-16. */
const encodedPrefix = new RegExp(
  ['cmtf', 'JrX', 'ya1', 'cgBr', 'AGsA', 'awBf'].map((part) => [...part].join('\\s{0,2}')).join('|'),
);
/** Fewer bytes hold no id of a key and something behind it. */
const minBytes = 21;

/** A text of the value: a member's value, an item, or a member's name. */
interface Leaf extends Text {
  readonly parent: object;
  readonly key: string;
  readonly isName: boolean;
  /** How another text is put in its place, if it stands there as bytes. */
  readonly write?: (text: string) => unknown;
}

/** Part of a text that is another one in base64. */
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

/** What stands in place of those parts that hold live keys; the ids of these are added. */
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

/** A place in the value, the same for every item of a list. */
interface Spot {
  readonly leaves: Leaf[];
  readonly members: Map<string, Spot>;
}

const createSpot = (): Spot => ({ leaves: [], members: new Map() });

interface Leaves {
  /** Texts that belong together: those at the same place of each item of a list. Names stand alone. */
  readonly runs: readonly (readonly Leaf[])[];
  readonly values: readonly Leaf[];
  /** With names, each before what it is the name of. */
  readonly all: readonly Leaf[];
}

/** All in their order. */
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

/** Numbers as JSON has them of a file that was read as bytes: a list, or members that are numbered. Null if it is nothing of the sort. */
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

/** Whether it is worth looking: an underscore after an r and a k is rare. What stands before the text is not known here. */
function mayHoldKey(text: string): boolean {
  for (let at = text.indexOf('_'); at !== -1; at = text.indexOf('_', at + 1)) {
    const k = lastBefore(text, at, 'k');
    if (k === -1 || (k !== null && lastBefore(text, k, 'r') !== null)) return true;
  }
  return false;
}

/** Blanks, and the second half of a character in UTF-16, also as JSON spells them. */
const mayBeGap = new Set(' \n\r\t\0\\nrtu0');

/** Where this character stands before the place, with nothing but what may be a gap between; -1 if the text begins there, null if neither. */
function lastBefore(text: string, at: number, wanted: string): number | null {
  let before = at - 1;
  while (before >= 0 && text.charAt(before) !== wanted && mayBeGap.has(text.charAt(before))) before -= 1;
  return before < 0 || text.charAt(before) === wanted ? before : null;
}

/** The same of any text in the value, without keeping anything: most results end here. */
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
  // A value within itself is no JSON, and is refused as such later.
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
