/**
 * Writes a value as canonical JSON (RFC 8785), the form that is hashed and stored. Values that JSON cannot express (a
 * cycle, NaN, a lone surrogate, a bigint) give a typed error. Never throws, and never changes a value silently.
 */
import { isObject } from './json.ts';

export type Canonical =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly path: string; readonly problem: string };

export interface CanonicalLimits {
  readonly maxDepth: number;
}

/** Carries the path back up, so that the happy way builds none. */
class NotJson extends Error {
  path = '';
  within(step: string | number): this {
    this.path = `/${pointerStep(String(step))}${this.path}`;
    return this;
  }
}

export function canonicalise(value: unknown, limits: CanonicalLimits): Canonical {
  try {
    const text = write(value, limits.maxDepth);
    if (text === undefined) return { ok: false, path: '', problem: `${typeof value} is not JSON` };
    return { ok: true, text };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, path: error.path, problem: error.message };
    // A getter or a toJSON of the caller's own threw while we read the value.
    return { ok: false, path: '', problem: 'the value could not be read' };
  }
}

/** For values that we made ourselves: a failure is our bug. */
export function canonicalText(value: unknown): string {
  const written = canonicalise(value, { maxDepth: 256 });
  if (!written.ok) throw new Error(`bug: not JSON at ${written.path || '(root)'}: ${written.problem}`);
  return written.text;
}

function write(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(`${value} is not a JSON number`);
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      throw new NotJson('a bigint is not JSON: send an integer above 9007199254740991 as a string');
    case 'object':
      return value === null ? 'null' : writeDeep(value, depth);
    default:
      return undefined;
  }
}

function writeDeep(value: object, depth: number): string | undefined {
  if (depth <= 0) throw new NotJson('nested too deep, or a cycle');
  const own = value as { toJSON?: unknown };
  if (typeof own.toJSON === 'function') return write(own.toJSON(), depth - 1);
  if (value instanceof String || value instanceof Number || value instanceof Boolean)
    return write(value.valueOf(), depth - 1);
  if (Array.isArray(value)) return writeArray(value, depth - 1);
  const text = writeObject(value, depth - 1);
  // INVARIANT: what JSON would silently empty (a Map, a Set, an Error) is refused, not stored as nothing.
  if (text === '{}' && !isPlainObject(value))
    throw new NotJson(`${nameOfClass(value)} has nothing that JSON can carry`);
  return text;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Of another realm counts too: its prototype is the one that has none itself.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOfClass(value: object): string {
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'the object';
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = '[';
  let index = 0;
  try {
    for (; index < items.length; index++) {
      if (index > 0) text += ',';
      text += write(items[index], depth) ?? 'null';
    }
  } catch (error) {
    throw error instanceof NotJson ? error.within(index) : error;
  }
  return `${text}]`;
}

function writeObject(value: object, depth: number): string {
  const fields = value as Record<string, unknown>;
  let text = '{';
  let key = '';
  try {
    for (key of sortedKeys(value)) {
      const written = write(fields[key], depth);
      if (written === undefined) continue;
      text += `${text.length > 1 ? ',' : ''}${quote(key)}:${written}`;
    }
  } catch (error) {
    throw error instanceof NotJson ? error.within(key) : error;
  }
  return `${text}}`;
}

/**
 * The default order of sort() is by UTF-16 code unit, which is what RFC 8785 asks for; most objects have it already.
 */
function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value);
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort();
  return keys;
}

/** Most names and many values are short and plain: looking at each letter is quicker than asking JSON. */
const shortText = 64;

function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
}

function quote(text: string): string {
  if (text.length <= shortText && isPlain(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new NotJson('a lone surrogate is not text');
  return JSON.stringify(text);
}

/** A short, safe rendering of a value for a message: never longer than `max` characters. */
export function preview(value: unknown, max = 80): string {
  const written = canonicalise(value, { maxDepth: 8 });
  const text = written.ok ? written.text : isObject(value) ? '{…}' : String(typeof value);
  return text.length <= max ? text : `${cut(text, max - 1)}…`;
}

/** The beginning of a text, never with half a character at its end. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
}

/** A name of the caller's own as one step of a JSON Pointer: short, and text whatever it was. */
export function pointerStep(name: string): string {
  return cut(name, 80).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');
}
