/**
 * Can `session` stand among the arguments of an action's own tool, and what if it stands there and cannot? A handle that is given
 * always wins: it is taken, or refused with words, and never lost among the inputs. Must not judge the inputs themselves.
 */
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import type { ActionEntry } from '../../../core/workflow/workflow.ts';

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

/** Only where `session` can be no input of the action's own; `_meta["recourse/session"]` works everywhere. */
export function takesSessionArgument({ inputSchema }: ActionEntry): boolean {
  if (inputSchema === null) return true;
  if (combining.some((keyword) => keyword in inputSchema)) return false;
  return !isMap(inputSchema) && !declaresHere(inputSchema);
}

/** The handle that stands in the arguments of an action which does not take it there; null if there is none. */
export function misplacedSession(action: ActionEntry, given: Readonly<Record<string, unknown>>): string | null {
  const { session } = given;
  if (!isHandle(session) || takesSessionArgument(action)) return null;
  return declares(action.inputSchema) ? null : session;
}

/** As sessions of workflows are called. */
export const isHandle = (given: unknown): given is string =>
  typeof given === 'string' && /^ses_[0-9a-f]{8}_/.test(given);

/** Its names are the caller's own, and `session` may be one of them. */
function isMap({ properties, additionalProperties: others }: JsonObject): boolean {
  const isNamed = isObject(properties) && Object.keys(properties).length > 0;
  return !isNamed && isObject(others) && Object.keys(others).length > 0;
}

function declaresHere({ properties, required }: JsonObject): boolean {
  if (isObject(properties) && 'session' in properties) return true;
  return Array.isArray(required) && required.includes('session');
}

/** Anywhere in it: which part of a combined schema counts, only its validator knows. Schemas are limited in depth and size. */
function declares(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(declares);
  if (!isObject(schema)) return false;
  const parts = schema as JsonObject;
  return declaresHere(parts) || Object.values(parts).some(declares);
}
