/** Small changes to what is asked and answered, where a call meets the outcome of another. */
import type { Call, Principal } from '../../core/call/call.ts';
import { isSuccess, type Reply } from '../../core/call/reply.ts';
import { standingOf, stateOf, type StepFact } from '../../core/workflow/step.ts';
import type { Asked } from './say-no.ts';
import { nextActions, type Shell } from '../shell.ts';

/** Whoever asks for what the gateway ran by itself waits for it, as for a call of their own. */
export function waitingFor(asked: Asked, call: Call): Asked {
  const { request } = asked;
  return { ...asked, call, request: { ...request, waitMs: request.waitMs ?? call.deadlineAtMs - call.createdAtMs } };
}

/** What happened stays; where the session stands, and what is next there, is said as it is now. */
export function asItStands(reply: Reply, step: StepFact | null, who: Principal, shell: Shell): Reply {
  if (!isSuccess(reply) || step === null) return reply;
  const { done: _done, next_action_schemas: _schemas, ...happened } = reply;
  const now = { state: stateOf(step), valid_next_actions: nextActions(shell, who, step), seq: step.seq };
  return { ...happened, ...now, ...(standingOf(step).done ? { done: true } : {}) };
}
