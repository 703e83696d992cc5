/**
 * The arguments as they will travel: a copy in JSON, made once, so that every attempt sends the same and nobody changes
 * it meanwhile. What JSON would silently bend (NaN, a bigint, a function) is refused before anything is sent.
 */
import { CallError } from '../call-error.ts';

export function plainArgs(args: unknown, tool: string): unknown {
  if (args === undefined) return {};
  let wrong = '';
  try {
    const text = JSON.stringify(args, function (this: unknown, name, value: unknown) {
      if (wrong === '' && !travels(value, this)) wrong = `/args${name === '' ? '' : `/…/${name}`}`;
      return typeof value === 'bigint' ? null : value;
    });
    if (wrong === '' && text !== undefined) return JSON.parse(text);
  } catch {
    // A circle, a getter of the caller's own that throws, or a nesting without end.
  }
  throw invalidArgs(tool, `${wrong === '' ? '/args' : wrong} cannot travel as JSON`);
}

/** A member that is undefined is one that is left out; an item of a list cannot be left out. */
function travels(value: unknown, holder: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === undefined) return !Array.isArray(holder);
  return typeof value !== 'bigint' && typeof value !== 'function' && typeof value !== 'symbol';
}

/** Refused here: nothing was sent. */
export function invalidArgs(tool: string, problem: string): CallError {
  return new CallError({
    error: 'validation_failed',
    message: `the call of '${tool}' was not sent: ${problem}`,
    effect: 'none',
    class: 'ToolTerminal',
    code: 'InputInvalid',
    resolution: { type: 'fix_input', fields: ['args'] },
    tool,
    key: null,
  });
}
