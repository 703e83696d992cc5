/**
 * Reads a guard: by name, with parameters, as a function, or combined by and, or, not and stateIn. Anything else is a
 * problem. Runs no author code.
 */
import { ignoreRejection } from './copy-json.ts';
import { and, not, or, stateIn, type StateValue } from 'xstate';
import { isObject, type Json, type JsonObject } from '../../values/json.ts';
import { argsFor, faultOf, AuthorFault } from './author-code.ts';
import { isSignal } from './inputs-trap.ts';
import type { GuardRule } from './machine-draft.ts';
import { sourceOf, unknownKeys, writtenParams, type Reading, textOfCode } from './reading.ts';

type AuthorTest = (args: unknown, params: unknown) => unknown;

const maxNesting = 32;

/** Null when there is none, or when it was a problem. `unnamed` is what a function without a name is called. */
export function readGuard(raw: unknown, place: string, unnamed: string, reading: Reading): GuardRule | null {
  if (raw === undefined) return null;
  return read(raw, place, unnamed, reading, 0);
}

function read(raw: unknown, place: string, unnamed: string, reading: Reading, nesting: number): GuardRule | null {
  if (nesting > maxNesting)
    return refuse(reading, place, 'its guard refers to itself; name each guard by what it asks');
  if (typeof raw === 'string') return readNamed({ name: raw, params: undefined }, place, unnamed, reading, nesting);
  if (typeof raw === 'function') {
    return 'check' in raw
      ? readBuiltIn(raw as BuiltIn, place, unnamed, reading, nesting)
      : test(nameOfFunction(raw) ?? unnamed, raw as AuthorTest, undefined, { source: sourceOf(raw) });
  }
  if (isObject(raw) && typeof raw['type'] === 'string') {
    unknownKeys(raw, ['type', 'params'], `${place}, its guard`, reading.problems);
    return readNamed({ name: raw['type'], params: raw['params'] }, place, unnamed, reading, nesting);
  }
  return refuse(reading, place, 'its guard is neither a name, nor { type, params }, nor a function; write guard: …');
}

function readNamed(
  { name, params }: { readonly name: string; readonly params: unknown },
  place: string,
  unnamed: string,
  reading: Reading,
  nesting: number,
): GuardRule | null {
  const { guards } = reading.implementations;
  if (!Object.hasOwn(guards, name)) {
    return refuse(reading, place, `guard '${name}' has no implementation; give it in setup({ guards: { … } })`);
  }
  const found = guards[name];
  if (typeof found === 'function' && !('check' in found)) {
    const written = { name, params: writtenParams(params), source: sourceOf(found) };
    return test(name, found as AuthorTest, params, written);
  }
  const rule = read(found, place, unnamed, reading, nesting + 1);
  return rule === null ? null : { ...rule, name };
}

interface BuiltIn {
  readonly check: unknown;
  readonly name: string;
  readonly guards?: readonly unknown[];
  readonly stateValue?: unknown;
}

/** By identity; a machine that was made with another copy of XState is known by the names of its functions. */
function kindOf(raw: BuiltIn): 'all' | 'any' | 'not' | 'in' | null {
  const known = { all: and([]), any: or([]), not: not('x'), in: stateIn('x') } as const;
  for (const kind of ['all', 'any', 'not', 'in'] as const) {
    if ((known[kind] as unknown as BuiltIn).check === raw.check) return kind;
  }
  const byName = { and: 'all', or: 'any', not: 'not', stateIn: 'in' } as const;
  return Object.hasOwn(byName, raw.name) ? byName[raw.name as keyof typeof byName] : null;
}

function readBuiltIn(
  raw: BuiltIn,
  place: string,
  unnamed: string,
  reading: Reading,
  nesting: number,
): GuardRule | null {
  const kind = kindOf(raw);
  if (kind === null)
    return refuse(reading, place, 'its guard is of a kind that is not known; use and, or, not, stateIn');
  if (kind === 'in') return readStateIn(raw.stateValue, place, reading);
  const parts = (raw.guards ?? []).map((part) => read(part, place, unnamed, reading, nesting + 1));
  if (!parts.every((part) => part !== null)) return null;
  const [first] = parts;
  if (kind === 'not') return first === undefined ? null : { kind, name: `not ${inner(first)}`, part: first };
  return { kind, name: parts.map(inner).join(kind === 'all' ? ' and ' : ' or ') || kind, parts };
}

function inner(rule: GuardRule): string {
  return rule.kind === 'all' || rule.kind === 'any' ? `(${rule.name})` : rule.name;
}

function readStateIn(value: unknown, place: string, reading: Reading): GuardRule | null {
  if (typeof value === 'string' && value.startsWith('#')) {
    const state = reading.stateById(value);
    if (state !== null) return { kind: 'in', name: `in ${state.id}`, state, value };
    return refuse(reading, place, `its guard asks for state '${value}', which does not exist`);
  }
  if (typeof value === 'string' && !reading.hasPath(value)) {
    return refuse(reading, place, `its guard asks for state '${value}', which does not exist`);
  }
  if (typeof value === 'string' || isObject(value)) {
    const name = `in ${typeof value === 'string' ? value : JSON.stringify(value)}`;
    return { kind: 'in', name, state: null, value: value as StateValue };
  }
  return refuse(reading, place, 'its stateIn names no state');
}

function test(name: string, run: AuthorTest, params: unknown, written: Json): GuardRule {
  return {
    kind: 'test',
    name,
    written,
    isExpression: textOfCode(run) === name,
    holds(context: JsonObject, event: unknown): boolean {
      const args = argsFor(context, event);
      try {
        const given = typeof params === 'function' ? (params as (args: unknown) => unknown)(args) : params;
        const answer = run(args, given);
        if (typeof answer === 'object' && answer !== null && 'then' in answer) {
          ignoreRejection(answer);
          throw new AuthorFault(name, 'TypeError', 'a guard must answer at once, not with a promise');
        }
        return Boolean(answer);
      } catch (thrown) {
        throw isSignal(thrown) ? thrown : faultOf(name, thrown);
      }
    },
  };
}

/** A function written as `guard: () => …` is called `guard` by the language; that says nothing. */
function nameOfFunction(raw: { readonly name?: unknown }): string | null {
  const { name } = raw;
  return typeof name === 'string' && name !== '' && name !== 'guard' && name !== 'anonymous'
    ? name.slice(0, 100)
    : null;
}

function refuse(reading: Reading, place: string, problem: string): null {
  reading.problems.push(`${place}: ${problem}`);
  return null;
}
