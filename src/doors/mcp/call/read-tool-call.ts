/**
 * Parses the messages of a client and reads `tools/call`: name, arguments, `_meta`, and a session among the arguments.
 * Total: whatever was sent, the result can be judged and answered by the gateway.
 */
import { canonicalise, preview } from '../../../core/values/canonical.ts';
import { controlNames } from '../../../core/call/request.ts';
import { isObject, type Json, type JsonObject, parseExactly, parseMessages } from '../../../core/values/json.ts';
import type { ActionEntry } from '../../../core/workflow/workflow.ts';

/**
 * The arguments of a call keep large integers exactly; the rest of a message is plain JSON, as the SDK expects. Throws
 * like JSON.parse.
 */
export const parseMessage = (text: string): unknown => parseMessages(text, withArguments);

function withArguments(message: unknown, exact: unknown): unknown {
  if (!isObject(message) || !isObject(exact) || !isObject(message['params']) || !isObject(exact['params']))
    return message;
  if (!('arguments' in exact['params'])) return message;
  return { ...message, params: { ...message['params'], arguments: exact['params']['arguments'] } };
}

export interface ToolCall {
  /** Null if there is no name. */
  readonly name: string | null;
  /** The name as the client sent it; `name` is the gateway's. */
  readonly given: string | null;
  /** What was sent instead of a name, shortened; null if nothing was. */
  readonly gotName: string | null;
  /** As sent; undefined if there were none. */
  readonly args: unknown;
  /** The `_meta["recourse/…"]` fields, by the gateway's names. */
  readonly controls: Readonly<Record<string, unknown>>;
  /** The session in which this call waits for an approval; null for a new call. */
  readonly heldIn: string | null;
}

/** The gateway refuses deeper arguments, so such a call never returns with answers. */
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

/** An object or, as some models send it, its JSON text. Null if it is neither. */
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

/** Equal requests have equal texts; null if it has no canonical form. */
export function requestText({ name, args, controls }: ToolCall): string | null {
  const written = canonicalise([name, args ?? null, controls], { maxDepth });
  return written.ok ? written.text : null;
}

const combining = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
];

/**
 * Whether `session` may be an argument of the action's tool: only if it cannot be an input. `_meta["recourse/session"]`
 * always works.
 */
export function takesSessionArgument({ inputSchema }: ActionEntry): boolean {
  if (inputSchema === null) return true;
  if (combining.some((keyword) => keyword in inputSchema)) return false;
  return !isMap(inputSchema) && !declaresHere(inputSchema);
}

/** A session handle among the arguments of an action that takes none there: refused, never lost among the inputs. */
export function misplacedSession(action: ActionEntry, given: Readonly<Record<string, unknown>>): string | null {
  const { session } = given;
  if (!isHandle(session) || takesSessionArgument(action)) return null;
  return declares(action.inputSchema) ? null : session;
}

/** Whether it looks like the handle of a workflow session. */
export const isHandle = (given: unknown): given is string =>
  typeof given === 'string' && /^ses_[0-9a-f]{8}_/.test(given);

/** A map: the caller chooses its keys, and `session` may be one of them. */
function isMap({ properties, additionalProperties: others }: JsonObject): boolean {
  const isNamed = isObject(properties) && Object.keys(properties).length > 0;
  return !isNamed && isObject(others) && Object.keys(others).length > 0;
}

function declaresHere({ properties, required }: JsonObject): boolean {
  if (isObject(properties) && 'session' in properties) return true;
  return Array.isArray(required) && required.includes('session');
}

/**
 * Anywhere in it: which part of a combined schema counts, only its validator knows. Schemas are limited in depth and
 * size.
 */
function declares(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(declares);
  if (!isObject(schema)) return false;
  const parts = schema as JsonObject;
  return declaresHere(parts) || Object.values(parts).some(declares);
}
