/**
 * Gate 13: whether what the call relies on still holds. The evidence of a deferred call, or of one that cannot be
 * undone, is read again right before it runs. Whether there is such evidence is checked in `input.ts`.
 */
import { type Gate, pass } from './gate.ts';
import type { ChangedEvidence } from '../call/reply.ts';
import type { Refusal } from '../call/refusal.ts';
import { invariant } from '../values/unreachable.ts';

export const evidence: Gate = {
  name: 'evidence',
  check(request, facts, obligations) {
    if (facts.evidence === undefined) {
      invariant(request.evidence === undefined, 'evidence is read again of a call that passed before');
      return pass;
    }
    const entry = facts.catalogue.get(request.tool);
    invariant(entry !== undefined && facts.evidence.ok, 'evidence is read again of a call that passed before');
    if (obligations.length === 0 && entry.reach !== 'destructive') return pass;
    // What was read for this very decision is what it says now.
    if (facts.evidence.isFresh) return pass;
    const now = facts.evidenceNow;
    if (now === undefined) return { kind: 'need', fact: 'evidenceNow' };
    if (now.kind === 'unreadable') return { kind: 'refuse', refusal: stale(entry.policyName, now.problem) };
    if (now.hash === facts.evidence.hash) return pass;
    return { kind: 'refuse', refusal: stale(entry.policyName, whatChanged(now.changes), now.changes) };
  },
  saw: (_request, { evidence: found }) => (found?.ok === true ? { reads: [...found.refs] } : {}),
};

export const whatChanged = ([first, ...others]: readonly ChangedEvidence[]): string =>
  `${first?.tool ?? 'a read'} (${first?.read ?? ''})${others.length === 0 ? '' : ` and ${others.length} more`} has changed since it was read`;

export function stale(tool: string, what: string, changes: readonly ChangedEvidence[] = []): Refusal {
  const message = `evidence: ${what}`;
  return {
    error: 'action_error',
    class: 'ToolTerminal',
    code: 'StaleEvidence',
    message: `action '${tool}' was not carried out: ${message}`,
    resolution: { type: 'replan', reason: what },
    error_type: 'StaleEvidence',
    error_message: message,
    verdict: 'evidence_stale',
    compensation: null,
    outcome: null,
    ...(changes.length === 0 ? {} : { evidence: changes }),
  };
}
