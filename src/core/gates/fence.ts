/**
 * Gate 6: whether an equal operation of this session is in doubt, where running it again could do it twice, or was
 * forbidden by its upstream and waits for a person, however it is phrased. A call made by the body of a step is checked
 * against the session of that step, too.
 */
import type { Request } from '../call/call.ts';
import { argumentsIn, type Facts } from './facts.ts';
import { type Gate, type GateAnswer, pass } from './gate.ts';
import { invariant } from '../values/unreachable.ts';
import { type DenialFact, type FenceFact, mayBe, mayBeOfTool, type StepFact } from '../workflow/step.ts';
import { mayBeSame, operationOfCall } from '../recovery/operation.ts';
import { stepOf } from './reachable.ts';

export const fence: Gate = {
  name: 'fence',
  check(request, facts) {
    const step = stepOf(facts);
    const operation = step === null ? operationIn(request, facts) : null;
    if (operation !== null && facts.fences === undefined) return { kind: 'need', fact: 'fences' };
    const denial = denialOf(request, step, facts);
    const blocking = doubtOf(request, step, operation, facts);
    if (blocking !== null) return inDoubt(request, step, blocking, denial);
    return denial === null ? pass : forbidden(request, step, denial);
  },
  saw(_request, facts) {
    const { fences = facts.fences ?? [] } = stepOf(facts) ?? {};
    const denied = (facts.denials ?? []).map(({ operation }) => operation);
    return {
      in_doubt: fences.filter(({ inDoubt }) => inDoubt).map(({ operation }) => operation),
      ...(denied.length === 0 ? {} : { denied }),
    };
  },
};

function doubtOf(request: Request, step: StepFact | null, operation: string | null, facts: Facts): FenceFact | null {
  const { fences = facts.fences ?? [] } = step ?? facts.body ?? {};
  if (fences.length === 0) return null;
  const isAbout =
    operation === null || facts.body !== undefined
      ? meaningOf(request, step, facts)
      : (other: string) => mayBeSame(other, operation);
  return fences.find((found) => found.inDoubt && isAbout(found.operation)) ?? null;
}

function inDoubt(
  { tool }: Request,
  step: StepFact | null,
  { callId }: FenceFact,
  denial: DenialFact | null,
): GateAnswer {
  const what = step === null ? 'tool' : 'action';
  return {
    kind: 'refuse',
    refusal: {
      error: 'fenced',
      class: 'Workflow',
      code: 'Fenced',
      message: `${what} '${tool}' is fenced: nobody knows yet whether call ${callId} took effect. Other ${what}s stay possible.`,
      resolution: { type: 'reconcile', call_id: callId },
      blocking_call_id: callId,
      ...(denial === null ? {} : { ticket_id: denial.ticket }),
    },
  };
}

/** INVARIANT: what an upstream forbade is not tried in other words: a whole tool, or what its key says it is about. */
function denialOf(request: Request, step: StepFact | null, facts: Facts): DenialFact | null {
  const { denials = [], catalogue } = facts;
  if (denials.length === 0) return null;
  const args = argumentsIn(request, facts);
  const entry = catalogue.get(request.tool);
  const own = entry === undefined ? request.tool : (operationOfCall(entry, args) ?? entry.policyName);
  const isAbout = meaningOf(request, step, facts);
  return denials.find(({ operation }) => mayBeSame(operation, own) || isAbout(operation)) ?? null;
}

function forbidden({ tool }: Request, step: StepFact | null, { callId, ticket, queue }: DenialFact): GateAnswer {
  const what = step === null ? 'tool' : 'action';
  return {
    kind: 'refuse',
    refusal: {
      error: 'fenced',
      class: 'Workflow',
      code: 'Fenced',
      message: `${what} '${tool}' is fenced: its upstream forbade it in call ${callId}, and a person decides about that in ticket ${ticket}. Other ${what}s stay possible.`,
      resolution: { type: 'escalated', ticket_id: ticket, queue },
      ticket_id: ticket,
    },
  };
}

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
