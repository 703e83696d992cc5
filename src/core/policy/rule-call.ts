/** The view of a call that conditions of rules see. Pure. */
import type { Request } from '../call/call.ts';
import type { ToolEntry } from '../call/catalogue.ts';
import { argumentsIn, type Facts } from '../gates/facts.ts';
import type { PolicyTool, RuleCall } from './policy.ts';

const tools = new WeakMap<ToolEntry, PolicyTool>();

/** A declaration does not change: what rules see of it is made once. */
export function policyTool(entry: ToolEntry): PolicyTool {
  const known = tools.get(entry);
  if (known !== undefined) return known;
  const made: PolicyTool = {
    name: entry.policyName,
    effect: entry.effectClass,
    reach: entry.reach,
    annotations: entry.hints ?? {},
  };
  tools.set(entry, made);
  return made;
}

export function ruleCallOf(request: Request, facts: Facts, entry: ToolEntry): RuleCall {
  const { principal, nowMs } = facts;
  const session = facts.session?.found ? facts.session : null;
  const step = session?.step ?? null;
  return {
    tool: policyTool(entry),
    args: argumentsIn(request, facts),
    agent: { name: principal.agent },
    principal,
    session: { id: session?.id ?? null, seq: session?.seq ?? 0, workflow: step?.workflow.name ?? null },
    state: step === null ? null : { value: step.snapshot.value, context: step.snapshot.context },
    model: request.model,
    host: entry.host,
    nowMs,
  };
}
