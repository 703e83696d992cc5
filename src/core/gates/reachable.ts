/**
 * Gate 4: whether the workflow allows the action in this state. Guards are evaluated without inputs first. A guard
 * that reads inputs counts as reachable, and is evaluated again after the input gate.
 */
import type { Facts } from './facts.ts';
import { type Gate, type GateAnswer, pass } from './gate.ts';
import type { BlockedEdge } from '../call/reply.ts';
import { unreachable } from '../values/unreachable.ts';
import { nextActions, type StepFact } from '../workflow/step.ts';
import type { Reach } from '../workflow/workflow.ts';

const saw: Gate['saw'] = (_request, facts) => {
  const step = stepOf(facts);
  return step === null ? {} : { state: step.snapshot.value, next: [...nextActions(step)] };
};

export const reachable: Gate = {
  name: 'reachable',
  check(request, facts) {
    const step = stepOf(facts);
    if (step === null) return pass;
    return judged(request.tool, step.workflow.machine.reach(step.snapshot, request.tool), step);
  },
  saw,
};

/** Stands after the input gate, for the guards that look at inputs. */
export const reachableWithInputs: Gate = {
  name: 'reachable',
  check(request, facts) {
    const step = stepOf(facts);
    if (step === null) return pass;
    const { machine } = step.workflow;
    if (machine.reach(step.snapshot, request.tool).kind !== 'depends') return pass;
    const inputs = facts.arguments?.ok ? facts.arguments.args : request.args;
    return judged(request.tool, machine.reachWith(step.snapshot, request.tool, inputs), step, ' with these inputs');
  },
  saw,
};

export function stepOf(facts: Facts): StepFact | null {
  return facts.session?.found ? facts.session.step : null;
}

function judged(action: string, reach: Reach, step: StepFact, how = ''): GateAnswer {
  switch (reach.kind) {
    case 'yes':
    case 'depends':
      return pass;
    case 'no':
      return no(action, reach.blockedBy, step, how);
    case 'broken': {
      const actions = nextActions(step);
      return {
        kind: 'refuse',
        refusal: {
          error: 'invalid_transition',
          class: 'Workflow',
          code: 'GuardError',
          message: `action '${action}' is not reachable from current state${how}: guard '${reach.guard}' failed. Valid actions now: ${listed(actions)}.`,
          resolution: { type: 'choose_action', actions },
          blocked_by: reach.blockedBy,
        },
      };
    }
    default:
      return unreachable(reach);
  }
}

function no(action: string, blockedBy: readonly BlockedEdge[], step: StepFact, how: string): GateAnswer {
  const actions = nextActions(step);
  return {
    kind: 'refuse',
    refusal: {
      error: 'invalid_transition',
      class: 'Workflow',
      code: 'InvalidTransition',
      message: `action '${action}' is not reachable from current state${how}. Valid actions now: ${listed(actions)}.`,
      resolution: { type: 'choose_action', actions },
      blocked_by: blockedBy,
    },
  };
}

const listed = (actions: readonly string[]) => `[${actions.map((action) => `'${action}'`).join(', ')}]`;
