/**
 * Reads whatever arrived as a call. Total: any value at all is either a request or a list of what is
 * wrong with it. Unknown fields are errors, so that a misspelt `key` never turns into a second refund.
 */
import type { Request, SessionId } from './call.ts';
import { canonicalise, pointerStep, preview } from './canonical.ts';
import type { FieldError } from './catalogue.ts';
import { isObject, type Json, utf8Length } from './json.ts';
import type { Limits } from './limits.ts';

export type ReadRequest =
  | { readonly ok: true; readonly request: Request }
  | {
      readonly ok: false;
      /** What was asked for, if that much could be read. */
      readonly requested: string | null;
      /** InputTooLarge names the one limit that was passed; `unreadable` is not a call at all. */
      readonly problem: 'unreadable' | 'invalid' | 'too_large';
      readonly errors: readonly FieldError[];
    };

const fields = ['tool', 'args', 'session', 'key', 'turn', 'expected_seq', 'wait_seconds', 'deadline_seconds'] as const;
const known: ReadonlySet<string> = new Set(fields);

export function readRequest(value: unknown, limits: Limits): ReadRequest {
  try {
    return read(value, limits);
  } catch {
    // A getter or a proxy of the caller's own threw: that is not a call.
    return notACall('an object that can be read', 'unreadable');
  }
}

function read(value: unknown, limits: Limits): ReadRequest {
  if (!isObject(value)) return notACall('an object {tool, args}', preview(value));
  const errors: FieldError[] = [];
  let wrongFields = 0;
  const wrong = (path: string, expected: string, got: unknown) => {
    wrongFields += 1;
    if (errors.length < limits.maxFieldErrors) errors.push({ path, expected, got: shown(got) });
  };
  const name = (field: 'tool' | 'session' | 'key' | 'turn'): string | null => {
    const text = value[field];
    if (text === undefined || text === null) return null;
    if (typeof text === 'string' && text.length > 0 && text.length <= limits.maxNameChars && text.isWellFormed())
      return text;
    wrong(`/${field}`, `a text of 1 to ${limits.maxNameChars} characters`, text);
    return null;
  };
  const number = (field: string, expected: string, max: number): number | null => {
    const amount = value[field];
    if (amount === undefined || amount === null) return null;
    if (typeof amount === 'number' && amount >= 0 && amount <= max) return amount;
    wrong(`/${field}`, expected, amount);
    return null;
  };

  for (const field of Object.keys(value))
    if (!known.has(field)) wrong(`/${pointerStep(field)}`, `one of: ${fields.join(', ')}`, value[field]);
  const tool = name('tool');
  if (tool === null && errors.every((error) => error.path !== '/tool'))
    wrong('/tool', 'the name of a tool', value['tool']);
  const session = name('session');
  const key = name('key');
  const turn = name('turn');
  const expectedSeq = number('expected_seq', 'a whole number from 0', Number.MAX_SAFE_INTEGER);
  if (expectedSeq !== null && !Number.isSafeInteger(expectedSeq))
    wrong('/expected_seq', 'a whole number from 0', expectedSeq);
  const maxSeconds = limits.maxDeadlineMs / 1_000;
  const wait = number('wait_seconds', `seconds from 0 to ${maxSeconds}`, maxSeconds);
  const deadline = number('deadline_seconds', `seconds from 0 to ${maxSeconds}`, maxSeconds);

  const raw = value['args'];
  const written = canonicalise(raw === undefined ? {} : raw, { maxDepth: limits.maxDepth });
  if (!written.ok) wrong(`/args${written.path}`, 'JSON', written.problem);
  if (wrongFields > 0 || !written.ok || tool === null)
    return { ok: false, requested: tool, problem: 'invalid', errors };

  const bytes = utf8Length(written.text);
  if (bytes > limits.maxInputBytes) {
    const expected = `at most ${limits.maxInputBytes} bytes of arguments`;
    return { ok: false, requested: tool, problem: 'too_large', errors: [{ path: '/args', expected, got: bytes }] };
  }
  return {
    ok: true,
    request: {
      tool,
      // A copy of our own: nobody can change the arguments after they were judged.
      args: JSON.parse(written.text) as Json,
      argsText: written.text,
      session: session as SessionId | null,
      key,
      turn,
      expectedSeq,
      waitMs: wait === null ? null : wait * 1_000,
      deadlineMs: deadline === null ? null : deadline * 1_000,
    },
  };
}

function notACall(expected: string, got: string): ReadRequest {
  return { ok: false, requested: null, problem: 'unreadable', errors: [{ path: '', expected, got }] };
}

/** Scalars as they came, anything larger as a short text. */
function shown(value: unknown): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value;
  // JSON has one zero; the reply is the same now and when it is read back.
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0;
  if (typeof value === 'string' && value.length <= 80 && value.isWellFormed()) return value;
  return preview(value);
}
