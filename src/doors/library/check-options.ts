/**
 * Checks the options of a caller in the same process: options that are not understood are refused, never guessed at.
 */
import type { FieldError } from '../../core/call/catalogue.ts';
import { type Reach, reaches } from '../../core/policy/policy.ts';
import { preview } from '../../core/values/canonical.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import { isObject } from '../../core/values/json.ts';

const known = ['agent', 'tenant', 'signal'];

export function wrongOptions(options: unknown, maxNameChars: number): readonly FieldError[] {
  if (options === undefined) return [];
  if (!isObject(options)) return [{ path: '/options', expected: 'an object', got: preview(options) }];
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(options)) {
    const wrong = (expected: string) => errors.push({ path: `/options/${name}`, expected, got: preview(value) });
    if (!known.includes(name)) wrong(`left out; known are ${known.join(', ')}`);
    else if (value === undefined) continue;
    else if (name === 'signal') {
      if (!(value instanceof AbortSignal)) wrong('an AbortSignal');
    } else if (typeof value !== 'string' || value === '' || value.length > maxNameChars || !value.isWellFormed())
      wrong(`a text of 1 to ${maxNameChars} characters`);
  }
  return errors;
}

/** The ceiling of a session: how far its calls may reach. */
export interface Ceiling {
  readonly mode?: Reach;
}

/** INVARIANT: a ceiling that is not understood opens nothing: a misspelt one must not count as none. */
export function reachOf(mode: unknown): Reach | null {
  if (mode === undefined) return null;
  const found = reaches.find((reach) => reach === mode);
  if (found === undefined) throw new GatewayError('bad_options', `mode must be one of ${reaches.join(', ')}`);
  return found;
}
