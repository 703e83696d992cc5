/**
 * Everything an agent can call, as rules see it: tools, and actions of workflows, each with the schema of its
 * arguments.
 */
import type { Json } from '../../values/json.ts';
import type { PolicyTool } from '../policy.ts';
import type { KnownAction, PolicyContext } from './policy-analysis.ts';

export interface Callable {
  readonly tool: PolicyTool;
  /** Null if nothing is known about its arguments. */
  readonly schema: Json;
}

export function callableAction(action: KnownAction): Callable {
  const { policyName: name, effectClass: effect, reach, input, inputSchema } = action;
  // A validator may give other arguments than it was given: only a schema that is checked last says what they are.
  return { tool: { name, effect, reach, annotations: {} }, schema: input.kind === 'schema' ? inputSchema : null };
}

/** An action bound to a tool goes by the tool's name and has arguments of its own: it counts beside the tool. */
export function callablesOf({ tools, workflows }: PolicyContext): readonly Callable[] {
  const actions = [...workflows.values()].flatMap((workflow) => [...workflow.actions.values()].map(callableAction));
  const plain = (tools ?? []).map(({ inputSchema: schema, ...tool }) => ({ tool, schema }));
  return [...plain, ...actions];
}
