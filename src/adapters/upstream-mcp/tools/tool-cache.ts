/**
 * The tools of one server as listed last. Kept while it is away, and listed again, at a limited rate, when the server
 * says they changed. A tool that cannot be offered is left out, with the reason.
 */
import { setImmediate as otherWork } from 'node:timers/promises';
import type { ToolEntry } from '../../../core/call/catalogue.ts';
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import { compileSchema, type CompiledSchema } from '../../../core/schema/compile-schema.ts';
import { createTokenBucket } from '../token-bucket.ts';
import { describeAnswer } from '../interpret-answer.ts';
import type { McpUpstreamConfig } from '../mcp-config.ts';
import type { McpLimits } from '../mcp-limits.ts';
import type { StoredTools } from './stored-tools.ts';
import { createDelay } from '../backoff.ts';
import { entryOf } from './tool-entry.ts';
import type { Wire } from '../wire.ts';

export interface LeftOut {
  readonly tool: string;
  readonly reason: string;
}

export interface ToolCache {
  /** The tools that were kept by an earlier process, until the server lists its own. */
  restore(): Promise<void>;
  /** Whether a list is known at all. */
  isListed(): boolean;
  /** Null, or why the tools could not be listed; then the old ones stay. */
  fill(wire: Wire): Promise<string | null>;
  refreshSoon(): void;
  entries(): readonly ToolEntry[];
  /** By its name in the catalogue. */
  entry(name: string): ToolEntry | null;
  leftOut(): readonly LeftOut[];
  /** Why the list is not whole, or could not be kept; null if all is well. */
  problem(): string | null;
  close(): void;
}

interface CacheParts {
  readonly limits: McpLimits;
  readonly defaultTimeoutMs: number;
  readonly onTools: () => void;
  /** Absent, or null, where nothing is kept. */
  readonly kept?: StoredTools | null;
}

/** Compiling many schemas yields to other work after this time. */
const maxTurnMs = 10;

export function createToolCache(
  config: McpUpstreamConfig,
  parts: CacheParts,
  onFailure: (failure: string | null) => void,
): ToolCache {
  const { limits } = parts;
  const compiling = createTokenBucket(limits.compileBurstMs, limits.compileMsPerSecond);
  const rest = createDelay();
  let wire: Wire | null = null;
  let entries: readonly ToolEntry[] = [];
  let byName: ReadonlyMap<string, ToolEntry> = new Map();
  let leftOut: readonly LeftOut[] = [];
  let cutShort: string | null = null;
  let unkept: string | null = null;
  let listed = false;
  let compiled = new Map<string, CompiledSchema>();
  let timer: NodeJS.Timeout | null = null;
  let listedAt = -Infinity;
  let turns = 0;
  let applied = 0;
  let closed = false;

  async function fill(from: Wire): Promise<string | null> {
    const turn = ++turns;
    const before = wire;
    wire = from;
    listedAt = performance.now();
    const listing = await listTools(from, limits);
    if (!listing.ok) {
      // The connection could not take over: the one in use is asked the next time.
      if (wire === from) wire = before;
      return listing.problem;
    }
    const next = await makeEntries(listing.tools);
    // Of two overlapping listings the one that was requested later wins.
    if (turn <= applied || closed) return null;
    applied = turn;
    const isNew = next.entries.length !== entries.length || next.entries.some((entry, at) => entry !== entries[at]);
    listed = true;
    ({ entries, byName, leftOut, compiled } = next);
    cutShort = listing.cutShort;
    if (isNew) parts.onTools();
    void parts.kept?.write(listing.tools).then((problem) => (unkept = problem));
    return null;
  }

  async function restore(): Promise<void> {
    const tools = (await parts.kept?.read()) ?? null;
    if (tools === null) return;
    const next = await makeEntries(tools);
    if (closed) return;
    listed = true;
    ({ entries, byName, leftOut, compiled } = next);
    parts.onTools();
  }

  async function makeEntries(tools: readonly unknown[]) {
    const known = new Map(entries.map((entry) => [entry.name, entry]));
    const kept = new Map<string, ToolEntry>();
    const dropped: LeftOut[] = [];
    const nextCompiled = new Map<string, CompiledSchema>();
    const compile = (schema: JsonObject) => {
      const text = JSON.stringify(schema);
      const { maxSchemaChars, maxSchemaDepth } = limits;
      const result =
        compiled.get(text) ?? nextCompiled.get(text) ?? compileSchema(schema, { maxSchemaChars, maxSchemaDepth });
      nextCompiled.set(text, result);
      return result;
    };
    const drop = (tool: string, reason: string) => {
      if (dropped.length < limits.maxLeftOut) dropped.push({ tool, reason });
    };
    let chars = 0;
    let turnBegan = performance.now();
    for (const tool of tools) {
      const result = entryOf(config, tool, { limits, defaultTimeoutMs: parts.defaultTimeoutMs, compile });
      if (!result.ok) drop(result.tool, result.reason);
      else if (kept.has(result.entry.name)) drop(result.entry.name, 'the server lists its name twice');
      else if (chars + result.chars > limits.maxListChars) drop(result.entry.name, 'the server lists too much text');
      else {
        chars += result.chars;
        const before = known.get(result.entry.name);
        kept.set(result.entry.name, before?.manifest === result.entry.manifest ? before : result.entry);
      }
      const tookMs = performance.now() - turnBegan;
      if (tookMs < maxTurnMs) continue;
      const restMs = compiling.spend(tookMs);
      await (restMs > 0 ? rest.wait(restMs) : otherWork());
      if (closed) break;
      turnBegan = performance.now();
    }
    return { entries: [...kept.values()], byName: kept, leftOut: dropped, compiled: nextCompiled };
  }

  async function refresh(): Promise<void> {
    timer = null;
    if (wire === null || wire.isClosed() || closed) return;
    const failure = await fill(wire);
    if (failure !== null) onFailure(failure);
  }

  return {
    fill,
    restore,
    isListed: () => listed,
    refreshSoon() {
      if (timer !== null || closed) return;
      const dueMs = listedAt + limits.relistEveryMs - performance.now();
      timer = setTimeout(() => void refresh(), Math.max(limits.relistDebounceMs, dueMs));
    },
    entries: () => entries,
    entry: (name) => byName.get(name) ?? null,
    leftOut: () => leftOut,
    problem: () => cutShort ?? unkept,
    close() {
      closed = true;
      rest.endEarly();
      if (timer !== null) clearTimeout(timer);
    },
  };
}

