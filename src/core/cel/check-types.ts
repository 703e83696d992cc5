/**
 * Type-checks an expression against what is known of its variables. Separate from evaluation, where every variable is
 * dynamic and fast. In the checked text, a path of known type is replaced by a variable of that type.
 */
import { Environment } from '@marcbachmann/cel-js';
import { engineOptions } from './cel-engine.ts';
import {
  registerFunctions,
  registerMixedMembership,
  registerNumbers,
  timestampType,
  replacements,
} from './cel-functions.ts';
import { type CelLimits, defaultCelLimits } from './cel-limits.ts';
import type { CelFieldType, CelType } from './cel-types.ts';
import type { KnownPath } from './inspect-fields.ts';

export type { CelFieldType, CelObject, CelType } from './cel-types.ts';

export type TypeCheck =
  | { readonly ok: true; readonly type: string }
  | { readonly ok: false; readonly problem: string; readonly offset: number | null };

export interface TypeQuestion {
  readonly text: string;
  readonly variables: Readonly<Record<string, CelType>>;
  /** Paths of the text whose types are known. */
  readonly paths: readonly KnownPath[];
  /** Gives a parsed tree the names of our functions, as inspecting it does. */
  readonly replace: (root: ReturnType<Environment['parse']>['ast']) => void;
}

export function checkTypes({ text, variables, paths, replace }: TypeQuestion, limits: CelLimits): TypeCheck {
  const parsed = environmentFor(variables, limits).parse(standIn(text, paths));
  replace(parsed.ast);
  const { valid, type, error } = parsed.check();
  if (valid) return { ok: true, type: type ?? 'dyn' };
  const offset = error?.range?.start ?? null;
  return { ok: false, problem: explain(error?.summary ?? 'its types do not fit'), offset };
}

/** No longer than the shortest path, so that every place in the text stays where it was. */
const standIns: Readonly<Record<CelFieldType, string>> = {
  bool: '_0',
  double: '_1',
  dyn: '_2',
  list: '_3',
  map: '_4',
  string: '_5',
  timestamp: '_6',
};

/** Paths as people write them; of anything else nothing is known. */
const plainPath = /^\w+(?:\.\w+|\["[^"\\]*"\])+$/;

function standIn(text: string, paths: readonly KnownPath[]): string {
  // A loop may have given one of these names to its items.
  if (/\b_\d\b/.test(text)) return text;
  let checked = text;
  for (const { start, end, type } of paths) {
    if (!plainPath.test(text.slice(start, end))) continue;
    checked = checked.slice(0, start) + standIns[sortOf(type)].padEnd(end - start) + checked.slice(end);
  }
  return checked;
}

const sortOf = (type: CelType): CelFieldType => (typeof type === 'string' ? type : 'map');

/** An environment takes longer to make than an expression to check, and few sets of variables are ever asked for. */
const known = new Map<string, Environment>();
const maxKnown = 64;

function environmentFor(variables: Readonly<Record<string, CelType>>, limits: CelLimits): Environment {
  const sorts = Object.entries(variables).map(([name, type]) => [name, sortOf(type)] as const);
  const key = sorts.join(' ');
  const found = limits === defaultCelLimits ? known.get(key) : undefined;
  if (found !== undefined) return found;
  const environment = new Environment(engineOptions(limits));
  registerNumbers(environment);
  registerMixedMembership(environment);
  registerFunctions(environment, { charge: () => undefined, matches: () => false });
  for (const [sort, name] of Object.entries(standIns)) environment.registerVariable(name, nameOf(sort));
  for (const [name, sort] of sorts) environment.registerVariable(name, nameOf(sort));
  if (limits === defaultCelLimits && known.size < maxKnown) known.set(key, environment);
  return environment;
}

const nameOf = (sort: string): string => (sort === 'timestamp' ? timestampType : sort);

function explain(summary: string): string {
  const branches = /^Ternary branches must have the same type, got '(.+)' and '(.+)'$/.exec(summary);
  if (branches !== null)
    return plainWords(
      `both branches must be of one type, not ${branches[1]} and ${branches[2]}: wrap one of them in dyn()`,
    );
  return plainWords(summary);
}

const ours: readonly (readonly [engine: string, written: string])[] = [
  ...Object.entries(replacements).map(([written, engine]) => [engine, written] as const),
  [timestampType, 'timestamp'],
  ['google.protobuf.Duration', 'duration'],
];

export function plainWords(summary: string): string {
  let text = `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`;
  for (const [engine, written] of ours) text = text.replaceAll(engine, written);
  return text;
}
