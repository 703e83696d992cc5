/**
 * Gate 13: whether what the call relies on still holds. The evidence of a deferred call, or of one that cannot be
 * undone, is read again right before it runs. Whether the named reads are the agent's own is checked in `input.ts`.
 */
import { type Gate, pass } from './gate.ts';
import type { Refusal } from '../call/refusal.ts';
import { invariant } from '../values/unreachable.ts';

export const evidence: Gate = {
  name: 'evidence',
  check(request, facts, obligations) {
    if (request.evidence === undefined) return pass;
    const entry = facts.catalogue.get(request.tool);
    invariant(
      entry !== undefined && facts.evidence?.ok === true,
      'evidence is read again of a call that passed before',
    );
    if (obligations.length === 0 && entry.reach !== 'destructive') return pass;
    const now = facts.evidenceNow;
    if (now === undefined) return { kind: 'need', fact: 'evidenceNow' };
    if (now.kind === 'read' && now.hash === facts.evidence.hash) return pass;
    const what = now.kind === 'read' ? `${now.changed} has changed since it was read` : now.problem;
    return { kind: 'refuse', refusal: stale(entry.policyName, what) };
  },
  saw: (request) => (request.evidence === undefined ? {} : { reads: [...request.evidence] }),
};

function stale(tool: string, what: string): Refusal {
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
  };
}
