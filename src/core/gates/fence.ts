/**
 * Gate 6: whether an equal operation of this session is in doubt; running it again could do it twice. A call made by
 * the body of a step is checked against the session of that step.
 */
import type { Request } from '../call/call.ts';
import { argumentsIn, type Facts } from './facts.ts';
import { type Gate, pass } from './gate.ts';
import { invariant } from '../values/unreachable.ts';
import { mayBe, mayBeOfTool, type StepFact } from '../workflow/step.ts';
import { mayBeSame, operationOfCall } from '../recovery/operation.ts';
import { stepOf } from './reachable.ts';

export const fence: Gate = {
  name: 'fence',
  check(request, facts) {
    const step = stepOf(facts);
    const operation = step === null ? operationIn(request, facts) : null;
    if (operation !== null && facts.fences === undefined) return { kind: 'need', fact: 'fences' };
    const { fences = facts.fences ?? [] } = step ?? facts.body ?? {};
    if (fences.length === 0) return pass;
    const isAbout =
      operation === null || facts.body !== undefined
        ? meaningOf(request, step, facts)
        : (other: string) => mayBeSame(other, operation);
    const blocking = fences.find((found) => found.inDoubt && isAbout(found.operation));
    if (blocking === undefined) return pass;
    const what = step === null ? 'tool' : 'action';
    return {
      kind: 'refuse',
      refusal: {
        error: 'fenced',
        class: 'Workflow',
        code: 'Fenced',
        message: `${what} '${request.tool}' is fenced: nobody knows yet whether call ${blocking.callId} took effect. Other ${what}s stay possible.`,
        resolution: { type: 'reconcile', call_id: blocking.callId },
        blocking_call_id: blocking.callId,
      },
    };
  },
  saw(_request, facts) {
    const { fences = facts.fences ?? [] } = stepOf(facts) ?? {};
    return { in_doubt: fences.filter(({ inDoubt }) => inDoubt).map(({ operation }) => operation) };
  },
};

function operationIn(request: Request, facts: Facts): string | null {
  const entry = facts.catalogue.get(request.tool);
  return entry === undefined ? null : operationOfCall(entry, argumentsIn(request, facts));
}

function meaningOf(request: Request, step: StepFact | null, facts: Facts): (operation: string) => boolean {
  const args = argumentsIn(request, facts);
  const { body } = facts;
  if (step === null)
    return (operation) => body !== undefined && mayBeOfTool(operation, request.tool, body.workflow, args);
  const action = step.workflow.actions.get(request.tool);
  // INVARIANT: `known` stands before this gate on the ladder.
  invariant(action !== undefined, 'the fence saw an undeclared action');
  return (operation) => mayBe(operation, action, args);
}
