/** Builds the refusal for invalid arguments: every wrong field, and a sentence about the first. */
import { cut } from '../values/canonical.ts';
import type { FieldError } from '../call/catalogue.ts';
import { safeText } from '../values/redact.ts';
import type { Refusal } from '../call/refusal.ts';

const maxPathChars = 300;
const maxExpectedChars = 500;

type InvalidInput = Extract<Refusal, { error: 'validation_failed' }>;

export function invalidInput(
  tool: string | null,
  found: readonly FieldError[],
  code: InvalidInput['code'] = 'InputInvalid',
): InvalidInput {
  // What a validator says is the author's text: it goes to a model, so it is bounded and without secrets.
  const errors = found.map((error) => ({
    ...error,
    path: cut(error.path, maxPathChars),
    expected: safeText(error.expected, maxExpectedChars),
  }));
  const [first] = errors;
  const field = first === undefined ? '' : nameOf(first.path);
  const reason = first === undefined ? 'the input was refused' : sentence(field || 'input', first);
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return {
    error: 'validation_failed',
    class: 'ToolTerminal',
    code,
    message: tool === null ? `this is not a call: ${reason}.` : `inputs of '${tool}' were refused: ${reason}${more}.`,
    resolution: { type: 'fix_input', fields: [...new Set(errors.map((error) => nameOf(error.path) || 'input'))] },
    reason,
    details: { field: field || 'input', got: first?.got ?? null },
    errors: errors.map(({ path, expected, got }) => ({ path, expected, got })),
  };
}

function sentence(field: string, { expected, said }: FieldError): string {
  if (said === 'verbatim') return expected;
  return said ? `${field}: ${expected}` : `${field} must be ${expected}`;
}

/** '/items/0/price' is called `items.0.price` in a sentence. */
function nameOf(path: string): string {
  return path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}
