/**
 * Do the types of an expression fit what is known about its variables? Checked apart from the evaluation, where every
 * variable may be anything: a misspelt field is told when the expression is read, and evaluating stays fast.
 */
import { Environment } from '@marcbachmann/cel-js';
import { nearest } from '../nearest.ts';
import { engineOptions } from './cel-engine.ts';
import { registerFunctions, registerMixedMembership, registerNumbers } from './cel-functions.ts';
import type { CelLimits } from './cel-limits.ts';

/** What is known of a value. Numbers of JSON are doubles. */
export type CelFieldType = 'bool' | 'double' | 'dyn' | 'list' | 'map' | 'string';

/** A variable of some sort, or an object that has these fields and no others. */
export type CelType = CelFieldType | { readonly fields: Readonly<Record<string, CelFieldType>> };

export type TypeCheck =
  | { readonly ok: true; readonly type: string }
  | { readonly ok: false; readonly problem: string; readonly offset: number | null };

/** `replace` gives a parsed tree the names of our functions, as inspecting it does. */
export function checkTypes(
  text: string,
  variables: Readonly<Record<string, CelType>>,
  limits: CelLimits,
  replace: (root: ReturnType<Environment['parse']>['ast']) => void,
): TypeCheck {
  const environment = new Environment(engineOptions(limits));
  registerNumbers(environment);
  registerMixedMembership(environment);
  registerFunctions(environment, { charge: () => undefined, matches: () => false });
  for (const [name, type] of Object.entries(variables)) {
    if (typeof type === 'string') environment.registerVariable(name, type);
    else environment.registerVariable({ name, schema: type.fields });
  }
  const parsed = environment.parse(text);
  replace(parsed.ast);
  const { valid, type, error } = parsed.check();
  if (valid) return { ok: true, type: type ?? 'dyn' };
  const summary = error?.summary ?? 'its types do not fit';
  // The engine calls an object with known fields by a name of its own and permits nothing but fields; a map is one too.
  if (summary.includes('$')) return { ok: true, type: 'dyn' };
  return { ok: false, problem: withHint(summary, variables), offset: error?.range?.start ?? null };
}

function withHint(summary: string, variables: Readonly<Record<string, CelType>>): string {
  const missing = /^No such key: (.+)$/.exec(summary)?.[1];
  if (missing !== undefined) {
    const fields = Object.values(variables).flatMap((type) =>
      typeof type === 'string' ? [] : Object.keys(type.fields),
    );
    const near = nearest(missing, fields);
    return `there is no field ${missing}${near === null ? '' : `; did you mean ${near}?`}`;
  }
  const branches = /^Ternary branches must have the same type, got '(.+)' and '(.+)'$/.exec(summary);
  if (branches !== null)
    return `both branches must be of one type, not ${branches[1]} and ${branches[2]}: wrap one of them in dyn()`;
  return `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`;
}
