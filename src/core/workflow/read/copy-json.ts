/**
 * Copies an author's value as plain JSON, deeply frozen and with sorted keys, so that a state is the same before and
 * after it is stored. Does not change the value.
 */
import { pointerStep } from '../../values/canonical.ts';
import type { Json } from '../../values/json.ts';

export type CopiedJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly path: string; readonly what: string };

export interface CopyLimits {
  readonly maxDepth: number;
  /** At least as many characters as the copy may take when it is written; what goes beyond is refused while copying. */
  readonly maxChars: number;
}

class NotPlainJson extends Error {
  path = '';
  within(step: string | number): this {
    this.path = `/${pointerStep(String(step))}${this.path}`;
    return this;
  }
}

/** Never throws: getters and proxies of the author's may. */
export function copyJson(value: unknown, limits: CopyLimits): CopiedJson {
  const budget = { chars: limits.maxChars };
  try {
    return { ok: true, value: copy(value, limits.maxDepth, budget) };
  } catch (thrown) {
    if (thrown instanceof NotPlainJson) return { ok: false, path: thrown.path, what: thrown.message };
    return { ok: false, path: '', what: 'something that cannot be read' };
  }
}

function copy(value: unknown, depth: number, budget: { chars: number }): Json {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new NotPlainJson('a text with a lone surrogate');
      spend(budget, value.length + 2);
      return value;
    case 'boolean':
      spend(budget, 4);
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new NotPlainJson(String(value));
      spend(budget, 1);
      // JSON has one zero.
      return value === 0 ? 0 : value;
    case 'object':
      if (value === null) return null;
      if (depth <= 0) throw new NotPlainJson('something nested too deep, or a cycle');
      return Object.freeze(Array.isArray(value) ? copyItems(value, depth, budget) : copyFields(value, depth, budget));
    default:
      throw new NotPlainJson(typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`);
  }
}

function copyItems(items: readonly unknown[], depth: number, budget: { chars: number }): Json[] {
  const copied: Json[] = [];
  for (let index = 0; index < items.length; index++) {
    try {
      spend(budget, 1);
      copied.push(copy(items[index], depth - 1, budget));
    } catch (thrown) {
      throw thrown instanceof NotPlainJson ? thrown.within(index) : thrown;
    }
  }
  return copied;
}

function copyFields(value: object, depth: number, budget: { chars: number }): Record<string, Json> {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Of another realm counts too: its prototype is the one that has none itself.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain || typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    ignoreRejection(value);
    throw new NotPlainJson(nameOfClass(value));
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw new NotPlainJson('an object with a symbol as a name');
  const copied: Record<string, Json> = {};
  for (const key of Object.keys(value).toSorted(byCodeUnit)) {
    try {
      if (!key.isWellFormed()) throw new NotPlainJson('a name with a lone surrogate');
      spend(budget, key.length + 4);
      const field = copy((value as Record<string, unknown>)[key], depth - 1, budget);
      // Writing this name would change what the copy inherits instead.
      if (key === '__proto__') Object.defineProperty(copied, key, { value: field, enumerable: true });
      else copied[key] = field;
    } catch (thrown) {
      throw thrown instanceof NotPlainJson ? thrown.within(key) : thrown;
    }
  }
  return copied;
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function spend(budget: { chars: number }, chars: number): void {
  budget.chars -= chars;
  if (budget.chars < 0) throw new NotPlainJson('more than fits into the state');
}

function nameOfClass(value: object): string {
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${name.slice(0, 80)}` : 'an object that is not plain';
}

export function ignoreRejection(given: unknown): void {
  try {
    if (typeof given !== 'object' || given === null) return;
    const { then } = given as { then?: unknown };
    if (typeof then === 'function') then.call(given, nothing, nothing);
  } catch {
    // Ignored: `then` itself throws, so there is no rejection to handle.
  }
}

const nothing = (): undefined => undefined;
