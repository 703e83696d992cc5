/** What does an agent hear when policy says no? The sentence, the rule's place, and that asking again is no use. */
import type { Refusal } from '../refusal.ts';
import { unreachable } from '../unreachable.ts';
import type { Judgement, Reach } from './policy.ts';

/** Null for what is permitted. */
export function policyRefusal(judgement: Judgement, tool: string): Refusal | null {
  if (judgement.effect === 'permit') return null;
  return denied(judgement.effect === 'defer' ? withoutApprovals(tool) : sentenceOf(judgement, tool), judgement.ref);
}

/** An agent that policy does not know: nothing is permitted to it, and `ref` is where agents are declared. */
export const unknownAgent = (tool: string, ref: string): Refusal => denied(notListed(tool), ref);

/** The session was opened for less than the tool can do; its handle says so, so no line of a file does. */
export const beyondSession = (tool: string, ceiling: Reach): Refusal =>
  denied(`denied: ${tool} is beyond what this session may reach (${ceiling})`, 'session');

function sentenceOf({ by, reason, ref, problem }: Judgement, tool: string): string {
  switch (by) {
    case 'rule':
      return reason ?? `denied: ${tool} blocked by policy`;
    case 'default':
      return notListed(tool);
    case 'ceiling':
      return `denied: ${tool} is beyond what this session may reach${reason === null ? '' : ` (${reason})`}`;
    case 'broken_rule':
      return `denied: ${tool} blocked by policy: the condition of ${ref} could not be evaluated (${problem ?? 'unknown'})`;
    default:
      return unreachable(by);
  }
}

const notListed = (tool: string): string => `denied: ${tool} is not in the allow list`;

/** A deferred call must not run, and nobody can be asked here. */
const withoutApprovals = (tool: string): string =>
  `denied: ${tool} deferred for operator approval, and approvals are not configured`;

function denied(sentence: string, ref: string): Refusal {
  return {
    error: 'denied',
    class: 'Governance',
    code: 'POLICY_DENY',
    message: sentence,
    human_message: sentence,
    rule_ref: ref,
    resolution: { type: 'rule_block', rule_id: ref },
  };
}

export function modelRefusal(model: string | null): Refusal {
  const sentence = `denied: model '${model ?? ''}' is not permitted`;
  return {
    error: 'denied',
    class: 'Governance',
    code: 'MODEL_DENIED',
    message: sentence,
    human_message: sentence,
    resolution: { type: 'rule_block', rule_id: 'model_policy' },
  };
}
