/** Which tools does a server have? Page by page, within limits of pages, tools and time. Must not judge a single tool. */
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { describeAnswer } from '../weigh-answer.ts';
import type { Wire } from '../wire.ts';

export type Listing =
  | {
      readonly ok: true;
      readonly tools: readonly unknown[];
      /** Why there may be more. */ readonly cutShort: string | null;
    }
  | { readonly ok: false; readonly problem: string };

const methodNotFound = -32_601;

export async function listTools(wire: Wire, limits: McpLimits): Promise<Listing> {
  const until = performance.now() + limits.listTimeoutMs;
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let params: JsonObject = {};
  for (let page = 0; page < limits.maxPages; page++) {
    const timeoutMs = Math.max(1, until - performance.now());
    const answer = await wire.ask({ method: 'tools/list', params, timeoutMs });
    // A server of resources or prompts alone has no such method.
    if (answer.kind === 'error' && answer.code === methodNotFound && page === 0)
      return { ok: true, tools, cutShort: null };
    if (answer.kind !== 'result')
      return { ok: false, problem: `it does not list its tools: ${describeAnswer(answer)}` };
    const listed = isObject(answer.result) ? answer.result['tools'] : null;
    if (!Array.isArray(listed)) return { ok: false, problem: 'it does not list its tools: its answer has none' };
    for (const tool of listed) {
      if (tools.length >= limits.maxTools)
        return { ok: true, tools, cutShort: `it has more than ${limits.maxTools} tools` };
      tools.push(tool);
    }
    const cursor = isObject(answer.result) ? answer.result['nextCursor'] : null;
    if (cursor === undefined || cursor === null) return { ok: true, tools, cutShort: null };
    const isUsable = typeof cursor === 'string' && cursor.length <= limits.maxCursorChars && !seen.has(cursor);
    if (!isUsable)
      return { ok: true, tools, cutShort: 'its list of tools goes in a circle, or on without a usable cursor' };
    seen.add(cursor);
    params = { cursor };
  }
  return { ok: true, tools, cutShort: `its list of tools has more than ${limits.maxPages} pages` };
}
