/**
 * Finds the URLs at given paths of the arguments of a call. A path that leads nowhere finds nothing; what stands there
 * and is no plain http or https URL is reported as such. Pure.
 */
import { isObject, type Json } from '../values/json.ts';
import { type Destination, plainDestinationOf } from './destination.ts';

/** Keys from the arguments on; `*` for every key or item. */
export type ArgumentPath = readonly string[];

const maxSteps = 32;
/** URLs of one call; more are not looked through, and refuse. */
export const maxUrls = 64;

export function readArgumentPath(text: string): ArgumentPath | null {
  const [part, ...steps] = text.split('.');
  const isUsable = steps.every((step) => step !== '' && (step === '*' || !step.includes('*')));
  return part === 'args' && steps.length > 0 && steps.length <= maxSteps && isUsable ? steps : null;
}

/** Null: something that is no URL. */
export function urlsAt(args: Json, paths: readonly ArgumentPath[]): readonly (Destination | null)[] {
  const found: (Destination | null)[] = [];
  for (const path of paths) {
    for (const value of valuesAt(args, path)) {
      if (found.length > maxUrls) return [...found, null];
      found.push(typeof value === 'string' ? plainDestinationOf(value) : null);
    }
  }
  return found;
}

/** A list where none was named stands for its items; null, and what is not there, for nothing. */
function* valuesAt(value: Json | undefined, [step, ...rest]: ArgumentPath): Generator<Json> {
  if (value === undefined || value === null) return;
  if (step === undefined) {
    if (Array.isArray(value)) yield* (value as readonly Json[]).filter((item) => item !== null);
    else yield value;
  } else if (step === '*') {
    if (typeof value === 'object') for (const inner of Object.values(value)) yield* valuesAt(inner as Json, rest);
  } else if (isObject(value) && Object.hasOwn(value, step)) yield* valuesAt(value[step] as Json, rest);
  else if (Array.isArray(value) && /^\d{1,6}$/.test(step)) yield* valuesAt(value[Number(step)] as Json, rest);
  // INVARIANT: whoever puts a list around a value does not hide what is in it.
  else if (Array.isArray(value)) for (const inner of value) yield* valuesAt(inner as Json, [step, ...rest]);
}
