/**
 * Asks the whole ladder about one call and keeps what each gate saw and said. The same gates in the same order as `decide`,
 * so that an explanation cannot differ from the decision. Pure.
 */
import { type Obligation, stateAt } from '../approval/approval.ts';
import type { Request } from '../call/call.ts';
import { isSoftened, type Ladder, standingGates } from '../call/decide.ts';
import type { Rung } from './explain.ts';
import type { FactName, Facts } from './facts.ts';
import { type GateAnswer, type GateName, gateNames } from './gate.ts';
import { neverPermitted } from './policy.ts';
import type { JsonObject } from '../values/json.ts';
import { policyTool, ruleCallOf } from '../policy/rule-call.ts';
import type { RuleLook } from '../policy/policy.ts';
import type { Refusal } from '../call/refusal.ts';
import { codes } from '../taxonomy.ts';
import { unreachable } from '../values/unreachable.ts';
import { nextActions } from '../workflow/step.ts';

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
  const answers = new Map<GateName, Exclude<GateAnswer, { kind: 'need' }>>();
  let no: Extract<GateAnswer, { kind: 'refuse' | 'hold' }> | null = null;
  let obligations: readonly Obligation[] = [];
  for (const gate of ladder) {
    const answer = gate.check(request, facts, obligations);
    if (answer.kind === 'need') return answer;
    // A gate may stand on the ladder twice; what it says last counts. Policy's first word is only ever a no.
    if (answer.kind !== 'pass' || gate !== neverPermitted) answers.set(gate.name, answer);
    if (answer.kind === 'pass' && answer.obligation !== undefined) obligations = [...obligations, answer.obligation];
    if (answer.kind === 'pass' || isSoftened(gate.name, facts)) continue;
    no = answer;
    break;
  }
  const standing = new Set(standingGates(ladder, facts.policy !== undefined));
  const rungs = gateNames.map((gate): Rung => {
    const answer = answers.get(gate);
    // Without a policy its gates have nothing to enforce but the ceiling of a session.
    if (!standing.has(gate) && (answer === undefined || answer.kind === 'pass')) return rung(gate, 'absent');
    return answer === undefined ? rung(gate, 'not_asked') : told(gate, answer, request, facts);
  });
  const decision = no === null ? 'run' : no.kind;
  return { kind: 'explained', decision, refusal: no?.refusal ?? null, rungs, rules: looks(request, facts) };
}

const rung = (gate: GateName, answer: Rung['answer']): Rung => ({ gate, answer, saw: {}, why: null, change: null });

function told(gate: GateName, answer: Exclude<GateAnswer, { kind: 'need' }>, request: Request, facts: Facts): Rung {
  const saw = seenBy(gate, request, facts);
  if (answer.kind === 'pass') {
    const how = answer.obligation === undefined ? 'permitted' : 'deferred';
    const why = answer.rule === undefined ? null : `${how} by ${answer.rule}`;
    return { ...rung(gate, 'passed'), saw, why };
  }
  const said = isSoftened(gate, facts) ? 'softened' : answer.kind === 'hold' ? 'held' : 'refused';
  return { gate, answer: said, saw, why: answer.refusal.message, change: changeFor(answer.refusal, facts) };
}

function looks(request: Request, facts: Facts): readonly RuleLook[] {
  const entry = facts.catalogue.get(request.tool);
  const agent = facts.policy?.agent ?? null;
  return entry === undefined || agent === null ? [] : agent.explain(ruleCallOf(request, facts, entry)).looks;
}

/** What a person needs to follow the answer; never more of the arguments than their names. */
function seenBy(gate: GateName, request: Request, facts: Facts): JsonObject {
  const session = facts.session?.found ? facts.session : null;
  const entry = facts.catalogue.get(request.tool);
  switch (gate) {
    case 'ready':
      return { ready: facts.readiness.ready, in_flight: facts.inFlight.now, at_most: facts.inFlight.max };
    case 'session':
      return session === null ? { session: 'unknown' } : { state: session.state, seq: session.seq };
    case 'known':
      return { tool: request.tool, known: entry !== undefined };
    case 'reachable': {
      const step = session?.step ?? null;
      return step === null ? {} : { state: step.snapshot.value, next: [...nextActions(step)] };
    }
    case 'input':
      return { judged_by: entry?.input.kind ?? 'nothing', validator: facts.arguments?.ok ?? null };
    case 'fence':
      return {
        in_doubt: session?.step?.fences.filter(({ inDoubt }) => inDoubt).map(({ operation }) => operation) ?? [],
      };
    case 'policy': {
      if (entry === undefined || facts.policy === undefined) return {};
      const { name, effect, reach } = policyTool(entry);
      const known = facts.policy.agent !== null;
      return { agent: facts.principal.agent, agent_known: known, tool: name, effect, reach, mode: facts.policy.mode };
    }
    case 'model':
      return { model: request.model, allowed: facts.policy?.agent?.written.models?.allow ?? null };
    case 'approval': {
      const found = facts.approval?.found ?? null;
      return found === null
        ? {}
        : { approval: found.id, state: stateAt(found, facts.nowMs), approvals: found.votes.length };
    }
    case 'egress':
    case 'rate':
    case 'budget':
    case 'evidence':
      return request.evidence === undefined ? {} : { reads: [...request.evidence] };
    case 'credential':
      return {};
    default:
      return unreachable(gate);
  }
}

function changeFor(refusal: Refusal, { principal, policy }: Facts): string {
  if (refusal.error !== 'denied') return codes[refusal.code].agent;
  switch (refusal.code) {
    case 'POLICY_DENY': {
      const ref = refusal.rule_ref ?? '';
      if (policy?.agent === null)
        return `declare the agent '${principal.agent}' under agents (${ref}), with a rule that permits it`;
      return `change what stands at ${ref}, or put a rule before it that permits the call`;
    }
    case 'MODEL_DENIED':
      return `add the model to model_policy.allow of '${principal.agent}'`;
    default:
      return codes[refusal.code].operator;
  }
}
