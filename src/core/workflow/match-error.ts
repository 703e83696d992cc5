/** What an error edge may ask of the error of a step, as data: the names are those of the taxonomy, and checked. */
import { classes, codes, effects, errors, verdicts } from '../taxonomy.ts';
import type { Effect, ErrorClass, ErrorCode, ErrorName, Verdict } from '../taxonomy.ts';
import { nearest } from '../values/nearest.ts';
import type { StepError } from './step-error.ts';

export interface ErrorMatch {
  readonly error?: ErrorName;
  readonly class?: ErrorClass;
  readonly code?: ErrorCode;
  readonly verdict?: Verdict;
  readonly effect?: Effect;
}

/** Every field that can be asked for, with what it may be. */
export const matchable = {
  error: Object.keys(errors),
  class: Object.keys(classes),
  code: Object.keys(codes),
  verdict: Object.keys(verdicts),
  effect: Object.keys(effects),
} as const;

export type Matchable = keyof typeof matchable;

export const matchableFields = Object.keys(matchable) as readonly Matchable[];

export const matches = (match: ErrorMatch, error: StepError): boolean =>
  matchableFields.every((field) => match[field] === undefined || match[field] === error[field]);

/** In CEL, and as drawings and refusals show it. */
export function matchText(match: Readonly<Partial<Record<Matchable, unknown>>>): string {
  const asked = matchableFields.filter((field) => match[field] !== undefined);
  return asked.map((field) => `error.${field} == ${JSON.stringify(match[field])}`).join(' && ');
}

/** Null if the name is known; otherwise what to write instead. */
export function unknownName(field: Matchable, name: string): string | null {
  const known: readonly string[] = matchable[field];
  if (known.includes(name)) return null;
  const near = nearest(name, known);
  return near === null ? `use one of ${known.slice(0, 12).join(', ')}, …` : `did you mean ${near}?`;
}

const comparison = /\berror\.(error|class|code|verdict|effect)\s*(?:==|!=)\s*(?:"([^"\\]*)"|'([^'\\]*)')/g;

/** Names that a condition compares with and that no error can have. */
export function unknownNamesIn(text: string): readonly { readonly name: string; readonly fix: string }[] {
  return [...text.matchAll(comparison)].flatMap(([, field, double, single]) => {
    const name = double ?? single ?? '';
    const fix = unknownName(field as Matchable, name);
    return fix === null ? [] : [{ name, fix }];
  });
}
