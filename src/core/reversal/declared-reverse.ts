/**
 * What is declared about undoing a tool: the tool that reverses it, its arguments as expressions over the arguments
 * and the result of the call, and for how long. Compiled here; an expression that fails at run time makes no call.
 */
import { compileCel, type CompiledCel } from '../cel/compile-cel.ts';
import { canonicalText } from '../values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';

export interface Reverse {
  /** The tool that reverses, as rules know it. */
  readonly tool: string;
  /** How long after the success it can be reversed. */
  readonly windowMs: number;
  readonly argsFor: (args: Json, result: Json) => ReverseArgs;
  /** Canonical text of what was declared. */
  readonly declared: string;
}

export type ReverseArgs =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly problem: string };

/** More than any tool takes. */
export const maxReverseArgs = 64;
export const leastWindowMs = 1_000;
/** A year. */
export const maxWindowMs = 366 * 86_400_000;

/** What is wrong with one argument, or with all of them (null), and where in its expression. */
export interface ReverseProblem {
  readonly argument: string | null;
  readonly problem: string;
  readonly at?: { readonly line: number; readonly column: number };
}

export type ReadReverse =
  | { readonly ok: true; readonly reverse: Reverse }
  | { readonly ok: false; readonly problems: readonly ReverseProblem[] };

/** `args`: an expression for each argument. */
export function readReverse(tool: string, args: unknown, windowMs: number): ReadReverse {
  if (!isObject(args)) return wrong('args is a map of an expression for each argument');
  const written = Object.entries(args);
  if (written.length > maxReverseArgs) return wrong(`a reversal has at most ${maxReverseArgs} arguments`);
  const problems: ReverseProblem[] = [];
  const compiled = new Map<string, CompiledCel>();
  for (const [argument, text] of written) {
    const found = typeof text === 'string' ? compileCel(text, options) : { ok: false as const, problem: 'no text' };
    if (found.ok) compiled.set(argument, found);
    else problems.push({ argument, ...found });
  }
  if (problems.length > 0) return { ok: false, problems };
  const declared = canonicalText({ tool, args: args as JsonObject, window_ms: windowMs });
  return { ok: true, reverse: { tool, windowMs, argsFor: (own, result) => made(compiled, own, result), declared } };
}

// INVARIANT: an error is not made up for by `||`: what cannot be evaluated reverses nothing.
const options = { variables: { args: 'dyn', result: 'dyn' }, strict: true } as const;

function made(compiled: ReadonlyMap<string, CompiledCel>, args: Json, result: Json): ReverseArgs {
  const values: Record<string, Json> = {};
  for (const [argument, { evaluate }] of compiled) {
    const found = evaluate({ args, result });
    if (!found.ok) return { ok: false, problem: `'${argument}' of its reversal cannot be made: ${found.problem}` };
    values[argument] = found.value;
  }
  return { ok: true, args: values };
}

const wrong = (problem: string): ReadReverse => ({ ok: false, problems: [{ argument: null, problem }] });
