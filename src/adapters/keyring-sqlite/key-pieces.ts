/**
 * How are texts read as the pieces of one? A piece is a run of the letters that a key is made of; what stands between pieces does not
 * matter, and short pieces, such as the numbers of lines, are left out in turn. A range of the pieces is one of the texts again.
 */
import { idChars, idClass } from './key-text.ts';

export interface Text {
  readonly text: string;
}

/** What is not shown of a text, and what stands in its place. */
export interface Range {
  readonly start: number;
  end: number;
  readonly shown: string;
}

export const mark = '…masked';
const marked = new RegExp(`rk_${idClass}{${idChars}}_${mark}`, 'g');
/** A line break as JSON spells it, however often, is no piece, but `C:\rk_…` begins with one. A dash before a line is none of its own. */
const pieces = /\\+(?:u[\da-fA-F]{4}|[nt]|r(?!$|k$|k_))?|(?<=^[ \t]{0,20})-+|[\w-]+/gm;
/** Pieces that are shorter are left out, one after the other. */
const leastChars = [1, 2, 4, 8, 16];

/** The pieces of some texts, one after the other. The n-th is at `at[n]` of the text, and at `from[n]` of the text that it is of. */
export interface Joined {
  readonly text: string;
  readonly at: readonly number[];
  readonly from: readonly number[];
  readonly of: readonly Text[];
  readonly leavesNothingOut: boolean;
}

export function joinedInTurn(run: readonly Text[]): readonly Joined[] {
  const all: Joined[] = [];
  for (const least of leastChars) {
    const next = join(run, least);
    if (next.text.length !== all.at(-1)?.text.length) all.push(next);
  }
  return all;
}

export function join(run: readonly Text[], least: number): Joined {
  const parts: string[] = [];
  const [at, from, of]: [number[], number[], Text[]] = [[], [], []];
  let chars = 0;
  for (const each of run) {
    // What was masked before gives nothing away.
    const text = each.text.includes(mark) ? each.text.replaceAll(marked, (mask) => ' '.repeat(mask.length)) : each.text;
    for (const { 0: piece, index } of text.matchAll(pieces)) {
      if (piece.startsWith('\\') || piece.length < least) continue;
      at.push(chars);
      from.push(index);
      of.push(each);
      parts.push(piece);
      chars += piece.length;
    }
  }
  return { text: parts.join(''), at, from, of, leavesNothingOut: least === 1 };
}

/** The piece that this place is in. */
function nthAt({ at }: Joined, place: number): number {
  let [low, high] = [0, at.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((at[middle] as number) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function pieceAt(joined: Joined, place: number): { readonly start: number; readonly end: number } {
  const nth = nthAt(joined, place);
  return { start: joined.at[nth] ?? 0, end: joined.at[nth + 1] ?? joined.text.length };
}

/** What stands for a key stands where it began. If nothing was left out, what is between two of its pieces goes with them. */
export function addRange(ranges: Map<Text, Range[]>, joined: Joined, { start, end, shown }: Range): void {
  let last: { readonly of: Text; readonly range: Range } | null = null;
  for (let nth = nthAt(joined, start); nth < joined.at.length; nth++) {
    const [at, from, of] = [joined.at[nth] as number, joined.from[nth] as number, joined.of[nth] as Text];
    if (at >= end) return;
    const until = from + Math.min(end, joined.at[nth + 1] ?? joined.text.length) - at;
    if (last !== null && last.of === of && joined.leavesNothingOut) {
      last.range.end = until;
      continue;
    }
    const range: Range = { start: from + Math.max(start - at, 0), end: until, shown: last === null ? shown : '' };
    last = { of, range };
    const others = ranges.get(of);
    if (others === undefined) ranges.set(of, [range]);
    else others.push(range);
  }
}

/** In their order, and none within another: of two that begin together the first that was found speaks. */
function merged(ranges: readonly Range[]): readonly Range[] {
  const all: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last === undefined || range.start >= last.end) all.push(range);
    else if (range.end > last.end) all[all.length - 1] = { ...last, end: range.end };
  }
  return all;
}

export function cutOut(text: string, ranges: readonly Range[]): string {
  let shown = '';
  let at = 0;
  for (const { start, end, shown: instead } of merged(ranges)) {
    shown += text.slice(at, start) + instead;
    at = end;
  }
  return shown + text.slice(at);
}
