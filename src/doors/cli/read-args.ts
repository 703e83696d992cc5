/** Which arguments of a call do the words of a command line say? A JSON object, or `name=value` as often as needed. Total. */
import { isObject } from '../../core/json.ts';

export type ReadArgs =
  | { readonly ok: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string };

const pair = /^([^={}[\]"\s][^=]*)=(.*)$/s;

export function readArgs(words: readonly string[]): ReadArgs {
  const [first, ...more] = words;
  if (first === undefined) return { ok: true, args: {} };
  if (first.trimStart().startsWith('{')) {
    if (more.length > 0) return wrong('a JSON object holds all arguments: nothing may stand after it');
    const args = parsed(first);
    return isObject(args) ? { ok: true, args } : wrong('the arguments begin like a JSON object, and are none');
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
  return { ok: true, args: Object.fromEntries(pairs) };
}

const wrong = (problem: string): ReadArgs => ({ ok: false, problem });

/** Undefined for what is no JSON, and null stays null. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
