/** Makes the catalogue entry of a tool that a server listed, or says why it is left out. Servers are not trusted. */
import { specTypeSchemas } from '@modelcontextprotocol/client';
import { canonicalText, canonicalise, preview } from '../../../core/values/canonical.ts';
import type { ToolEntry } from '../../../core/call/catalogue.ts';
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import type { CompiledSchema } from '../../../core/schema/compile-schema.ts';
import { destinationOf } from '../../../core/egress/destination.ts';
import { type Reach, reachOf } from '../../../core/policy/policy.ts';
import type { EffectClass } from '../../../core/taxonomy.ts';
import { type McpRule, type McpUpstreamConfig, ruleFor } from '../mcp-config.ts';
import type { McpLimits } from '../mcp-limits.ts';

export type EntryResult =
  | { readonly ok: true; readonly entry: ToolEntry; readonly chars: number }
  | { readonly ok: false; readonly tool: string; readonly reason: string };

export interface EntryParts {
  readonly limits: McpLimits;
  readonly defaultTimeoutMs: number;
  readonly compile: (schema: JsonObject) => CompiledSchema;
}

/** The catalogue entry of a tool, or why it is left out. */
export function entryOf(server: McpUpstreamConfig, listed: unknown, parts: EntryParts): EntryResult {
  const read = readListed(listed, parts);
  if (!read.ok) return read;
  const { name, schema, text, check, listing } = read;
  const rule = ruleFor(server, name);
  const hints = hintsOf(server, name, listing);
  const { effectClass, reach } = classify(server, rule, hints);
  const timeoutMs = rule?.timeoutMs ?? server.timeoutMs ?? parts.defaultTimeoutMs;
  const dedupeWindowMs = dedupeWindow(effectClass, rule);
  const reportsWithinMs = rule?.reportsWithinMs ?? null;
  const fullName = `${server.name}/${name}`;
  const description = listing['description'] ?? listing['title'];
  const entry: ToolEntry = {
    name: fullName,
    description: typeof description === 'string' ? description : '',
    effectClass,
    timeoutMs,
    dedupeWindowMs,
    reportsWithinMs,
    input: { kind: 'schema', check },
    invokes: fullName,
    inputSchema: schema,
    listing,
    hints,
    policyName: fullName,
    reach,
    host: null,
    ...destinationIn(server),
    manifest: canonicalText({
      name: fullName,
      effect: effectClass,
      timeout_ms: timeoutMs,
      dedupe_window_ms: dedupeWindowMs,
      ...(reportsWithinMs === null ? {} : { reports_within_ms: reportsWithinMs }),
      tool: JSON.parse(text) as JsonObject,
    }),
  };
  return { ok: true, entry, chars: text.length };
}

/** What a rule states counts; then the hints of a server that the operator trusts; then the worst. */
function classify({ trustAnnotations }: McpUpstreamConfig, rule: McpRule | undefined, hints: JsonObject) {
  const effectClass: EffectClass = rule?.effect ?? (trustAnnotations && saysReadOnly(hints) ? 'pure' : 'plain');
  const reach = rule?.reach ?? (trustAnnotations ? hintedReach(hints, effectClass) : reachOf(effectClass));
  return { effectClass, reach };
}

interface ReadTool {
  readonly ok: true;
  readonly name: string;
  readonly schema: JsonObject;
  /** The whole tool as canonical JSON. */
  readonly text: string;
  readonly check: Extract<CompiledSchema, { ok: true }>['check'];
  /** Everything but name and input schema that a client can read. */
  readonly listing: JsonObject;
}

type LeftOut = Extract<EntryResult, { ok: false }>;

/** Checks what the server sent against the limits, and its input schema. */
function readListed(listed: unknown, { limits, compile }: EntryParts): ReadTool | LeftOut {
  const name = isObject(listed) ? listed['name'] : null;
  if (!isObject(listed) || typeof name !== 'string') return leftOut(listed, 'it has no name');
  if (!isUsableName(name, limits)) {
    return leftOut(name, `its name is not 1 to ${limits.maxToolNameChars} visible characters`);
  }
  const schema = listed['inputSchema'];
  if (!isObject(schema)) return leftOut(name, 'it has no input schema');
  // Two levels above the schema are the tool's own.
  const written = canonicalise(listed, { maxDepth: limits.maxSchemaDepth + 2 });
  if (!written.ok) return leftOut(name, `it cannot be kept: ${written.problem} at '${written.path}'`);
  const { text } = written;
  if (text.length > limits.maxToolChars) return leftOut(name, `it is larger than ${limits.maxToolChars} characters`);
  if (countNodes(schema) > limits.maxSchemaNodes) {
    return leftOut(name, `its input schema has more than ${limits.maxSchemaNodes} parts`);
  }
  const compiled = compile(schema as JsonObject);
  if (!compiled.ok) return leftOut(name, `its input schema is not usable: ${compiled.problem}`);
  const invalid = invalidMembers({ ...listed, inputSchema: { ...schema, type: 'object' } });
  if (invalid.has('inputSchema')) return leftOut(name, 'its input schema is none that a client can read');
  const others = Object.entries(listed as JsonObject).filter(([key]) => key !== 'name' && key !== 'inputSchema');
  const listing: JsonObject = Object.fromEntries(others.filter(([key]) => !invalid.has(key)));
  return { ok: true, name, schema: schema as JsonObject, text, check: compiled.check, listing };
}

/**
 * Members that do not match MCP's schema, such as a description that is null. A client of the SDK drops the whole list
 * because of one of them, with the tools of every other server.
 */
function invalidMembers(tool: unknown): ReadonlySet<unknown> {
  const judged = specTypeSchemas.Tool['~standard'].validate(tool);
  const issues = 'issues' in judged ? (judged.issues ?? []) : [];
  return new Set(issues.map(({ path }) => path?.[0]));
}

export function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, child) => sum + countNodes(child), 1);
}

/** Only a keyed tool has a window. */
function dedupeWindow(effectClass: EffectClass, rule: McpRule | undefined): number | null {
  return effectClass === 'keyed' ? (rule?.dedupeWindowMs ?? null) : null;
}

function isUsableName(name: string, { maxToolNameChars }: McpLimits): boolean {
  const isVisible = name.isWellFormed() && !/[\p{C}\p{Zl}\p{Zp}]/u.test(name) && name.trim() === name;
  return name !== '' && name.length <= maxToolNameChars && isVisible;
}

/** From the hints of a server that the operator trusts; a hint that is missing counts as the worst. */
function hintedReach(hints: JsonObject, effectClass: EffectClass): Reach {
  if (effectClass === 'pure' || hints['destructiveHint'] !== false) return reachOf(effectClass);
  return hints['openWorldHint'] === false ? 'local_write' : 'network';
}

/** INVARIANT: for a pinned server only the pinned hints count; a hint that it changes later changes nothing. */
function hintsOf({ pinnedHints }: McpUpstreamConfig, tool: string, { annotations }: JsonObject): JsonObject {
  if (pinnedHints) return pinnedHints.get(tool) ?? {};
  return isObject(annotations) ? annotations : {};
}

const destinationIn = ({ connect }: McpUpstreamConfig) => (connect.kind === 'http' ? destinationOf(connect.url) : null);

/** A tool that also calls itself destructive does not count as read-only. */
export function saysReadOnly(hints: JsonObject): boolean {
  return hints['readOnlyHint'] === true && hints['destructiveHint'] !== true;
}

function leftOut(tool: unknown, reason: string): LeftOut {
  return { ok: false, tool: typeof tool === 'string' ? preview(tool).slice(1, -1) : '(without a name)', reason };
}
