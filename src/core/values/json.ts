/**
 * JSON types, and exact parsing: an integer too large for a number is parsed as a bigint, so that later checks refuse
 * it instead of rounding it.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of any value; empty if reading them throws. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  try {
    return isObject(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

/** How many bytes a text takes in UTF-8, counted without encoding it. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is two units here and four bytes there: each half counts for two.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

export function parseExactly(text: string): unknown {
  return isSuspect(text) ? (JSON.parse(text, keepInteger) as unknown) : (JSON.parse(text) as unknown);
}

/** Whether there may be such a number at all: nearly every text is done with after this look. */
const isSuspect = (text: string): boolean => /\d{16}/.test(text);

/**
 * For messages of which only a part is ours to judge: `keep` puts that part, as it was sent, into each; a list holds
 * several.
 */
export function parseMessages(text: string, keep: (message: unknown, exact: unknown) => unknown): unknown {
  const message: unknown = JSON.parse(text);
  if (!isSuspect(text)) return message;
  const exact = parseExactly(text);
  return Array.isArray(message)
    ? message.map((one, at) => keep(one, (exact as readonly unknown[])[at]))
    : keep(message, exact);
}

interface Source {
  readonly source?: string;
}

function keepInteger(this: unknown, _key: string, value: unknown, context?: Source): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}
