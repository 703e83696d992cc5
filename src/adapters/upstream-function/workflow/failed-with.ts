/** A guard for error edges that is data: its names are checked by the compiler and when it is made, and it is drawn. */
import { type ErrorMatch, matchable, matchableFields, matches, matchText } from '../../../core/workflow/match-error.ts';
import { unknownName } from '../../../core/workflow/match-error.ts';
import type { StepError } from '../../../core/workflow/step-error.ts';

/** As XState calls a guard. */
export type ErrorGuard = (args: { readonly event: object }) => boolean;

/** True for a step that failed with all of this: `{ on: { 'pay.failed': { guard: failedWith({ code: … }), … } } }`. */
export function failedWith(match: ErrorMatch): ErrorGuard {
  const asked = Object.entries(match).filter(([, value]) => value !== undefined);
  for (const [field, value] of asked) {
    if (!Object.hasOwn(matchable, field))
      throw new TypeError(`failedWith knows ${matchableFields.join(', ')}, and not '${field}'`);
    const fix = unknownName(field as keyof ErrorMatch, String(value));
    if (fix !== null) throw new TypeError(`failedWith: no error has the ${field} '${String(value)}'; ${fix}`);
  }
  if (asked.length === 0)
    throw new TypeError('failedWith asks for nothing; give a code, class, verdict, error or effect');
  const guard: ErrorGuard = ({ event }) => {
    const { error } = event as { readonly error?: StepError };
    return error !== undefined && matches(match, error);
  };
  // A refusal, a drawing and a changed machine are told by its name.
  return Object.defineProperty(guard, 'name', { value: matchText(match) });
}
