/**
 * Does a value that a tool gave hold a key of a gateway, and how is it shown without it? Looks into every text and every name of a
 * member, at texts that were cut over the items of a list or over lines, and into base64. Whether a text is a live key is asked
 * elsewhere. What is not masked is shared, not copied. Takes time by the size of the value.
 */
import { isObject } from '../../core/json.ts';
import { idChars, idClass, secretChars } from './key-text.ts';

export interface FoundKeyTexts {
  /** What could be a key, or the beginning of one, each once, as it would be written in one piece. */
  readonly texts: readonly string[];
  /** The value without those of them that are live. */
  mask(live: ReadonlySet<string>): unknown;
}

/** What a line break or an editor may put between two characters; `\n` also as JSON spells it. */
const gap = '(?:[ \\n\\r\\t]|\\\\[nrt]){0,8}';
const inPieces = new RegExp(
  `r${gap}k${gap}_${gap}(?:${idClass}${gap}){${idChars}}_${gap}(?:[\\w-]${gap}){0,${secretChars - 1}}[\\w-]`,
  'g',
);
const gaps = /[ \n\r\t]|\\[nrt]/g;
const inOnePiece = new RegExp(`^rk_${idClass}{${idChars}}_[\\w-]+`);
/** As long as that of a whole key, in lines as programs cut them. */
const base64 = /[A-Za-z0-9+/_-]{20,}(?:\r?\n[A-Za-z0-9+/_-]+)*={0,2}/g;
const minBase64Chars = 84;
/** `rk_` at each of the three places that it can have in a group of three bytes. */
const encodedPrefix = /c\s{0,2}m\s{0,2}t\s{0,2}f|J\s{0,2}r\s{0,2}X|y\s{0,2}a\s{0,2}1/;

/** A text of the value: a member's value, an item, or a member's name. */
interface Leaf {
  readonly parent: object;
  readonly key: string;
  readonly isName: boolean;
  readonly text: string;
}

/** Where something like a key stands in a text, and what it could be: whole with its gaps closed, or at least its beginning. */
interface Sight {
  readonly start: number;
  readonly end: number;
  readonly whole: string;
  readonly beginning: { readonly text: string; readonly end: number } | null;
}

/** Null if there is nothing like a key in it. */
export function findKeyTexts(value: unknown): FoundKeyTexts | null {
  if (!mayHoldKeys(value, new Set())) return null;
  const root = { value };
  const seen = new Set<string>();
  const runs = runsIn(root).map((leaves) => ({ leaves, sights: sightsIn(leaves.map(({ text }) => text).join('')) }));
  for (const { sights } of runs) note(sights, seen);
  const encoded = runs.flatMap(({ leaves }) => leaves).filter(({ text }) => text.length >= minBase64Chars);
  for (const { text } of encoded) eachEncoded(text, (sights) => (note(sights, seen), null));
  if (seen.size === 0) return null;
  return {
    texts: [...seen],
    mask(live) {
      const changes = new Map<object, Change[]>();
      for (const { leaves, sights } of runs) maskRun(leaves, sights, live, changes);
      return (rebuilt(root, changes, new Map()) as typeof root).value;
    },
  };
}

function note(sights: readonly Sight[], seen: Set<string>): void {
  for (const { whole, beginning } of sights) {
    seen.add(whole);
    if (beginning !== null) seen.add(beginning.text);
  }
}

/** A place in the value, the same for every item of a list. */
interface Spot {
  readonly leaves: Leaf[];
  readonly members: Map<string, Spot>;
}

const createSpot = (): Spot => ({ leaves: [], members: new Map() });

/** Texts that belong together: those at the same place of each item of a list, in their order. Names stand alone. */
function runsIn(root: object): readonly (readonly Leaf[])[] {
  const runs: Leaf[][] = [];
  const seen = new Set<object>();
  const walk = (parent: object, spot: Spot): void => {
    if (seen.has(parent)) return;
    seen.add(parent);
    const isList = Array.isArray(parent);
    for (const key of Object.keys(parent)) {
      if (!isList && key.includes('rk_')) runs.push([{ parent, key, isName: true, text: key }]);
      const item: unknown = (parent as Record<string, unknown>)[key];
      if (typeof item !== 'string' && (typeof item !== 'object' || item === null)) continue;
      const name = isList ? '' : key;
      let next = spot.members.get(name);
      if (next === undefined) {
        next = createSpot();
        spot.members.set(name, next);
        runs.push(next.leaves);
      }
      if (typeof item === 'string') next.leaves.push({ parent, key, isName: false, text: item });
      else walk(item, next);
    }
  };
  walk(root, createSpot());
  return runs;
}

/** Whether it is worth looking: an underscore after an r and a k is rare. What stands before the text is not known here. */
function mayHoldKey(text: string): boolean {
  for (let at = text.indexOf('_'); at !== -1; at = text.indexOf('_', at + 1)) {
    const k = lastBefore(text, at, 'k');
    if (k === -1 || (k !== null && lastBefore(text, k, 'r') !== null)) return true;
  }
  return false;
}

