/**
 * Runs code of the author's (guards, assigns, updates, delays) and turns whatever it throws into an AuthorFault.
 * Reading the thrown value never throws.
 */
import { cut, preview } from '../../values/canonical.ts';
import type { JsonObject } from '../../values/json.ts';
import { copyJson, type CopyLimits } from './copy-json.ts';

const maxNameChars = 100;
const maxMessageChars = 2_000;
const maxPathChars = 120;

/** Thrown through the engine and caught by us; nobody else sees it. */
export class AuthorFault extends Error {
  readonly errorType: string;
  /** What ran: `assign of pay in ordering`. */
  readonly what: string;

  constructor(what: string, errorType: string, problem: string) {
    super(problem);
    this.what = what;
    this.errorType = errorType;
  }
}

/** What an author's function is handed. `context` is frozen, and so is the event. */
export interface AuthorArgs {
  readonly context: JsonObject;
  readonly event: unknown;
}

export function faultOf(what: string, thrown: unknown): AuthorFault {
  if (thrown instanceof AuthorFault) return thrown;
  return new AuthorFault(what, nameOf(thrown), messageOf(thrown));
}

/** The part of the context that the code gave, as our own. Throws an AuthorFault if it is none. */
export function ownPart(what: string, given: unknown, limits: CopyLimits): JsonObject {
  const owned = copyJson(given, limits);
  if (!owned.ok) {
    const place = owned.path === '' ? 'it' : `'${cut(owned.path, maxPathChars)}'`;
    throw new AuthorFault(what, 'NotJson', `${place} must be plain JSON, and is ${owned.what}`);
  }
  if (typeof owned.value !== 'object' || owned.value === null || Array.isArray(owned.value)) {
    throw new AuthorFault(what, 'NotJson', 'it must be an object with fields of the context');
  }
  if (Object.hasOwn(owned.value, '__proto__')) throw new AuthorFault(what, 'NotJson', "it has a field '__proto__'");
  return owned.value as JsonObject;
}

/** What XState offers beside these would reach out of the state; asking for it is told by name. */
class Args implements AuthorArgs {
  readonly context: JsonObject;
  readonly event: unknown;

  constructor(context: JsonObject, event: unknown) {
    this.context = context;
    this.event = event;
  }

  get spawn(): never {
    return notHere('spawn');
  }

  get self(): never {
    return notHere('self');
  }

  get system(): never {
    return notHere('system');
  }

  get input(): never {
    return notHere('input');
  }
}

function notHere(name: string): never {
  const error = new Error(`'${name}' does not exist in a workflow`);
  error.name = 'NotInAWorkflow';
  throw error;
}

export function argsFor(context: JsonObject, event: unknown): AuthorArgs {
  return new Args(context, event);
}

export function nameOf(thrown: unknown): string {
  const name = read(thrown, 'name');
  return typeof name === 'string' && name !== '' ? name.slice(0, maxNameChars).toWellFormed() : 'NonError';
}

export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string' && thrown !== '') return thrown.slice(0, maxMessageChars).toWellFormed();
  const message = read(thrown, 'message');
  if (typeof message === 'string' && message !== '') return message.slice(0, maxMessageChars).toWellFormed();
  return typeof thrown === 'object' ? 'threw without a message' : `threw ${preview(thrown)}`;
}

function read(value: unknown, key: string): unknown {
  try {
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  } catch {
    return undefined;
  }
}
