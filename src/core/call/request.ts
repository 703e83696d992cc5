/**
 * Parses any value into a request or a list of errors; never throws. Unknown fields are errors, so that a misspelt
 * `key` cannot cause a second write.
 */
import type { Request, SessionId } from './call.ts';
import { canonicalise, pointerStep, preview } from '../values/canonical.ts';
import type { FieldError } from './catalogue.ts';
import { isObject, type Json, utf8Length, parseExactly } from '../values/json.ts';
import type { Limits } from '../limits.ts';
import { reversalKeyPrefix } from '../reversal/reversal.ts';
import { secondsToMs } from '../values/duration.ts';

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

/** A step of a workflow is a call in other words: what is called is an action, and its arguments are inputs. */
export type RequestForm = 'call' | 'step';

/** What may be said about a call beside its tool and arguments, at every door. */
export const controlNames = [
  'session',
  'key',
  'turn',
  'expected_seq',
  'wait_seconds',
  'deadline_seconds',
  'model',
  'evidence_refs',
] as const;

const words = {
  call: { tool: 'tool', args: 'args', what: 'the name of a tool', fields: ['tool', 'args', ...controlNames] },
  step: {
    tool: 'action',
    args: 'inputs',
    what: 'the name of an action',
    fields: ['action', 'inputs', ...controlNames],
  },
} as const;

/** Keys of calls that the gateway makes by itself. */
export const ourKeys: readonly string[] = ['tkt:', reversalKeyPrefix];

const isOurs = (key: string): boolean => ourKeys.some((beginning) => key.startsWith(beginning));

export function readRequest(value: unknown, limits: Limits, form: RequestForm = 'call'): ReadRequest {
  try {
    return read(value, limits, form);
  } catch {
    // A getter or a proxy of the caller's own threw: that is not a call.
    return notACall('an object that can be read', 'unreadable');
  }
}

function read(value: unknown, limits: Limits, form: RequestForm): ReadRequest {
  const { tool: toolField, args: argsField } = words[form];
  if (!isObject(value)) return notACall(`an object {${toolField}, ${argsField}}`, preview(value));
  const errors: FieldError[] = [];
  let wrongFields = 0;
  const wrong: Wrong = (path, expected, got) => {
    wrongFields += 1;
    if (errors.length < limits.maxFieldErrors) errors.push({ path, expected, got: shown(got) });
  };
  const { tool, ...controls } = readFields(value, form, limits, wrong, errors);

  const raw = form === 'step' ? inputsOf(value[argsField], wrong) : value[argsField];
  const written = canonicalise(raw === undefined ? {} : raw, { maxDepth: limits.maxDepth });
  if (!written.ok) wrong(`/${argsField}${written.path}`, 'JSON', written.problem);
  if (wrongFields > 0 || !written.ok || tool === null)
    return { ok: false, requested: tool, problem: 'invalid', errors };

  const bytes = utf8Length(written.text);
  if (bytes > limits.maxInputBytes) {
    const expected = `at most ${limits.maxInputBytes} bytes of arguments`;
    return {
      ok: false,
      requested: tool,
      problem: 'too_large',
      errors: [{ path: `/${argsField}`, expected, got: bytes }],
    };
  }
  // A copy of our own: nobody can change the arguments after they were judged.
  const args = JSON.parse(written.text) as Json;
  return { ok: true, request: { tool, args, argsText: written.text, ...controls } };
}

type Wrong = (path: string, expected: string, got: unknown) => void;

/** Everything but the arguments. What is wrong is reported, and read as absent. */
function readFields(
  value: Readonly<Record<string, unknown>>,
  form: RequestForm,
  limits: Limits,
  wrong: Wrong,
  errors: readonly FieldError[],
): Omit<Request, 'tool' | 'args' | 'argsText'> & { readonly tool: string | null } {
  const { tool: toolField, what, fields } = words[form];
  const name = (field: string): string | null => {
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
    if (!(fields as readonly string[]).includes(field))
      wrong(`/${pointerStep(field)}`, `one of: ${fields.join(', ')}`, value[field]);
  const tool = name(toolField);
  if (tool === null && errors.every((error) => error.path !== `/${toolField}`))
    wrong(`/${toolField}`, what, value[toolField]);
  const session = name('session');
  const key = name('key');
  // INVARIANT: nobody takes the key of a reversal, or of what goes on for a ticket, before it is made.
  if (key !== null && isOurs(key)) wrong('/key', `a key that does not begin with ${ourKeys.join(' or ')}`, key);
  const turn = name('turn');
  const model = name('model');
  const expectedSeq = number('expected_seq', 'a whole number from 0', Number.MAX_SAFE_INTEGER);
  if (expectedSeq !== null && !Number.isSafeInteger(expectedSeq))
    wrong('/expected_seq', 'a whole number from 0', expectedSeq);
  const maxSeconds = limits.maxDeadlineMs / 1_000;
  const wait = number('wait_seconds', `seconds from 0 to ${maxSeconds}`, maxSeconds);
  const deadline = number('deadline_seconds', `seconds from 0 to ${maxSeconds}`, maxSeconds);

  const evidence = evidenceOf(value['evidence_refs'], limits, wrong);
  return {
    tool,
    session: session as SessionId | null,
    key,
    turn,
    expectedSeq,
    waitMs: wait === null ? null : secondsToMs(wait),
    model,
    deadlineMs: deadline === null ? null : secondsToMs(deadline),
    ...(evidence.length === 0 ? {} : { evidence }),
  };
}

/** How many reads one call may rely on. */
const maxEvidence = 16;

function evidenceOf(given: unknown, { maxNameChars }: Limits, wrong: Wrong): readonly string[] {
  if (given === undefined || given === null) return [];
  const isRef = (ref: unknown) =>
    typeof ref === 'string' && ref !== '' && ref.length <= maxNameChars && ref.isWellFormed();
  if (Array.isArray(given) && given.length <= maxEvidence && given.every(isRef)) return [...new Set(given as string[])];
  wrong('/evidence_refs', `a list of at most ${maxEvidence} call ids of reads`, given);
  return [];
}

/** Many models write their inputs as a JSON text: it is understood. What is no object is no inputs. */
function inputsOf(given: unknown, wrong: Wrong): unknown {
  if (given === undefined || given === null || (typeof given === 'string' && given.trim() === '')) return {};
  const inputs = typeof given === 'string' ? parsed(given) : given;
  if (isObject(inputs)) return inputs;
  wrong('/inputs', 'an object, or the JSON text of one', given);
  return {};
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
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
