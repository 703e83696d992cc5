/** What is the result of an expression as JSON? Whole numbers become plain ones; what JSON does not know is refused. */
import type { Json } from '../values/json.ts';
import type { CelLimits } from './cel-limits.ts';

export type JsonResult = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string };

class NotJson extends Error {}

/** Always a copy: what an expression was given may be frozen, and what it gives may be kept. Throws what a value throws. */
export function resultToJson(result: unknown, limits: CelLimits): JsonResult {
  let nodesLeft = limits.maxResultNodes;
  const copy = (value: unknown, depth: number): Json => {
    if (--nodesLeft < 0) throw new NotJson('its result is too large');
    if (depth > limits.maxResultDepth) throw new NotJson('its result is nested too deeply');
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
    if (typeof value === 'bigint') return whole(value);
    if (typeof value === 'number') {
      if (Number.isFinite(value)) return value;
      throw new NotJson(`its result is ${value}, which is no number of JSON`);
    }
    if (Array.isArray(value)) return value.map((each) => copy(each, depth + 1));
    const entries = entriesOf(value);
    if (entries === null) throw new NotJson('its result is no JSON: give a text, a number, a list or a map');
    // Defined, not assigned: a key may have any name.
    const object: Record<string, Json> = {};
    for (const [key, each] of entries)
      Object.defineProperty(object, key, {
        value: copy(each, depth + 1),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    return object;
  };
  try {
    return { ok: true, value: copy(result, 0) };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, problem: error.message };
    throw error;
  }
}

function whole(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new NotJson(`its result ${value} is beyond the whole numbers that JSON can hold`);
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] | null {
  if (value instanceof Map) return [...value].map(([key, each]) => [String(key), each] as const);
  if (typeof value !== 'object' || value === null) return null;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value) : null;
}
