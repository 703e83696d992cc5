/**
 * Estimates the width of text by kind of character, since no font can be measured here. Errs on the wide side; long
 * lines are cut.
 */
export const titleSize = 13;
export const labelSize = 11;
export const lineHeight = 15;

/** In parts of the font's size, for a wide sans-serif. */
const narrow = 0.36;
const usual = 0.62;
const capital = 0.76;
const wide = 1.02;

export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const char of text) {
    if (/[iljtfrI.,:;|!'()[\]\s]/.test(char)) width += narrow;
    // Beyond Greek and Cyrillic there are scripts and pictures as wide as they are high.
    else if (/[mwMW@%]/.test(char) || char > '\u04ff') width += wide;
    else width += /[A-Z]/.test(char) ? capital : usual;
  }
  return Math.ceil(width * size);
}

export function shorten(text: string, max: number): string {
  const signs = [...text];
  return signs.length <= max ? text : `${signs.slice(0, max - 1).join('')}…`;
}
