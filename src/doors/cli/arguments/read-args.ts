/** Which arguments of a call do the words of a command line say? A JSON object, or `name=value` as often as needed. Total. */
import { canonicalise } from '../../../core/values/canonical.ts';
import { isObject, parseExactly } from '../../../core/values/json.ts';

export type ReadArgs =
  | { readonly ok: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string };

/** As deep as anything that is written down here. */
const maxDepth = 256;
const pair = /^([^={}[\]"\s][^=]*)=(.*)$/s;

export function readArgs(words: readonly string[]): ReadArgs {
  const [first, ...more] = words;
  if (first === undefined) return { ok: true, args: {} };
  if (first.trimStart().startsWith('{')) {
    if (more.length > 0) return wrong('a JSON object holds all arguments: nothing may stand after it');
    const args = parsed(first);
    return isObject(args) ? whole(args) : wrong('the arguments begin like a JSON object, and are none');
  }
  const pairs: (readonly [string, unknown])[] = [];
  for (const word of words) {
    const [, name, value] = pair.exec(word) ?? [];
    if (name === undefined || value === undefined) return wrong(`'${word}' is neither a JSON object nor name=value`);
    if (pairs.some(([known]) => known === name)) return wrong(`'${name}' stands there twice`);
    // What is no JSON is a text: most values need no quotes of their own.
    const json = parsed(value);
    pairs.push([name, json === undefined ? value : json]);
  }
  return whole(Object.fromEntries(pairs));
}

/** What would be sent as something else is not sent. */
function whole(args: Readonly<Record<string, unknown>>): ReadArgs {
  const written = canonicalise(args, { maxDepth });
  return written.ok ? { ok: true, args } : wrong(`${written.path}: ${written.problem}`);
}

const wrong = (problem: string): ReadArgs => ({ ok: false, problem });

/** Undefined for what is no JSON, and null stays null. */
function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}
