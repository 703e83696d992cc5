/**
 * Compiles the condition of a rule: CEL, with `args` typed by the schemas of the matching tools. Reuses a condition
 * that was compiled over the same tools.
 */
import { timestampOf } from '../cel/cel-time.ts';
import type { CelType } from '../cel/cel-types.ts';
import { type CelProblem, compileCel } from '../cel/compile-cel.ts';
import { type ArgumentShape, argumentShape, argumentTypes } from './argument-types.ts';
import type { PolicyWarning, RuleCall, ToolShape } from './policy.ts';
import { matchesTool, type ToolPattern } from './tool-pattern.ts';

/** True, false, or why it could not be told. */
export type Condition = (call: RuleCall) => boolean | { readonly problem: string };

export interface CompiledCondition {
  readonly ok: true;
  readonly holds: Condition;
  /** It looks at the tool and the agent alone, so it is the same for every call of the tool. */
  readonly ofTool: boolean;
}

export interface Conditions {
  compile(text: string, about: ToolPattern): CompiledCondition | CelProblem;
  /** What could not be checked, once everything was compiled. */
  warnings(): readonly PolicyWarning[];
}

type Variables = Readonly<Record<string, CelType>>;

/**
 * Everything but the arguments. What may be null can be anything: reading on from it is an error, and the rule denies.
 */
const others = {
  agent: { fields: { name: 'string' } },
  principal: { fields: { tenant: 'string', agent: 'string' } },
  session: { fields: { id: 'dyn', seq: 'double', workflow: 'dyn' } },
  tool: { fields: { name: 'string', effect: 'string', reach: 'string', annotations: 'map' } },
  state: 'dyn',
  model: 'dyn',
  host: 'dyn',
  now: 'timestamp',
} as const satisfies Variables;

/** What the conditions of a completion look at: there is no call. */
export const completionVariables = {
  agent: others.agent,
  principal: others.principal,
  session: others.session,
  state: others.state,
  now: others.now,
} as const satisfies Variables;

/** Of a call whose tool may be any. */
export const callVariables: Variables = { args: 'dyn', ...others };

export const conditionVariables: readonly string[] = ['args', ...Object.keys(others)];

/** The variables of one set of tools: the same object for the same tools, so that the checker is made once. */
interface Scope {
  readonly variables: Variables;
  /** Tools whose arguments are not known. */
  readonly unknown: readonly string[];
  readonly compiled: Map<string, (CompiledCondition & { readonly readsArgs: boolean }) | CelProblem>;
}

export function createConditions(tools: readonly ToolShape[] | null): Conditions {
  const shapes = new Map((tools ?? []).map(({ name, inputSchema }) => [name, argumentShape(name, inputSchema)]));
  const scopes = new Map<string, Scope>();
  const scopeOfPattern = new Map<string, Scope>();
  const unknown = new Set<string>();
  let readsArgs = false;

  const scopeFor = (pattern: ToolPattern): Scope => {
    const found = scopeOfPattern.get(pattern.text);
    if (found !== undefined) return found;
    const about = pattern.isLiteral
      ? [pattern.text].filter((name) => shapes.has(name))
      : [...shapes.keys()].filter((name) => matchesTool(pattern, name));
    const key = JSON.stringify(about);
    const scope = scopes.get(key) ?? createScope(about, shapes);
    scopes.set(key, scope);
    scopeOfPattern.set(pattern.text, scope);
    return scope;
  };

  return {
    compile(text, about) {
      const scope = scopeFor(about);
      const compiled = scope.compiled.get(text) ?? compileCondition(text, scope.variables);
      scope.compiled.set(text, compiled);
      if (!compiled.ok) return compiled;
      readsArgs ||= compiled.readsArgs;
      if (compiled.readsArgs) for (const name of scope.unknown) unknown.add(name);
      return compiled;
    },
    warnings() {
      if (tools === null && readsArgs)
        return [
          {
            message: 'conditions over args are checked as dynamic, because there is no recourse.lock',
            fix: 'run recourse pin, and commit the file it writes',
          },
        ];
      if (unknown.size === 0) return [];
      return [
        {
          message: `conditions over the arguments of ${listOf([...unknown])} are checked as dynamic, because their schemas are not known`,
          fix: 'run recourse pin once their servers list them with a schema',
        },
      ];
    },
  };
}

const maxNamed = 3;

function listOf(names: readonly string[]): string {
  const more = names.length - maxNamed;
  return names.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function createScope(about: readonly string[], shapes: ReadonlyMap<string, ArgumentShape | null>): Scope {
  const known = about.map((name) => shapes.get(name) ?? null);
  const unknown = about.filter((_, index) => known[index] === null);
  const args = unknown.length > 0 ? 'dyn' : argumentTypes(known.filter((shape) => shape !== null));
  return { variables: args === 'dyn' ? callVariables : { args, ...others }, unknown, compiled: new Map() };
}

function compileCondition(text: string, variables: Variables) {
  const compiled = compileCel(text, { variables, returns: 'bool', strict: true });
  if (!compiled.ok) return compiled;
  const { evaluate, reads } = compiled;
  const readsNow = reads.includes('now');
  const holds: Condition = (call) => {
    // A call has what conditions read under the very names they use, but for the time: nothing else is copied.
    const values = call as unknown as Readonly<Record<string, unknown>>;
    const result = evaluate(readsNow ? { ...values, now: timestampOf(call.nowMs) } : values);
    return result.ok ? result.value === true : { problem: result.problem };
  };
  const ofTool = reads.every((name) => name === 'tool' || name === 'agent');
  return { ok: true, holds, ofTool, readsArgs: reads.includes('args') } as const;
}
