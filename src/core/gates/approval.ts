/**
 * Gate 12: whether a person has approved exactly this call. All obligations of earlier gates are met by one approval.
 */
import { type Approval, type ApprovalId, covers, joinObligations, stateAt } from '../approval/approval.ts';
import type { ApprovalFact } from './facts.ts';
import { type Gate, type GateAnswer, pass } from './gate.ts';
import { deferred, deniedByPerson, tooManyOpen } from '../policy/policy-refusal.ts';
import { invariant, unreachable } from '../values/unreachable.ts';

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
    if (found === null || found.rules !== fact.rules) return opens(tool, first, fact, found);
    const state = stateAt(found, facts.nowMs);
    // INVARIANT: a person's denial is about the call: other evidence or another session does not circumvent it.
    if (state === 'denied') return { kind: 'refuse', refusal: deniedByPerson(tool, found) };
    // INVARIANT: an approval covers a call only upon the evidence it was asked for with, and only by those who must
    // approve it now.
    if (found.evidence !== fact.evidence || !covers(found, joinObligations(obligations), facts.nowMs))
      return opens(tool, first, fact, found);
    switch (state) {
      case 'pending':
        return {
          kind: 'hold',
          refusal: deferred(tool, first, found.id),
          approval: { kind: 'shared', approval: found },
        };
      case 'granted':
        return { kind: 'pass', approval: { kind: 'granted', approval: found } };
      case 'expired':
      case 'used':
      case 'revoked':
      case 'void':
        return opens(tool, first, fact, found);
      default:
        return unreachable(state);
    }
  },
  saw(_request, { approval: fact, nowMs }) {
    const found = fact?.found ?? null;
    if (found === null) return {};
    return { approval: found.id, state: stateAt(found, nowMs), approvals: found.votes.length };
  },
};

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
