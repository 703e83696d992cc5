/**
 * Finds agents that can never complete: their completion requires something that does not exist or is denied to them.
 */
import { nearest } from '../../values/nearest.ts';
import { type Callable, callableAction } from './callable.ts';
import { mayPermit, type ReadAgent } from './may-permit.ts';
import type { PolicyContext, PolicyFinding } from './policy-analysis.ts';
import type { ProofWork } from './proof-work.ts';

/** `callables` is null if nobody knows which tools there are. */
export function findNeverComplete(
  agent: ReadAgent,
  callables: readonly Callable[] | null,
  { workflows }: PolicyContext,
  work: ProofWork,
): readonly PolicyFinding[] {
  const { completion } = agent.policy.written;
  if (completion === undefined) return [];
  // An action is known by its own name, too.
  const actions = [...workflows.values()].flatMap((workflow) =>
    [...workflow.actions].map(([name, action]) => ({ name, callable: callableAction(action) })),
  );
  const named = [...(callables ?? []).map((callable) => ({ name: callable.tool.name, callable })), ...actions];
  const finding = (required: string, rest: Pick<PolicyFinding, 'message' | 'fix' | 'counterexample'>) => ({
    kind: 'never_completes' as const,
    // What is required may only count in some sessions, and a program may have tools that are in no file.
    severity: 'warning' as const,
    agent: agent.name,
    rule: null,
    refs: [completion.ref],
    mayBreak: false,
    ...rest,
    message: `${agent.name} could never complete where ${required} is required: ${rest.message}`,
  });
  return [...new Set(completion.require)].flatMap((required): readonly PolicyFinding[] => {
    const meant = named.filter(({ name, callable }) => name === required || callable.tool.name === required);
    if (meant.length === 0 && callables === null) return [];
    if (meant.length === 0) {
      const near = nearest(required, [...new Set(named.map(({ name }) => name))]);
      const says = near === null ? `none of the ${named.length} there are has it` : `the nearest is ${near}`;
      const fix =
        near === null ? 'correct the name, or pin the tools again with: recourse pin' : `did you mean ${near}?`;
      const message = 'no tool and no action has this name';
      return [finding(required, { message, fix, counterexample: { kind: 'name', says, nearest: near } })];
    }
    const looks = meant.map(({ callable }) => ({
      tool: callable.tool.name,
      ...mayPermit(agent, callable, null, work),
    }));
    if (looks.some(({ may }) => may)) return [];
    const denied = looks.map(({ tool, ref }) => ({ action: required, tool, ref }));
    const says = denied.map(({ tool, ref }) => `${tool} is denied at ${ref}`).join(', ');
    const fix = `permit or defer ${required}, or do not require it`;
    return [finding(required, { message: 'it is denied', fix, counterexample: { kind: 'denied', says, denied } })];
  });
}
