/**
 * Checks a result against the output schema that the server listed. SDK clients reject a result that does not match,
 * so it is no success. The schema is compiled at the first call of a tool; one that cannot be compiled is ignored.
 */
import type { ToolEntry } from '../../../core/call/catalogue.ts';
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import { compileSchema } from '../../../core/schema/compile-schema.ts';
import { describeMismatch } from '../../../core/schema/field-errors.ts';
import type { UpstreamResult } from '../../../ports/upstream.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { countNodes } from './tool-entry.ts';
import { failed, givenAs, written } from '../interpret-answer.ts';

type Check = Extract<ReturnType<typeof compileSchema>, { ok: true }>['check'];

/** By entry: it stays the same object while the server lists the same tool. */
const checks = new WeakMap<ToolEntry, Check | null>();

export function checkOutput(result: UpstreamResult, entry: ToolEntry | null, limits: McpLimits): UpstreamResult {
  if (entry === null || result.kind !== 'returned') return result;
  const check = checkOf(entry, limits);
  if (check === null) return result;
  const given = isObject(result.output) ? result.output['structuredContent'] : undefined;
  const missing = { path: '', expected: 'in structuredContent', got: null };
  const errors = given === undefined ? [missing] : check(given as Json);
  if (errors.length === 0) return result;
  const message = describeMismatch(entry.name, errors);
  return failed('schema_validation', message, {
    subject: 'response',
    errorType: 'OutputMalformed',
    ...givenAs(result.output, () => message, limits),
    cause: written({ errors, result: result.output }, limits),
  });
}

function checkOf(entry: ToolEntry, limits: McpLimits): Check | null {
  const known = checks.get(entry);
  if (known !== undefined) return known;
  const check = compile(entry.listing?.['outputSchema'], limits);
  checks.set(entry, check);
  return check;
}

function compile(schema: unknown, { maxSchemaNodes, maxSchemaChars, maxSchemaDepth }: McpLimits): Check | null {
  if (!isObject(schema) || countNodes(schema) > maxSchemaNodes) return null;
  const compiled = compileSchema(schema as JsonObject, { maxSchemaChars, maxSchemaDepth });
  return compiled.ok ? compiled.check : null;
}
