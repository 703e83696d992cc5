/** What is said of a result that is not of its schema? Which fields, and what they should be; never what they are. */
import type { FieldError } from '../call/catalogue.ts';

export function describeMismatch(tool: string, errors: readonly FieldError[]): string {
  // What a schema of the author's says of a field is a sentence of its own.
  const listed = errors.map(({ path, expected, said }) =>
    said === true ? `${path || 'the result'}: ${expected}` : `${path || 'the result'} should be ${expected}`,
  );
  return `the result of '${tool}' does not match its output schema: ${listed.join('; ')}`;
}
