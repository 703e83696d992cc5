/** Gate 6: is the same operation of this session in doubt? Until that is settled, doing it again could be doing it twice. */
import { type Gate, pass } from '../gate.ts';
import { invariant } from '../unreachable.ts';
import { operationOf } from '../workflow/step.ts';
import { stepOf } from './reachable.ts';

export const fence: Gate = {
  name: 'fence',
  check(request, facts) {
    const step = stepOf(facts);
    if (step === null || step.fences.length === 0) return pass;
    const action = step.workflow.actions.get(request.tool);
    // INVARIANT: `known` stands before this gate on the ladder.
    invariant(action !== undefined, 'the fence saw an undeclared action');
    const operation = operationOf(action, facts.arguments?.ok ? facts.arguments.args : request.args);
    const blocking = step.fences.find((found) => found.inDoubt && found.operation === operation);
    if (blocking === undefined) return pass;
    return {
      kind: 'refuse',
      refusal: {
        error: 'fenced',
        class: 'Workflow',
        code: 'Fenced',
        message: `action '${request.tool}' is fenced: nobody knows yet whether call ${blocking.callId} took effect. Other actions stay possible.`,
        resolution: { type: 'reconcile', call_id: blocking.callId },
        blocking_call_id: blocking.callId,
      },
    };
  },
};
