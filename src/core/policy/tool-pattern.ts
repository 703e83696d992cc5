/**
 * Tool name patterns. `*` matches any characters within a segment, `**` any number of whole segments, including none.
 * Matching is bounded by pattern length times name length, and uses no regular expressions.
 */
import { defaultPatternLimits, type PatternLimits } from './policy-limits.ts';

/**
 * The literal parts between the stars of one segment: `get_*` is `['get_', '']`; one part is a segment without stars.
 */
export type SegmentPattern = readonly string[];

export interface ToolPattern {
  readonly text: string;
  /** Null stands for `**`. */
  readonly segments: readonly (SegmentPattern | null)[];
  /** It means one name only: itself. */
  readonly isLiteral: boolean;
}

export type CompiledPattern =
  | { readonly ok: true; readonly pattern: ToolPattern }
  | { readonly ok: false; readonly problem: string; readonly fix: string };

export function compileToolPattern(text: string, limits: PatternLimits = defaultPatternLimits): CompiledPattern {
  const problem = problemOf(text, limits);
  if (problem !== null) return { ok: false, ...problem };
  const segments = text.split('/').map((segment) => (segment === '**' ? null : segment.split('*')));
  return { ok: true, pattern: { text, segments, isLiteral: !text.includes('*') } };
}

function problemOf(text: string, limits: PatternLimits): { readonly problem: string; readonly fix: string } | null {
  if (text === '') return { problem: 'the pattern is empty', fix: 'write the name of a tool, or ** for every tool' };
  if (text.length > limits.maxPatternChars)
    return { problem: `the pattern is longer than ${limits.maxPatternChars} characters`, fix: 'shorten it' };
  if (/[\s\p{Cc}]/u.test(text))
    return { problem: 'the pattern contains white space', fix: 'write one pattern without spaces' };
  if (!text.isWellFormed()) return { problem: 'the pattern is not text', fix: 'write it in characters' };
  const segments = text.split('/');
  if (segments.length > limits.maxPatternSegments)
    return {
      problem: `the pattern has more than ${limits.maxPatternSegments} segments`,
      fix: 'write ** for the segments that do not matter',
    };
  if (segments.includes(''))
    return {
      problem: 'the pattern has an empty segment',
      fix: 'write exactly one slash between segments, none around',
    };
  if (segments.some((segment) => segment !== '**' && segment.includes('**')))
    return {
      problem: '** stands beside something else',
      fix: 'write * for characters within a segment, and ** only as a whole segment between slashes',
    };
  if (text.replaceAll('**', '*').split('*').length - 1 > limits.maxPatternStars)
    return { problem: `the pattern has more than ${limits.maxPatternStars} stars`, fix: 'write fewer stars' };
  return null;
}

export function matchesTool({ text, segments, isLiteral }: ToolPattern, name: string): boolean {
  return isLiteral ? text === name : matchSegments(segments, name.split('/'));
}

/** Goes back to the last `**` only: what an earlier one could take in, the last one can as well. */
function matchSegments(pattern: ToolPattern['segments'], name: readonly string[]): boolean {
  let at = 0;
  let afterDeep = -1;
  let retry = 0;
  for (let i = 0; i < name.length;) {
    const segment = pattern[at];
    if (segment === null) {
      afterDeep = ++at;
      retry = i;
    } else if (segment !== undefined && matchSegment(segment, name[i] ?? '')) {
      at++;
      i++;
    } else if (afterDeep >= 0) {
      at = afterDeep;
      i = ++retry;
    } else return false;
  }
  while (pattern[at] === null) at++;
  return at === pattern.length;
}

function matchSegment(parts: SegmentPattern, text: string): boolean {
  const first = parts[0] ?? '';
  if (parts.length === 1) return first === text;
  const last = parts.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  const end = text.length - last.length;
  for (let i = 1; i < parts.length - 1; i++) {
    const part = parts[i] ?? '';
    const found = text.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
