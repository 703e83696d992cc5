/**
 * Copies arguments as JSON once, so that every attempt sends the same. Refuses what JSON would change silently: NaN,
 * a bigint, a function.
 */
import { CallError } from '../call-error.ts';

export function plainArgs(args: unknown, tool: string): unknown {
  if (args === undefined) return {};
  let wrong = '';
  try {
    const text = JSON.stringify(args, function (this: unknown, name, value: unknown) {
      if (wrong === '' && !isJson(value, this)) wrong = `/args${name === '' ? '' : `/…/${name}`}`;
      return typeof value === 'bigint' ? null : value;
    });
    if (wrong === '' && text !== undefined) return JSON.parse(text);
  } catch {
    // Ignored: a cycle, a getter that throws, or unlimited nesting.
  }
  throw invalidArgs(tool, `${wrong === '' ? '/args' : wrong} cannot travel as JSON`);
}

/** A member that is undefined is one that is left out; an item of a list cannot be left out. */
function isJson(value: unknown, holder: unknown): boolean {
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
