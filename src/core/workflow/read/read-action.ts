/**
 * Reads the actions of a transition. Only `assign` and `raise` are supported; other effects belong in the body of a
 * step. Runs no author code.
 */
import { isObject, type Json, type JsonObject } from '../../values/json.ts';
import { argsFor, AuthorFault, faultOf, ownPart } from './author-code.ts';
import type { ActionRule, DelayRule } from './machine-draft.ts';
import { listOf, sourceOf, unknownKeys, writtenParams, writtenValue, type Reading } from './reading.ts';

type AuthorFunction = (args: unknown, params: unknown) => unknown;

/** A year: longer waits belong into a calendar. */
export const maxDelayMs = 366 * 24 * 3_600_000;

interface BuiltIn {
  readonly type: string;
  readonly assignment?: unknown;
  readonly event?: unknown;
  readonly id?: unknown;
  readonly delay?: unknown;
}

export function readActions(raw: unknown, place: string, reading: Reading): readonly ActionRule[] {
  return listOf(raw).flatMap((one) => {
    const rule = readAction(one, place, reading);
    return rule === null ? [] : [rule];
  });
}

function readAction(raw: unknown, place: string, reading: Reading): ActionRule | null {
  if (typeof raw === 'function') return readFunction(raw, undefined, null, place, reading);
  if (isObject(raw)) unknownKeys(raw, ['type', 'params'], `${place}, an action of it`, reading.problems);
  const name = typeof raw === 'string' ? raw : isObject(raw) ? raw['type'] : undefined;
  if (typeof name !== 'string') return refuse(reading, place, 'has an action that is neither assign(…) nor raise(…)');
  const { actions } = reading.implementations;
  const found = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (typeof found !== 'function') {
    return refuse(reading, place, `action '${name}' has no implementation; give it in setup({ actions: { … } })`);
  }
  return readFunction(found, isObject(raw) ? raw['params'] : undefined, name, place, reading);
}

function readFunction(
  raw: object,
  params: unknown,
  name: string | null,
  place: string,
  reading: Reading,
): ActionRule | null {
  const builtIn = raw as BuiltIn;
  switch ('resolve' in raw ? builtIn.type : '') {
    case 'xstate.assign':
      return readAssign(builtIn.assignment, params, name, place, reading);
    case 'xstate.raise':
      return readRaise(builtIn, params, name, place, reading);
    default: {
      const what = 'resolve' in raw ? builtIn.type.replace('xstate.', '') : 'a function of its own';
      const called = name === null ? `its action is ${what}` : `its action '${name}' is ${what}`;
      return refuse(reading, place, `${called}; use assign or raise, and put effects into the run of an action`);
    }
  }
}

function readAssign(
  assignment: unknown,
  params: unknown,
  name: string | null,
  place: string,
  reading: Reading,
): ActionRule | null {
  const what = name === null ? `assign of ${place}` : `assign '${name}' of ${place}`;
  const codes = isObject(assignment) ? Object.values(assignment) : [assignment];
  if (codes.some(takesSpawn)) {
    return refuse(reading, place, 'its assign spawns an actor; make it an action that an agent takes');
  }
  return {
    kind: 'assign',
    written: { assign: writtenAssignment(assignment), name, params: writtenParams(params) },
    assign: (context, event) =>
      attempt(what, () => {
        const args = argsFor(context, event);
        const given = resolve(params, args);
        const part = typeof assignment === 'function' ? assignment(args, given) : eachField(assignment, args, given);
        return part === undefined ? {} : ownPart(what, part, reading.limits);
      }),
  };
}

