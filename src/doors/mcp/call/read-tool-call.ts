/**
 * Reads what arrived as `tools/call`. Total: whatever the client sent, something comes out that the gateway can judge
 * and answer. Must not decide what is right.
 */
import { canonicalise, preview } from '../../../core/values/canonical.ts';
import { isObject, parseExactly } from '../../../core/values/json.ts';
import { controlNames } from '../../../core/call/request.ts';

export interface ToolCall {
  /** Null if there is no name to be read. */
  readonly name: string | null;
  /** The name as it came, where `name` is the gateway's for it. */
  readonly given: string | null;
  /** A short text of what stood in its place, if something did and that was no name. */
  readonly gotName: string | null;
  /** As they came; undefined if there were none. */
  readonly args: unknown;
  /** What `_meta["recourse/…"]` says about the call, by the names of the gateway's own fields. */
  readonly controls: Readonly<Record<string, unknown>>;
  /** The session in which this very call waits for an approval; null if it is asked for the first time. */
  readonly heldIn: string | null;
}

/** Deeper arguments are refused by the gateway, so a call that has them never comes back with answers. */
const maxDepth = 128;

export function readToolCall(params: unknown): ToolCall {
  const read = isObject(params) ? params : {};
  const meta = isObject(read['_meta']) ? read['_meta'] : {};
  const name = typeof read['name'] === 'string' ? read['name'] : null;
  const said = controlNames.filter((name) => meta[`recourse/${name}`] !== undefined);
  return {
    name,
    given: name,
    gotName: name === null && (read['name'] ?? null) !== null ? preview(read['name']) : null,
    args: read['arguments'],
    controls: Object.fromEntries(said.map((name) => [name, meta[`recourse/${name}`]])),
    heldIn: null,
  };
}

/** Models that are shown an object sometimes send its JSON text. Null if it is neither. */
export function argumentsOf({ args }: ToolCall): Readonly<Record<string, unknown>> | null {
  if (args === undefined || args === null) return {};
  if (isObject(args)) return args;
  if (typeof args !== 'string') return null;
  try {
    const parsed = parseExactly(args);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** The same request has the same text; null for one that cannot be written down. */
export function requestText({ name, args, controls }: ToolCall): string | null {
  const written = canonicalise([name, args ?? null, controls], { maxDepth });
  return written.ok ? written.text : null;
}
