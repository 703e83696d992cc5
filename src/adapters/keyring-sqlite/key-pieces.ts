/**
 * Splits texts into pieces of the characters that keys are made of, and joins the pieces. Separators do not matter,
 * and short pieces such as line numbers are left out in turn. Ranges of the joined text map back to the original
 * texts.
 */
import { idChars, idClass } from './key-text.ts';

export interface Text {
  readonly text: string;
}

/** A masked range of a text, and its replacement. */
export interface Range {
  readonly start: number;
  end: number;
  readonly shown: string;
}

export const mark = '…masked';
const marked = new RegExp(`rk_${idClass}{${idChars}}_${mark}`, 'g');
/** JSON escapes of line breaks are not pieces, but `C:\rk_…` begins one. Dashes at the start of a line are separate. */
const pieces = /\\+(?:u[\da-fA-F]{4}|[nt]|r(?!$|k$|k_))?|(?<=^[ \t]{0,20})-+|[\w-]+/gm;
/** Pieces that are shorter are left out, one after the other. */
const leastChars = [1, 2, 4, 8, 16];

/**
 * The joined pieces of some texts. The n-th is at `at[n]` of the joined text, and at `from[n]` of its original text
 * `of[n]`.
 */
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
    // Earlier masks are ignored.
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

/** The index of the piece at this place. */
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

/** The replacement is put where the key began. If no pieces were left out, separators between pieces are masked too. */
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

/** Sorted, without overlaps. Of two with the same start, the first found counts. */
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
