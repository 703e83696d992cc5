/**
 * The workflows of a simulated world. Their actions are bound to its tools, so that whatever happens to a tool happens
 * to a step. Every success counts one up: the state says how many steps it has seen.
 */
import { createMachine } from 'xstate';
import { mount } from '../../src/adapters/upstream-function/workflow/mount.ts';
import type { EffectClass } from '../../src/core/taxonomy.ts';
import type { Workflow } from '../../src/core/workflow/workflow.ts';
import { catalogue, classOf, isToolName, type ToolName } from './setting.ts';

/** INVARIANT: what the world believes of an action is written here, not read from any workflow. */
const toolOfAction: Readonly<Record<string, ToolName>> = {
  increment: 'mail',
  bill: 'charge',
  peek: 'read',
  send: 'mail',
  resend: 'mail',
  browse: 'read',
};

export const actionsOf = {
  /** A counter, with a step of each effect class. */
  tally: ['increment', 'bill', 'peek'],
  /** Two actions that share an operation: a doubt about one fences the other. */
  letters: ['send', 'resend', 'browse'],
} as const;

export type WorkflowName = keyof typeof actionsOf;
export const workflowNames = Object.keys(actionsOf) as readonly WorkflowName[];

export const toolBehind = (name: string): string => toolOfAction[name] ?? name;

/** Of a tool, or of the tool behind an action; null for what nobody knows. */
export function classOfName(name: string): EffectClass | null {
  const tool = toolBehind(name);
  return isToolName(tool) ? classOf[tool] : null;
}

const counted = ({ context }: { context: { count: number } }) => ({ count: context.count + 1 });

function countingWorkflow(name: WorkflowName): Workflow {
  const actions = actionsOf[name];
  const machine = createMachine({
    id: name,
    initial: 'open',
    context: { count: 0 },
    states: { open: { on: Object.fromEntries(actions.map((action) => [action, 'open'])) } },
  });
  const bodies = actions.map((action) => [action, { tool: toolOfAction[action] ?? '', update: counted }]);
  return served(mount(machine, { actions: Object.fromEntries(bodies) } as never));
}

/** As a gateway binds it. */
export function served(mounted: Pick<ReturnType<typeof mount>, 'bind'>): Workflow {
  const bound = mounted.bind(catalogue, { timeoutMs: 1_000 });
  if (!bound.ok) throw new Error(bound.problems.join('; '));
  return bound.workflow;
}

export const simulatedWorkflows: ReadonlyMap<string, Workflow> = new Map(
  workflowNames.map((name) => [name, countingWorkflow(name)]),
);

/** How many steps the state has seen, by its own word. */
export const countIn = (snapshot: string): number =>
  (JSON.parse(snapshot) as { context: { count: number } }).context.count;
