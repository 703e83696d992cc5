/**
 * What all readers of a machine share: the list of problems, their wording, and the source text of functions that were
 * made from expressions.
 */
import { canonicalise } from '../../values/canonical.ts';
import type { Json } from '../../values/json.ts';
import { nearest } from '../../values/nearest.ts';
import type { StateDraft } from './machine-draft.ts';
import type { CopyLimits } from './copy-json.ts';

export interface Reading {
  /** All of them are reported at once. */
  readonly problems: string[];
  readonly implementations: {
    readonly guards: Readonly<Record<string, unknown>>;
    readonly actions: Readonly<Record<string, unknown>>;
    readonly delays: Readonly<Record<string, unknown>>;
  };
  readonly limits: CopyLimits;
  /** By what an author writes after `#`. */
  readonly stateById: (id: string) => StateDraft | null;
  /** Whether there is a state at this path from the root. */
  readonly hasPath: (path: string) => boolean;
}

/** XState ignores a key that it does not know; a misspelt one would change what the machine does. */
export function unknownKeys(given: object, known: readonly string[], place: string, problems: string[]): void {
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const near = nearest(key, known);
    const hint = near === null ? `known are ${known.join(', ')}` : `did you mean '${near}'?`;
    problems.push(`${place}: unknown key '${key.slice(0, 80)}'; ${hint}`);
  }
}

/** As it stands in the manifest: another text is another machine. */
export function sourceOf(code: unknown): string {
  try {
    return (textOfCode(code) ?? Function.prototype.toString.call(code)).toWellFormed();
  } catch {
    return 'a function that cannot be read';
  }
}

export function writtenParams(params: unknown): Json {
  if (params === undefined) return null;
  if (typeof params === 'function') return { source: sourceOf(params) };
  return writtenValue(params);
}

export function writtenValue(value: unknown): Json {
  const written = canonicalise(value, { maxDepth: 64 });
  return written.ok ? (JSON.parse(written.text) as Json) : { not_json: written.problem };
}

export function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

const texts = new WeakMap<object, string>();

/** The text stands for the function wherever a changed function must be noticed. */
export function writtenAs<Code extends object>(code: Code, text: string): Code {
  texts.set(code, text);
  return code;
}

export function textOfCode(code: unknown): string | null {
  return typeof code === 'function' ? (texts.get(code) ?? null) : null;
}