const mayBeGap = new Set([' ', '\n', '\r', '\t', '\\', 'n', 'r', 't']);

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
  if (Array.isArray(value)) return value.some((item) => mayHoldKeys(item, seen));
  const members = value as Readonly<Record<string, unknown>>;
  return Object.keys(members).some((name) => mayHoldKey(name) || mayHoldKeys(members[name], seen));
}

function sightsIn(text: string): readonly Sight[] {
  const sights: Sight[] = [];
  if (!mayHoldKey(text)) return sights;
  inPieces.lastIndex = 0;
  for (let found = inPieces.exec(text); found !== null; found = inPieces.exec(text)) {
    const [match] = found;
    const whole = match.replaceAll(gaps, '');
    const [piece] = inOnePiece.exec(match) ?? [];
    const beginning =
      piece === undefined || piece.length === match.length ? null : { text: piece, end: found.index + piece.length };
    sights.push({ start: found.index, end: found.index + match.length, whole, beginning });
    // What only looks like a key may begin before a key, and must not hide it.
    inPieces.lastIndex = found.index + 1;
  }
  return sights;
}

interface Change {
  readonly key: string;
  readonly isName: boolean;
  readonly text: string;
}

function maskRun(
  leaves: readonly Leaf[],
  sights: readonly Sight[],
  live: ReadonlySet<string>,
  changes: Map<object, Change[]>,
): void {
  const ranges = rangesOf(sights, live);
  let from = 0;
  for (const { parent, key, isName, text } of leaves) {
    const masked = maskEncoded(cutOut(text, from, ranges), live);
    from += text.length;
    if (masked === text) continue;
    const others = changes.get(parent);
    const change = { key, isName, text: masked };
    if (others === undefined) changes.set(parent, [change]);
    else others.push(change);
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly shown: string;
}

function rangesOf(sights: readonly Sight[], live: ReadonlySet<string>): readonly Range[] {
  const ranges: Range[] = [];
  for (const { start, end, whole, beginning } of sights) {
    if (start < (ranges.at(-1)?.end ?? 0)) continue;
    const shown = `${whole.slice(0, 'rk_'.length + idChars)}_…masked`;
    if (live.has(whole)) ranges.push({ start, end, shown });
    else if (beginning !== null && live.has(beginning.text)) ranges.push({ start, end: beginning.end, shown });
  }
  return ranges;
}

/** `from` is where the text begins in the run; what stands for a key stands where the key began. */
function cutOut(text: string, from: number, ranges: readonly Range[]): string {
  const to = from + text.length;
  let shown = '';
  let at = from;
  for (const range of ranges) {
    if (range.end <= from || range.start >= to) continue;
    const start = Math.max(range.start, from);
    shown += text.slice(at - from, start - from) + (range.start >= from ? range.shown : '');
    at = Math.min(range.end, to);
  }
  return at === from && shown === '' ? text : shown + text.slice(at - from);
}

function maskEncoded(text: string, live: ReadonlySet<string>): string {
  if (text.length < minBase64Chars) return text;
  return eachEncoded(text, (sights, decoded) => {
    const ranges = rangesOf(sights, live);
    return ranges.length === 0 ? null : cutOut(decoded, 0, ranges);
  });
}

/** Every part that may be base64, decoded; what `replace` gives is encoded in its place. */
function eachEncoded(text: string, replace: (sights: readonly Sight[], decoded: string) => string | null): string {
  if (!encodedPrefix.test(text)) return text;
  return text.replace(base64, (part) => {
    const decoded = part.length < minBase64Chars ? null : Buffer.from(part, 'base64').toString('latin1');
    const sights = decoded === null ? [] : sightsIn(decoded);
    const replaced = decoded === null || sights.length === 0 ? null : replace(sights, decoded);
    return replaced === null ? part : Buffer.from(replaced, 'utf8').toString('base64');
  });
}

function rebuilt(value: unknown, changes: ReadonlyMap<object, readonly Change[]>, done: Map<object, unknown>): unknown {
  if (!isObject(value) && !Array.isArray(value)) return value;
  if (done.has(value)) return done.get(value);
  // A value within itself is no JSON, and is refused as such later.
  done.set(value, value);
  const own = changes.get(value) ?? [];
  const texts = new Map(own.filter(({ isName }) => !isName).map(({ key, text }) => [key, text]));
  const names = new Map(own.filter(({ isName }) => isName).map(({ key, text }) => [key, text]));
  const before = value as unknown as Readonly<Record<string, unknown>>;
  let changed = own.length > 0;
  const entries = Object.keys(before).map((key): [string, unknown] => {
    const item = texts.get(key) ?? rebuilt(before[key], changes, done);
    if (item !== before[key]) changed = true;
    return [names.get(key) ?? key, item];
  });
  const after = !changed ? value : Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
  done.set(value, after);
  return after;
}
