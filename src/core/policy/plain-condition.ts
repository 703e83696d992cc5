/**
 * How does a condition read without its line breaks? Two texts that come out equal mean the same. INVARIANT: what is not certain
 * stays as it is written: an approval that is void in vain costs a question, one that stands in vain a call.
 */

/** Strings in which a quote may mean something else, and comments, which a line break ends. */
const uncertain = /[\\\r]|'''|"""|\/\//;
const stringOrGap = /'[^']*'|"[^"]*"|[ \t\n]+/g;

export function plainCondition(text: string): string {
  if (uncertain.test(text)) return text.trim();
  return text.replace(stringOrGap, (found) => (/^['"]/.test(found) ? found : ' ')).trim();
}
