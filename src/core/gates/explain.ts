/**
 * Explains a decision: asks the ladder about one call and keeps what each gate saw and answered. Same gates and same
 * order as `decide`, so an explanation cannot differ from the decision. Pure.
 */
import { type GateName, type Gate, type GateAnswer, gateNames } from './gate.ts';
import type { JsonObject } from '../values/json.ts';
import type { RuleLook } from '../policy/policy.ts';
import type { ErrorReply } from '../call/reply.ts';
import type { Obligation } from '../approval/approval.ts';
import type { Request } from '../call/call.ts';
import { isSoftened, type Ladder, standingGates } from '../call/decide.ts';
import type { FactName, Facts } from './facts.ts';
import { neverPermitted } from './policy.ts';
import { ruleCallOf } from '../policy/rule-call.ts';
import type { Refusal } from '../call/refusal.ts';
import { codes } from '../taxonomy.ts';

/** One gate of the ladder, whether or not it was asked. */
export interface Rung {
  readonly gate: GateName;
  /**
   * `softened`: it said no, and audit mode let the call pass. `absent`: nothing is configured that it could enforce.
   */
  readonly answer: 'passed' | 'refused' | 'held' | 'softened' | 'not_asked' | 'absent';
  /** The facts it looked at. */
  readonly saw: JsonObject;
  /** Null where there is nothing to say beyond the answer. */
  readonly why: string | null;
  /** What would have to change for it to pass; null if it does, or was not asked. */
  readonly change: string | null;
}

export interface Explanation {
  readonly tenant: string;
  readonly agent: string;
  readonly tool: string;
  readonly decision: 'run' | 'refuse' | 'hold';
  readonly rungs: readonly Rung[];
  /** The rules that were looked at, in order; empty without policy. */
  readonly rules: readonly RuleLook[];
  /** What the caller would be told; null if it would run. Nothing was recorded. */
  readonly reply: ErrorReply | null;
}

export type Explained =
  | { readonly kind: 'need'; readonly fact: FactName }
  | {
      readonly kind: 'explained';
      readonly decision: 'run' | 'refuse' | 'hold';
      readonly refusal: Refusal | null;
      readonly rungs: readonly Rung[];
      readonly rules: readonly RuleLook[];
    };

export function explainLadder(request: Request, facts: Facts, ladder: Ladder): Explained {
  const asked = new Map<GateName, Asked>();
  let no: Extract<GateAnswer, { kind: 'refuse' | 'hold' }> | null = null;
  let obligations: readonly Obligation[] = [];
  for (const gate of ladder) {
    const answer = gate.check(request, facts, obligations);
    if (answer.kind === 'need') return answer;
    // A gate name may occur twice on the ladder: the last answer counts. The first answer of policy counts only if it
    // refuses.
    if (answer.kind !== 'pass' || gate !== neverPermitted) asked.set(gate.name, { gate, answer });
    if (answer.kind === 'pass' && answer.obligation !== undefined) obligations = [...obligations, answer.obligation];
    if (answer.kind === 'pass' || isSoftened(gate.name, answer, facts)) continue;
    no = answer;
    break;
  }
  const standing = new Set(standingGates(ladder, facts.policy !== undefined));
  const rungs = gateNames.map((name): Rung => {
    const found = asked.get(name);
    // Without a policy its gates have nothing to enforce but the ceiling of a session.
    if (!standing.has(name) && (found === undefined || found.answer.kind === 'pass')) return rung(name, 'absent');
    return found === undefined ? rung(name, 'not_asked') : told(found, request, facts);
  });
  const decision = no === null ? 'run' : no.kind;
  return { kind: 'explained', decision, refusal: no?.refusal ?? null, rungs, rules: looks(request, facts) };
}

const rung = (gate: GateName, answer: Rung['answer']): Rung => ({ gate, answer, saw: {}, why: null, change: null });

/** A gate that was asked, and what it answered. */
interface Asked {
  readonly gate: Gate;
  readonly answer: Exclude<GateAnswer, { kind: 'need' }>;
}

function told({ gate, answer }: Asked, request: Request, facts: Facts): Rung {
  const saw = gate.saw(request, facts);
  if (answer.kind === 'pass') {
    const how = answer.obligation === undefined ? 'permitted' : 'deferred';
    const why = answer.rule === undefined ? null : `${how} by ${answer.rule}`;
    return { ...rung(gate.name, 'passed'), saw, why };
  }
  const said = isSoftened(gate.name, answer, facts) ? 'softened' : answer.kind === 'hold' ? 'held' : 'refused';
  return {
    gate: gate.name,
    answer: said,
    saw,
    why: answer.refusal.message,
    change: changeFor(answer.refusal, gate.name, facts),
  };
}

function looks(request: Request, facts: Facts): readonly RuleLook[] {
  const entry = facts.catalogue.get(request.tool);
  const agent = facts.policy?.agent ?? null;
  return entry === undefined || agent === null ? [] : agent.explain(ruleCallOf(request, facts, entry)).looks;
}

function changeFor(refusal: Refusal, gate: GateName, { principal, policy }: Facts): string {
  if (refusal.error !== 'denied') return codes[refusal.code].agent;
  switch (refusal.code) {
    case 'POLICY_DENY': {
      const ref = refusal.rule_ref ?? '';
      if (policy?.agent === null)
        return `declare the agent '${principal.agent}' under agents (${ref}), with a rule that permits it`;
      if (gate === 'budget') return `correct the cost of the budget at ${ref}, or send what it reads`;
      return `change what stands at ${ref}, or put a rule before it that permits the call`;
    }
    case 'EGRESS_DENIED':
      return `add the host to egress.allow of '${principal.agent}', and an address that is not public as an address`;
    case 'MODEL_DENIED':
      return `add the model to model_policy.allow of '${principal.agent}'`;
    default:
      return codes[refusal.code].operator;
  }
}
