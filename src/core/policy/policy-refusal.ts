/** Builds the refusals of policy: the message, the place of the rule, and that retrying does not help. */
import type { Approval, ApprovalId, Obligation } from '../approval/approval.ts';
import type { Refusal } from '../call/refusal.ts';
import { unreachable } from '../values/unreachable.ts';
import type { Judgement, Reach } from './policy.ts';

/** Null if the call is permitted or deferred; the approval gate handles deferred calls. */
export function policyRefusal(judgement: Judgement, tool: string): Refusal | null {
  return judgement.effect === 'deny' ? denied(sentenceOf(judgement, tool), judgement.ref) : null;
}

/** The call waits for a person. The reason of the rule is shown to that person and to the agent. */
export function deferred(tool: string, { ref, reason }: Obligation, id: ApprovalId): Refusal {
  const sentence = `${tool} deferred for operator approval`;
  return {
    error: 'denied',
    class: 'Governance',
    code: 'POLICY_DEFER',
    message: reason === null ? sentence : `${sentence}: ${reason}`,
    human_message: sentence,
    rule_ref: ref,
    resolution: { type: 'pending_approval', approval_id: id },
  };
}

/** A person denied exactly this call; they are not asked again until the denial expires. */
export function deniedByPerson(tool: string, { decided, refs }: Approval): Refusal {
  const why = decided?.reason ?? null;
  const sentence = `denied: ${tool} was denied by ${decided?.by ?? 'an approver'}${why === null ? '' : `: ${why}`}`;
  return denied(sentence, refs[0] ?? 'approval');
}

/** Its approval covers nothing any more; an equal call asks for a new one. */
export const voided = (tool: string, { id, refs }: Approval, what: string): Refusal =>
  denied(`denied: ${tool} did not run: approval ${id} ${what}`, refs[0] ?? 'approval');

/** Limits the pending approvals of one agent, so that approvers are not flooded. */
export const tooManyOpen = (tool: string, ref: string, max: number): Refusal =>
  denied(`denied: ${tool} needs an approval, and ${max} of this agent are pending already`, ref);

/** An agent that policy does not know: nothing is permitted to it, and `ref` is where agents are declared. */
export const unknownAgent = (tool: string, ref: string): Refusal => denied(notListed(tool), ref);

/** The session was opened for less than the tool can do; its handle says so, so no line of a file does. */
export const beyondSession = (tool: string, ceiling: Reach): Refusal =>
  denied(`denied: ${tool} is beyond what this session may reach (${ceiling})`, 'session');

/** It undoes calls of another tool: without a rule about exactly this tool only a reversal token leads to it. */
export const onlyReverses = (tool: string): Refusal =>
  denied(`denied: ${tool} only undoes calls of other tools; redeem the reversal token of the call to undo`, 'reversal');

/** A token that cannot be redeemed. */
export const noReversal = (why: string): Refusal => denied(`denied: reversal refused: ${why}`, 'reversal');

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

/** The same words by name and by address: which addresses are private is nothing that an agent is told. */
export function egressRefusal(host: string): Refusal {
  const sentence = egressSentence(host);
  return {
    error: 'denied',
    class: 'Governance',
    code: 'EGRESS_DENIED',
    message: sentence,
    human_message: sentence,
    resolution: { type: 'rule_block', rule_id: 'egress' },
  };
}

export const egressSentence = (host: string): string => `denied: host '${host}' not in egress allow list`;

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
