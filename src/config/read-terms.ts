/** How does a rule that defers want to be asked for? What it does not say is what its agent says, and then the usual. */
import { type ApprovalTerms, defaultTerms } from '../core/approval/approval.ts';
import type { JsonObject } from '../core/values/json.ts';
import { itemsOf, numberOf, textOf } from './yaml/plain-values.ts';

/** `roles` are those that the agent names; `rule` is nothing for its default. */
export function readTerms(roles: ApprovalTerms['roles'], rule: JsonObject = {}): ApprovalTerms {
  return {
    roles: 'approvers' in rule ? itemsOf(rule['approvers']) : roles,
    needed: numberOf(rule['needs']) ?? defaultTerms.needed,
    expiresMs: numberOf(rule['expires']) ?? defaultTerms.expiresMs,
    onApprove: textOf(rule['on_approve']) === 'run' ? 'run' : defaultTerms.onApprove,
    clientMayApprove: rule['client_may_approve'] === true,
  };
}
