/**
 * The lines of a configuration file that a policy is written in, for people to read. Every other section is left out,
 * because servers and credentials may hold secrets; what looks like a secret is masked. Pure.
 */
import { safeText } from '../../values/redact.ts';

/** Sections that say what agents may do. */
export const policySections: readonly string[] = ['agents', 'roles', 'limits', 'budgets'];

export interface PolicyLine {
  readonly line: number;
  /** Null for a line that is left out. */
  readonly text: string | null;
}

const maxLines = 10_000;
const maxLineChars = 500;
/** A section begins with its name at the start of a line. */
const sectionName = /^(?:([A-Za-z_][\w-]*)|"([^"]*)"|'([^']*)')\s*:/;

/** INVARIANT: a line is left out unless it is known to be in a section of the policy. */
export function policyLines(text: string): { readonly lines: readonly PolicyLine[]; readonly complete: boolean } {
  const written = text.split(/\r?\n/);
  const taken = written.slice(0, maxLines);
  const shown = taken.map(() => false);
  let isOfPolicy = false;
  // Comments and empty lines that wait for the next line: inside a section they are shown, between two they are not.
  let waiting: number[] = [];
  for (const [index, line] of taken.entries()) {
    if (/^(?:\s*$|#)/.test(line)) {
      waiting.push(index);
      continue;
    }
    const goesOn = /^\s/.test(line);
    if (!goesOn) isOfPolicy = isPolicySection(line);
    if (goesOn && isOfPolicy) for (const each of waiting) shown[each] = true;
    waiting = [];
    shown[index] = isOfPolicy;
  }
  const lines = taken.map((line, index): PolicyLine => {
    return { line: index + 1, text: shown[index] === true ? safeText(line, maxLineChars) : null };
  });
  return { lines, complete: written.length <= maxLines };
}

function isPolicySection(line: string): boolean {
  const [, plain, double, single] = sectionName.exec(line) ?? [];
  return policySections.includes(plain ?? double ?? single ?? '');
}
