/**
 * Gate 7: whether a rule permits the call. The first matching rule decides, then the default. Without a default the
 * call is denied.
 */
import type { ToolEntry } from '../call/catalogue.ts';
import type { AgentPolicy, Judgement } from '../policy/policy.ts';
import { type Gate, type GateAnswer, pass } from './gate.ts';
import { isListed } from '../policy/listed-tools.ts';
import { beyondSession, onlyReverses, policyRefusal, unknownAgent } from '../policy/policy-refusal.ts';
import { policyTool, ruleCallOf } from '../policy/rule-call.ts';
import { ceilingOf, isBeyond } from '../policy/session-ceiling.ts';
import { invariant } from '../values/unreachable.ts';

const refuseDirect = ({ policyName }: ToolEntry): GateAnswer => ({ kind: 'refuse', refusal: onlyReverses(policyName) });

/** INVARIANT: no pattern, and no default, permits what undoes the calls of others. */
const isByName = ({ rule }: Judgement, { written }: AgentPolicy, { policyName }: ToolEntry): boolean =>
  rule !== null && written.rules[rule]?.match === policyName;

/** Nothing without a policy: then the gate enforces only the ceiling of a session. */
const saw: Gate['saw'] = (request, { catalogue, policy: fact, principal }) => {
  const entry = catalogue.get(request.tool);
  if (entry === undefined || fact === undefined) return {};
  const { name, effect, reach } = policyTool(entry);
  return { agent: principal.agent, agent_known: fact.agent !== null, tool: name, effect, reach, mode: fact.mode };
};

export const policy: Gate = {
  name: 'policy',
  check(request, facts) {
    const entry = facts.catalogue.get(request.tool);
    invariant(entry !== undefined, 'policy is asked about tools that exist');
    const ceiling = ceilingOf(facts.session?.found ? facts.session.id : null);
    if (ceiling !== null && isBeyond(entry.reach, ceiling))
      return { kind: 'refuse', refusal: beyondSession(entry.policyName, ceiling) };
    const isGuarded = entry.isReversal === true && facts.redeems === undefined;
    if (facts.policy === undefined) return isGuarded ? refuseDirect(entry) : pass;
    const { agent, ref } = facts.policy;
    if (agent === null) return { kind: 'refuse', refusal: unknownAgent(entry.policyName, ref) };
    const judgement = agent.judge(ruleCallOf(request, facts, entry));
    // The call that is undone was permitted together with its reversal: only what a rule says counts now.
    if (facts.redeems !== undefined && judgement.by === 'default') return pass;
    const refusal = policyRefusal(judgement, entry.policyName);
    if (refusal !== null) return { kind: 'refuse', refusal };
    if (isGuarded && !isByName(judgement, agent, entry)) return refuseDirect(entry);
    const { ref: rule, reason, terms } = judgement;
    return terms === null ? { kind: 'pass', rule } : { kind: 'pass', rule, obligation: { ref: rule, reason, terms } };
  },
  saw,
};

/**
 * Stands right behind `known`. INVARIANT: what could never be permitted answers with that and nothing else; not with
 * what its arguments would have to be, nor with when it could be taken.
 */
export const neverPermitted: Gate = {
  name: 'policy',
  check(request, facts) {
    const entry = facts.catalogue.get(request.tool);
    const ceiling = ceilingOf(facts.session?.found ? facts.session.id : null);
    if (entry === undefined || facts.redeems !== undefined || isListed(entry, facts.policy, ceiling)) return pass;
    return policy.check(request, facts, []);
  },
  saw,
};
