/** How is a stranger's text shown to a person so that it cannot pretend to be something else? What is not seen is spelled out. */

/** Controls, marks that change the direction or are not seen, line ends other than our own. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

export function plainly(text: string): string {
  return text.replaceAll(unseen, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}
