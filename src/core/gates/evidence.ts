/**
 * Gate 13: does what the call relies on still hold? What a deferred call, or one that cannot be undone, was decided upon is read
 * again right before it runs. That the named reads are its agent's own is asked beside its inputs.
 */
import { type Gate, pass } from './gate.ts';
import type { Refusal } from '../call/refusal.ts';
import { invariant } from '../values/unreachable.ts';
import { invalidInput } from './invalid-input.ts';

/** Stands right behind `input`: the rules, and the people who are asked, see only calls whose evidence is there. */
export const namedEvidence: Gate = {
  name: 'input',
  check(request, facts) {
    if (request.evidence === undefined) return pass;
    if (facts.evidence === undefined) return { kind: 'need', fact: 'evidence' };
    const { evidence } = facts;
    return evidence.ok ? pass : { kind: 'refuse', refusal: invalidInput(request.tool, evidence.errors) };
  },
};

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
