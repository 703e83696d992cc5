/**
 * Converts a function to source text for a worker. Arrow functions and `function` are expressions; a method is one
 * only inside an object. Must not run the text here: it is only parsed.
 */
export type BodySource =
  | { readonly ok: true; readonly expression: string }
  | { readonly ok: false; readonly problem: string };

export function sourceOfBody(run: unknown): BodySource {
  const text = Function.prototype.toString.call(run);
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text)) {
    return { ok: false, problem: 'is bound or built in, so its source cannot be shipped' };
  }
  const expressions = [`(${text}\n)`, `Object.values({${text}\n})[0]`];
  const expression = expressions.find(parses);
  if (expression !== undefined) return { ok: true, expression };
  return { ok: false, problem: 'cannot be read on its own (import.meta, super and private names stay outside)' };
}

/** The function of a source text. Called in the worker only. */
export function bodyOfSource(expression: string): unknown {
  return compile(expression)();
}

function parses(expression: string): boolean {
  try {
    compile(expression);
    return true;
  } catch {
    return false;
  }
}

function compile(expression: string): () => unknown {
  return new Function(`'use strict'; return ${expression};`) as () => unknown;
}