/** As it is commonly written: `({ spawn }) => …`. Whoever asks for it in another way is told when the code runs. */
function takesSpawn(code: unknown): boolean {
  if (typeof code !== 'function') return false;
  const [, taken = ''] = /^[^(=]*\(\s*\{([^{}]*)/.exec(sourceOf(code)) ?? [];
  return /(?:^|,)\s*spawn\s*(?:[,:=]|$)/.test(taken);
}

function eachField(assignment: unknown, args: unknown, params: unknown): unknown {
  if (!isObject(assignment)) return assignment;
  const entries = Object.entries(assignment).map(([key, value]) => [
    key,
    typeof value === 'function' ? (value as AuthorFunction)(args, params) : value,
  ]);
  return Object.fromEntries(entries);
}

function writtenAssignment(assignment: unknown): Json {
  if (typeof assignment === 'function') return { source: sourceOf(assignment) };
  if (!isObject(assignment)) return writtenValue(assignment);
  const fields = Object.entries(assignment).map(([key, value]) => [key, writtenCode(value)]);
  return Object.fromEntries(fields) as JsonObject;
}

const writtenCode = (value: unknown): Json =>
  typeof value === 'function' ? { source: sourceOf(value) } : writtenValue(value);

function readRaise(
  { event, id, delay }: BuiltIn,
  params: unknown,
  name: string | null,
  place: string,
  reading: Reading,
): ActionRule | null {
  const what = name === null ? `raise of ${place}` : `raise '${name}' of ${place}`;
  const type = isObject(event) && typeof event['type'] === 'string' ? event['type'] : null;
  if (type === null && typeof event !== 'function') {
    return refuse(reading, place, "its raise has no event; write raise({ type: '…' })");
  }
  if (type?.startsWith('xstate.')) return refuse(reading, place, `it raises '${type}'; that name belongs to XState`);
  if (id !== undefined && typeof id !== 'string') return refuse(reading, place, 'the id of its raise is no text');
  const wait = delay === undefined ? null : readDelay(delay, place, reading);
  if (delay !== undefined && wait === null) return null;
  const named = { id: id ?? null };
  return {
    kind: 'raise',
    type,
    ...named,
    delay: wait,
    written: {
      raise: writtenCode(event),
      ...named,
      delay: writtenCode(delay ?? null),
      params: writtenParams(params),
    },
    event: (context, current) =>
      attempt(what, () => {
        const args = argsFor(context, current);
        const made = typeof event === 'function' ? event(args, resolve(params, args)) : event;
        const raised = ownPart(what, made, reading.limits);
        const { type: given } = raised;
        if (typeof given === 'string' && given !== '' && !given.startsWith('xstate.')) return raised;
        throw new AuthorFault(what, 'TypeError', 'the raised event needs a type, and not one of XState');
      }),
  };
}

/** A number of milliseconds, a function of the context, or the name of either. */
export function readDelay(raw: unknown, place: string, reading: Reading): DelayRule | null {
  const { delays } = reading.implementations;
  if (typeof raw === 'string') {
    const found = Object.hasOwn(delays, raw) ? delays[raw] : undefined;
    if (typeof found === 'string') return refuse(reading, place, `delay '${raw}' is a text; use milliseconds`);
    if (found !== undefined) return readDelay(found, `${place}, delay '${raw}'`, reading);
    return refuse(reading, place, `delay '${raw}' has no implementation; give it in setup({ delays: { … } })`);
  }
  if (typeof raw === 'number') {
    if (isDelay(raw)) return raw;
    return refuse(reading, place, `a delay of ${raw} ms is not possible; use 0 to ${maxDelayMs}`);
  }
  if (typeof raw !== 'function') return refuse(reading, place, 'its delay is neither a number nor a function');
  const what = `delay of ${place}`;
  return (context, event) =>
    attempt(what, () => {
      const ms: unknown = (raw as AuthorFunction)(argsFor(context, event), undefined);
      if (isDelay(ms)) return ms;
      throw new AuthorFault(what, 'RangeError', `a delay must be 0 to ${maxDelayMs} milliseconds`);
    });
}

function isDelay(ms: unknown): ms is number {
  return typeof ms === 'number' && ms >= 0 && ms <= maxDelayMs;
}

function resolve(params: unknown, args: unknown): unknown {
  return typeof params === 'function' ? (params as (args: unknown) => unknown)(args) : params;
}

function attempt<Answer>(what: string, run: () => Answer): Answer {
  try {
    return run();
  } catch (thrown) {
    throw faultOf(what, thrown);
  }
}

function refuse(reading: Reading, place: string, problem: string): null {
  reading.problems.push(`${place}: ${problem}`);
  return null;
}
