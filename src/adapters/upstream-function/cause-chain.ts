/**
 * Follows the causes of what was thrown, outermost first. An AggregateError of one error counts as its wrapper; of
 * several none speaks for the others. Bounded and safe against cycles. Never throws.
 */
import { isThing, maxMessageChars, messageOf, nameOf, read, textOf } from './read-thrown.ts';

export const maxLinks = 1_000;
const maxAuditChars = 32_000;
/** Further links are one line each. */
const maxStacks = 8;
const maxGathered = 8;
const maxWrappers = 8;

/** What was thrown, and its causes. */
export function chainOf(thrown: unknown): readonly unknown[] {
  const links: unknown[] = [thrown];
  const seen = new Set(links);
  for (let next = innerOf(thrown); next !== undefined && links.length < maxLinks; next = innerOf(next)) {
    if (seen.has(next)) break;
    seen.add(next);
    links.push(next);
  }
  return links;
}

/** Undefined at the end of the chain. */
function innerOf(link: unknown): unknown {
  if (!isThing(link)) return undefined;
  const cause = read(link, 'cause');
  if (cause !== undefined && cause !== null) return cause;
  const gathered = gatheredBy(link);
  return gathered.length === 1 ? gathered[0] : undefined;
}

/** The errors of an AggregateError. */
export function gatheredBy(link: unknown): readonly unknown[] {
  const errors = isThing(link) ? read(link, 'errors') : undefined;
  const length = read(errors, 'length');
  if (typeof errors !== 'object' || typeof length !== 'number' || !(length > 0)) return [];
  return Array.from({ length: Math.min(length, maxGathered) }, (_, index) => read(errors, index));
}

/** The messages from the outermost link to the one that speaks, in order. Many wrappers are left out in the middle. */
export function wrappedMessage(links: readonly unknown[], speaks: number, own: string): string {
  const wrappers = links.slice(0, Math.min(speaks, maxWrappers)).map(wrapperText);
  const said = [...wrappers, ...(speaks > maxWrappers ? ['…'] : []), own].filter((text) => text !== '');
  const whole = said.reduceRight((inner, outer) => (outer.endsWith(inner) ? outer : `${outer}: ${inner}`));
  return whole.slice(0, maxMessageChars).toWellFormed();
}

function wrapperText(link: unknown): string {
  return textOf(typeof link === 'string' ? link : read(link, 'message'), maxMessageChars / maxWrappers) ?? '';
}

/** The whole chain for the audit: stacks of the first links, a line for each of the others. */
export function chainText(links: readonly unknown[]): string {
  const lines: string[] = [];
  let chars = 0;
  for (const [at, link] of links.entries()) {
    const own = at < maxStacks ? stackOf(link) : lineOf(link);
    const all = [at === 0 ? own : `caused by: ${own}`, ...gatheredIn(link).map((one) => `together with: ${one}`)];
    chars += all.join('\n').length + 1;
    if (chars > maxAuditChars && at > 0) return [...lines, `… and ${links.length - at} more`].join('\n');
    lines.push(...all);
  }
  return lines.join('\n').slice(0, maxAuditChars).toWellFormed();
}

const gatheredIn = (link: unknown): readonly string[] => {
  const gathered = gatheredBy(link);
  return gathered.length === 1 && innerOf(link) === gathered[0] ? [] : gathered.map((one) => stackOf(one));
};

const lineOf = (link: unknown): string => `${nameOf(link)}: ${messageOf(link)}`;

const stackOf = (link: unknown): string => textOf(read(link, 'stack'), maxAuditChars) ?? lineOf(link);
