/** A policy as the HTTP door shows it, with wire names. Contains everything that decides a call. */
import { type ApprovalTerms, defaultTerms } from '../approval/approval.ts';
import type { RuleEffect, WrittenAgent, WrittenPolicy } from './policy.ts';

export interface TermsView {
  /** Who may approve; null for anybody who may approve at all. */
  readonly roles: readonly string[] | null;
  readonly needed: number;
  readonly expires_ms: number;
  readonly on_approve: 'wait' | 'run';
  readonly client_may_approve: boolean;
}

export function policyView({ agents, roles, ...rest }: WrittenPolicy) {
  return { ...rest, agents: agents.map(agentView), ...(roles === undefined ? {} : { roles }) };
}

function agentView({ default: fallback, rules, ...rest }: WrittenAgent) {
  return { ...rest, default: fallback === null ? null : withTerms(fallback), rules: rules.map(withTerms) };
}

interface Deferring {
  readonly effect: RuleEffect;
  readonly terms?: ApprovalTerms;
}

/** Terms stand only where something is deferred. */
function withTerms<Rule extends Deferring>({ terms = defaultTerms, ...rule }: Rule) {
  return rule.effect === 'defer' ? { ...rule, terms: termsView(terms) } : rule;
}

const termsView = ({ roles, needed, expiresMs, onApprove, clientMayApprove }: ApprovalTerms): TermsView => ({
  roles,
  needed,
  expires_ms: expiresMs,
  on_approve: onApprove,
  client_may_approve: clientMayApprove,
});
