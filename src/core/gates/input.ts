/**
 * Gate 5: whether the arguments are valid. A schema is checked here. An author's validator is code, so its result is a
 * fact.
 */
import type { FieldError } from '../call/catalogue.ts';
import { type Gate, type GateAnswer, pass } from './gate.ts';
import { invariant, unreachable } from '../values/unreachable.ts';
import { stale } from './evidence.ts';
import { invalidInput } from './invalid-input.ts';

const saw: Gate['saw'] = (request, facts) => ({
  judged_by: facts.catalogue.get(request.tool)?.input.kind ?? 'nothing',
  validator: facts.arguments?.ok ?? null,
});

export const input: Gate = {
  name: 'input',
  check(request, facts) {
    const tool = facts.catalogue.get(request.tool);
    // INVARIANT: `known` stands before this gate on the ladder.
    invariant(tool !== undefined, 'the input gate saw an undeclared tool');
    switch (tool.input.kind) {
      case 'anything':
        return pass;
      case 'schema':
        return judged(request.tool, tool.input.check(request.args));
      case 'validator':
        if (facts.arguments === undefined) return { kind: 'need', fact: 'arguments' };
        return facts.arguments.ok ? pass : judged(request.tool, facts.arguments.errors);
      default:
        return unreachable(tool.input);
    }
  },
  saw,
};

/** Follows `input`: policy and approvers see only calls whose evidence exists. */
export const namedEvidence: Gate = {
  name: 'input',
  check(request, facts) {
    const entry = facts.catalogue.get(request.tool);
    if (request.evidence === undefined && entry?.evidence === undefined) return pass;
    if (facts.evidence === undefined) return { kind: 'need', fact: 'evidence' };
    const { evidence } = facts;
    if (evidence.ok) return pass;
    // INVARIANT: nothing runs on what could not be read.
    if (evidence.unread !== undefined)
      return { kind: 'refuse', refusal: stale(entry?.policyName ?? request.tool, evidence.unread) };
    return { kind: 'refuse', refusal: invalidInput(request.tool, evidence.errors) };
  },
  saw,
};

function judged(tool: string, errors: readonly FieldError[]): GateAnswer {
  return errors.length === 0 ? pass : { kind: 'refuse', refusal: invalidInput(tool, errors) };
}
