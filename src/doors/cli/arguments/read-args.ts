/**
 * Reads the arguments of a call from the words of a command line: a JSON object, or any number of `name=value`. Total.
 */
import { canonicalise } from '../../../core/values/canonical.ts';
import { isObject, parseExactly } from '../../../core/values/json.ts';

export type ReadArgs =
  | { readonly ok: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string };

/** The depth limit of stored values. */
const maxDepth = 256;
const pair = /^([^={}[\]"\s][^=]*)=(.*)$/s;

export function readArgs(words: readonly string[]): ReadArgs {
  const [first, ...more] = words;
  if (first === undefined) return { ok: true, args: {} };
  if (first.trimStart().startsWith('{')) {
    if (more.length > 0) return wrong('a JSON object contains all arguments: nothing may follow it');
    const args = parsed(first);
    return isObject(args) ? whole(args) : wrong('the arguments start like a JSON object, but are not valid JSON');
  }
  const pairs: (readonly [string, unknown])[] = [];
  for (const word of words) {
    const [, name, value] = pair.exec(word) ?? [];
    if (name === undefined || value === undefined) return wrong(`'${word}' is neither a JSON object nor name=value`);
    if (pairs.some(([known]) => known === name)) return wrong(`'${name}' is given twice`);
    // A value that is not JSON is a string, so most values need no quotes.
    const json = parsed(value);
    pairs.push([name, json === undefined ? value : json]);
  }
  return whole(Object.fromEntries(pairs));
}

/** Refuses what has no exact JSON form. */
function whole(args: Readonly<Record<string, unknown>>): ReadArgs {
  const written = canonicalise(args, { maxDepth });
  return written.ok ? { ok: true, args } : wrong(`${written.path}: ${written.problem}`);
}

const wrong = (problem: string): ReadArgs => ({ ok: false, problem });

/** Undefined if it is not JSON. */
function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}
