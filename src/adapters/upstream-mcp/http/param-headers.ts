/**
 * Repeats arguments as HTTP headers where a tool's schema marks them with `x-mcp-header` (revision 2026-07-28). A
 * server refuses a call whose headers do not match. Not used with 2025-11-25.
 */
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const maxHeaders = 64;

const none: Readonly<Record<string, string>> = {};
/** Few schemas have marks, and a schema does not change: each is searched once. */
const unmarked = new WeakMap<object, boolean>();

/** Marks count only along `properties`; elsewhere the value's place is ambiguous. */
export function paramHeaders(schema: JsonObject | null, args: Json): Readonly<Record<string, string>> {
  if (schema === null || isUnmarked(schema)) return none;
  const headers: Record<string, string> = {};
  const visit = (node: unknown, value: unknown): void => {
    if (!isObject(node) || Object.keys(headers).length >= maxHeaders) return;
    const mark = node['x-mcp-header'];
    const text = typeof mark === 'string' && token.test(mark) ? textOf(value) : null;
    if (text !== null) headers[`Mcp-Param-${String(mark)}`] = fieldValue(text);
    const properties = node['properties'];
    if (!isObject(properties) || !isObject(value)) return;
    for (const [key, child] of Object.entries(properties)) if (Object.hasOwn(value, key)) visit(child, value[key]);
  };
  visit(schema, args);
  return headers;
}

function isUnmarked(schema: JsonObject): boolean {
  const known = unmarked.get(schema);
  if (known !== undefined) return known;
  const found = !JSON.stringify(schema).includes('"x-mcp-header"');
  unmarked.set(schema, found);
  return found;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  const isExact = typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return isExact ? String(value) : null;
}

/** A text that a header cannot hold is sent as base64, marked as such. */
export function fieldValue(text: string): string {
  const isPlain = /^[\x20-\x7e\t]+$/.test(text) && text.trim() === text && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
