/** Who is asking must be certain: options that cannot be understood are a refusal, never a guess at the agent. */
import { preview } from '../../core/values/canonical.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
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
