/**
 * Decides again, by the policy of this moment, whether a call that was permitted before may be sent again. Asks a
 * shorter ladder of the same gates as `decide`. Pure.
 */
import type { Approval } from '../approval/approval.ts';
import { approval as approvalGate } from '../gates/approval.ts';
import { egress } from '../gates/egress.ts';
import { credential } from '../gates/credential.ts';
import type { FactName, Facts } from '../gates/facts.ts';
import { askedModel } from '../gates/model.ts';
import { policy } from '../gates/policy.ts';
import type { Request } from './call.ts';
import { decide, type Ladder } from './decide.ts';

/**
 * The gates whose answer may have changed since the call was decided. Of `model` only what the arguments ask for: which
 * model asked is not on record, so a rule that reads it denies.
 */
export const resendLadder: Ladder = [policy, askedModel, egress, approvalGate];
/** Asked last, and also without a policy: no mode lets a call pass without its secret. */
const credentialLadder: Ladder = [credential];

export type Recheck =
  | { readonly kind: 'permitted' }
  | { readonly kind: 'denied'; readonly message: string; readonly credential?: CredentialRefusal }
  | { readonly kind: 'need'; readonly fact: FactName };

/** Its secret cannot be had; when to ask again. */
export interface CredentialRefusal {
  readonly retryAfterSeconds: number;
}

/** `approval`: the one that the call waited for or ran under, null if there is none; undefined until it is fetched. */
export function recheck(request: Request, facts: Facts, approval?: Approval | null): Recheck {
  const governed = recheckPolicy(request, facts, approval);
  if (governed.kind !== 'permitted') return governed;
  const decision = decide(request, facts, credentialLadder);
  if (decision.kind === 'need') return { kind: 'need', fact: decision.fact };
  if (decision.kind !== 'refuse') return { kind: 'permitted' };
  const { message, resolution } = decision.refusal;
  const retryAfterSeconds = resolution.type === 'retry_after' ? resolution.retry_after_seconds : 1;
  return { kind: 'denied', message, credential: { retryAfterSeconds } };
}

function recheckPolicy(request: Request, facts: Facts, approval?: Approval | null): Recheck {
  if (facts.policy === undefined || facts.policy.mode === 'audit') return { kind: 'permitted' };
  const decision = decide(request, facts, resendLadder);
  if (decision.kind === 'refuse') return { kind: 'denied', message: decision.refusal.message };
  const needsApproval = decision.kind !== 'run';
  if (decision.kind === 'need' && decision.fact !== 'approval') return { kind: 'need', fact: decision.fact };
  if (approval === undefined) return { kind: 'need', fact: 'approval' };
  const tool = facts.catalogue.get(request.tool)?.policyName ?? request.tool;
  // INVARIANT: a call under a revoked approval is not sent again, even if the policy would permit it without one.
  if (approval?.state === 'revoked') return { kind: 'denied', message: `the approval of ${tool} was revoked` };
  if (needsApproval && approval?.state !== 'used') return { kind: 'denied', message: `${tool} is not approved` };
  return { kind: 'permitted' };
}
