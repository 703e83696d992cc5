/** Gate 12: has a person agreed to exactly this call? All obligations of the gates before become one approval. */
import { type Approval, type ApprovalId, stateAt } from '../approval.ts';
import type { ApprovalFact } from '../facts.ts';
import { type Gate, type GateAnswer, pass } from '../gate.ts';
import { deferred, deniedByPerson, tooManyOpen } from '../policy/policy-refusal.ts';
import { invariant, unreachable } from '../unreachable.ts';

export const approval: Gate = {
  name: 'approval',
  check(request, facts, obligations) {
    const [first] = obligations;
    if (first === undefined) return pass;
    const entry = facts.catalogue.get(request.tool);
    invariant(entry !== undefined, 'approval is asked about tools that exist');
    const tool = entry.policyName;
    // Audit mode opens no approvals, so it looks for none.
    if (facts.policy?.mode === 'audit')
      return { kind: 'hold', refusal: deferred(tool, first, '' as ApprovalId), approval: null };
    const fact = facts.approval;
    if (fact === undefined) return { kind: 'need', fact: 'approval' };
    const { found, ran } = fact;
    if (ran !== null) return { kind: 'pass', approval: { kind: 'ran', call: ran } };
    if (found === null || !isBound(found, fact)) return opens(tool, first, fact, found);
    switch (stateAt(found, facts.nowMs)) {
      case 'pending':
        return {
          kind: 'hold',
          refusal: deferred(tool, first, found.id),
          approval: { kind: 'shared', approval: found },
        };
      case 'granted':
        return { kind: 'pass', approval: { kind: 'granted', approval: found } };
      case 'denied':
        return { kind: 'refuse', refusal: deniedByPerson(tool, found) };
      case 'expired':
      case 'used':
      case 'revoked':
      case 'void':
        return opens(tool, first, fact, found);
      default:
        return unreachable(found.state as never);
    }
  },
};

/** INVARIANT: an approval covers a call only under the rules and the evidence that it was asked for with. */
function isBound(found: Approval, { rules, evidence }: ApprovalFact): boolean {
  return found.rules === rules && found.evidence === evidence;
}

function opens(
  tool: string,
  first: Parameters<typeof deferred>[1],
  { freshId, open, found }: ApprovalFact,
  replaces: Approval | null,
): GateAnswer {
  // One that is replaced makes room for the one that comes.
  const others = open.now - (found !== null && found.state === 'pending' ? 1 : 0);
  if (others >= open.max) return { kind: 'refuse', refusal: tooManyOpen(tool, first.ref, open.max) };
  return { kind: 'hold', refusal: deferred(tool, first, freshId), approval: { kind: 'fresh', replaces } };
}