type Listing =
  | {
      readonly ok: true;
      readonly tools: readonly unknown[];
      /** Why there may be more. */
      readonly cutShort: string | null;
    }
  | { readonly ok: false; readonly problem: string };

const methodNotFound = -32_601;

/** Lists the tools page by page, within limits of pages, tools and time. Does not look at a single tool. */
async function listTools(wire: Wire, limits: McpLimits): Promise<Listing> {
  const until = performance.now() + limits.listTimeoutMs;
  const tools: unknown[] = [];
  const seen = new Set<string>();
  const listed = (cutShort: string | null): Listing => ({ ok: true, tools, cutShort });
  let params: JsonObject = {};
  for (let page = 0; page < limits.maxPages; page++) {
    const timeoutMs = Math.max(1, until - performance.now());
    const answer = await wire.ask({ method: 'tools/list', params, timeoutMs });
    // A server that has only resources or prompts does not have this method.
    if (answer.kind === 'error' && answer.code === methodNotFound && page === 0) return listed(null);
    if (answer.kind !== 'result')
      return { ok: false, problem: `it does not list its tools: ${describeAnswer(answer)}` };
    const { tools: more, nextCursor: cursor } = isObject(answer.result) ? answer.result : {};
    if (!Array.isArray(more)) return { ok: false, problem: 'it does not list its tools: its answer has none' };
    const room = limits.maxTools - tools.length;
    for (const tool of more.slice(0, room)) tools.push(tool);
    if (more.length > room) return listed(`it has more than ${limits.maxTools} tools`);
    if (cursor === undefined || cursor === null) return listed(null);
    const isUsable = typeof cursor === 'string' && cursor.length <= limits.maxCursorChars && !seen.has(cursor);
    if (!isUsable) return listed('its list of tools goes in a circle, or on without a usable cursor');
    seen.add(cursor);
    params = { cursor };
  }
  return listed(`its list of tools has more than ${limits.maxPages} pages`);
}
