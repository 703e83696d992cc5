/**
 * Converts whatever a body threw into a failure: text, undefined, or a proxy that throws when read. Never throws.
 * Message and name go to the agent; stacks and causes go only into `cause`, for the audit.
 */
import { preview } from '../../core/values/canonical.ts';
import { effects, errors, kinds, type Effect, type ErrorCode, type ErrorKind } from '../../core/taxonomy.ts';
import type { Failure, ItemFailure } from '../../ports/upstream.ts';
import { isToolFailure } from './tool-failure.ts';

const maxNameChars = 100;
const maxMessageChars = 16_000;
const maxCauseChars = 32_000;
const maxCauses = 8;

export function failure(kind: ErrorKind, message: string, more: Partial<Failure> = {}): Failure {
  return {
    kind,
    subject: null,
    errorType: 'Error',
    message,
    effect: null,
    retryAfterSeconds: null,
    code: null,
    cause: null,
    ...more,
  };
}

export function failureOf(thrown: unknown, signal: AbortSignal): Failure {
  const said = { errorType: nameOf(thrown), cause: causesOf(thrown) };
  const message = messageOf(thrown);
  if (isToolFailure(thrown)) return statedFailure(thrown, message, said);
  if (signal.aborted && (thrown === signal.reason || said.errorType === 'AbortError')) {
    return failure('cancelled', message, said);
  }
  return failure('threw', message, said);
}

function statedFailure(thrown: unknown, message: string, said: Partial<Failure>): Failure {
  const subject = read(thrown, 'subject');
  const effect = read(thrown, 'effect');
  const seconds = read(thrown, 'retry_after_seconds');
  return failure(kindOf(read(thrown, 'kind')), message, {
    ...said,
    subject: typeof subject === 'string' ? subject.slice(0, maxNameChars) : null,
    effect: typeof effect === 'string' && Object.hasOwn(effects, effect) ? (effect as Effect) : null,
    retryAfterSeconds: typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
    code: codeOf(read(thrown, 'code')),
  });
}

export function itemFailures(errors: unknown): readonly ItemFailure[] {
  const length = read(errors, 'length');
  if (typeof length !== 'number') return [];
  return Array.from({ length: Math.min(length, 10_000) }, (_, index) => {
    const error = read(errors, index);
    const item = read(error, 'item');
    return {
      item: typeof item === 'string' || (typeof item === 'number' && Number.isFinite(item)) ? item : index,
      kind: kindOf(read(error, 'kind')),
      message: textOf(read(error, 'message'), maxMessageChars) ?? 'failed without a message',
    };
  });
}

/** A kind that is not in the taxonomy is `unknown`. */
function kindOf(kind: unknown): ErrorKind {
  return typeof kind === 'string' && Object.hasOwn(kinds, kind) ? (kind as ErrorKind) : 'unknown';
}

/** Only a code that a failed action can have. */
function codeOf(code: unknown): ErrorCode | null {
  const legal: readonly string[] = errors.action_error.codes;
  return typeof code === 'string' && legal.includes(code) ? (code as ErrorCode) : null;
}

export function read(value: unknown, key: PropertyKey): unknown {
  try {
    return value === null || value === undefined ? undefined : (value as Record<PropertyKey, unknown>)[key];
  } catch {
    return undefined;
  }
}

export function nameOf(thrown: unknown): string {
  if (!isThing(thrown)) return 'NonError';
  return textOf(read(thrown, 'name'), maxNameChars) ?? 'NonError';
}

export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return textOf(thrown, maxMessageChars) ?? 'threw an empty text';
  if (!isThing(thrown)) return `threw ${show(thrown)}`;
  const message = read(thrown, 'message');
  if (message === '') return 'threw without a message';
  return textOf(message, maxMessageChars) ?? `threw ${show(thrown)}`;
}

function causesOf(thrown: unknown): string {
  const lines: string[] = [];
  let next = thrown;
  for (let depth = 0; depth < maxCauses && next !== undefined && next !== null; depth++) {
    const text = textOf(read(next, 'stack'), maxCauseChars) ?? `${nameOf(next)}: ${messageOf(next)}`;
    lines.push(depth === 0 ? text : `caused by: ${text}`);
    lines.push(...gathered(next));
    next = isThing(next) ? read(next, 'cause') : undefined;
  }
  return lines.join('\n').slice(0, maxCauseChars);
}

/** The errors of an AggregateError. */
function gathered(thrown: unknown): readonly string[] {
  const errors = isThing(thrown) ? read(thrown, 'errors') : undefined;
  const length = read(errors, 'length');
  if (typeof errors !== 'object' || typeof length !== 'number') return [];
  return Array.from({ length: Math.min(length, maxCauses) }, (_, index) => {
    const one = read(errors, index);
    return `together with: ${textOf(read(one, 'stack'), maxCauseChars) ?? `${nameOf(one)}: ${messageOf(one)}`}`;
  });
}

function isThing(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function textOf(value: unknown, max: number): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, max).toWellFormed() : null;
}

function show(value: unknown): string {
  try {
    return value === undefined ? 'undefined' : preview(value);
  } catch {
    return `something unreadable (${typeof value})`;
  }
}
