/**
 * Writes names and values of others for people and models. Invisible characters are escaped as in JSON (`\u202e`),
 * nothing breaks the line, and ambiguous words are quoted. Used for every screen, message and text.
 */

/**
 * Controls, marks that change the direction, joiners, tags, selectors, halves of characters, code points without a
 * character, line ends and blanks other than the space. Accents stay on their letter: one that would be drawn onto our
 * own quote is spelled out, and so are the fifth and those after it, which would cover other lines.
 */
const unseen =
  /(?<![\p{L}\p{N}\p{M}])\p{M}|(?<=\p{M}{4})\p{M}|[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Me}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** A sentence, or part of one: stays as it is but for what cannot be seen. */
export function spellOut(text: string): string {
  return text.replace(unseen, spell);
}

export interface Piece {
  /** As it may be shown. */
  readonly text: string;
  /** It stands for a character that cannot be seen. */
  readonly unseen: boolean;
}

/** Whether nothing in it needs to be spelled out. */
export const isPlain = (text: string): boolean => text.search(unseen) === -1;

/** The same sentence in pieces, for a screen that can mark what cannot be seen. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { index, 0: char } of text.matchAll(unseen)) {
    if (index > from) pieces.push({ text: text.slice(from, index), unseen: false });
    pieces.push({ text: spell(char), unseen: true });
    from = index + char.length;
  }
  return from < text.length ? [...pieces, { text: text.slice(from), unseen: false }] : pieces;
}

function spell(char: string): string {
  const short = JSON.stringify(char).slice(1, -1);
  if (short !== char) return short;
  return Array.from({ length: char.length }, (_, at) => codeOf(char.charCodeAt(at))).join('');
}

const codeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

/** Letters of any script and digits; dots, dashes and slashes between them. */
const plainName = /^[\p{L}\p{N}_$]+(?:[\p{M}./@+-]+[\p{L}\p{N}_$]+)*\p{M}*$/u;
/** Places and times too, which have colons. */
const plainWord = /^[\p{L}\p{N}_$]+(?:[\p{M}./@+:*-]+[\p{L}\p{N}_$]+)*\p{M}*$/u;

/** A name from outside. */
export const quoteName = (name: string): string => bareOrQuoted(name, plainName);

/** A short value among others on a line; a text only in quotes where it is more than a word. */
export const quoteWord = (value: unknown): string =>
  typeof value === 'string' ? bareOrQuoted(value, plainWord) : quoteValue(value);

function bareOrQuoted(text: string, plain: RegExp): string {
  return plain.test(text) && spellOut(text) === text ? text : quoteValue(text);
}

/** JSON that parses back to the value: on one line, or, with an indent, on lines that are all ours. */
export function quoteValue(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent) ?? 'null';
  return indent === 0 ? spellOut(text) : text.split('\n').map(spellOut).join('\n');
}
