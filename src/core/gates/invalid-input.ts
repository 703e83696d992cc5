/** The words for arguments that do not fit: every wrong field, and the first one in a sentence. */
import type { FieldError } from '../catalogue.ts';
import type { Refusal } from '../refusal.ts';

type InvalidInput = Extract<Refusal, { error: 'validation_failed' }>;

export function invalidInput(
  tool: string | null,
  errors: readonly FieldError[],
  code: InvalidInput['code'] = 'InputInvalid',
): InvalidInput {
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
  return said ? `${field}: ${expected}` : `${field} must be ${expected}`;
}

/** '/items/0/price' is called `items.0.price` in a sentence. */
function nameOf(path: string): string {
  return path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}
