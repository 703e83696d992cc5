/**
 * Handles a step that succeeded after another process had put it in doubt. Its result is on record, its state has not
 * moved, and its caller still waits: the caller adopts the result as the next equal step.
 */
import type { Call, CallId, Principal } from '../../core/call/call.ts';
import { isSuccess, type Reply } from '../../core/call/reply.ts';
import type { Json } from '../../core/values/json.ts';
import { standingOf, stateOf, type StepFact } from '../../core/workflow/step.ts';
import type { Work } from '../attempt/work.ts';
import { type Intent, intentParts } from '../call/intent.ts';
import { handOver } from '../call/hand-over.ts';
import type { Requester } from '../call/requester.ts';
import { fetchSession } from '../session/fetch-session.ts';
import { awaitFreeTurn } from '../session/turn.ts';
import { nextActions, type Running, type Shell } from '../shell.ts';
import { adopt, type Adopted } from './adopt.ts';
import { unrecorded } from './stored-reply.ts';

/** The step as the gates let it pass. */
export interface Passed {
  readonly work: Work;
  readonly intent: Intent;
  readonly who: Principal;
  readonly requester: Requester;
}

/** `reply` is the answer to `running`; it stands unless there is something to adopt. */
export async function adoptOwnResult(running: Running, reply: Reply, passed: Passed, shell: Shell): Promise<Reply> {
  const { work, intent, who, requester } = passed;
  const { step: fact, args: inputs } = work;
  if (fact === null || !isSuccess(reply) || (await running.outcome).unmoved !== true) return reply;
  const { call } = running;
  const { clock, ids } = shell.ports;
  const operation = fact.workflow.actions.get(call.tool)?.operation ?? '';
  const { id: callId, session, fingerprint } = call;
  const earlier = { operation, callId, session, fingerprint, inDoubt: false };
  // The intent has claimed the key and said that the session goes on here.
  const taken = { ...intentParts(intent, shell), key: null, resumption: [] };
  let standing: StepFact | null = fact;
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const again = { ...call, id: ids.ordered('call_', clock.nowMs()) as typeof call.id };
    const adopted: Adopted = await adopt(again, earlier, { ...work, step: standing }, taken, shell);
    if (adopted.kind === 'adopted') {
      handOver(adopted.call, adopted.position, requester, shell);
      return adopted.reply;
    }
    if (adopted.kind === 'unavailable') return unrecorded(call, shell, { fact, inputs });
    standing = await standingNow(call, who, shell);
    // INVARIANT: a step of which its caller hears a success has moved the state, as far as the workflow still allows
    // it.
    if (standing === null || !isAdoptable(callId, call.tool, inputs, standing)) break;
  }
  // Somebody else has adopted it, or led the session elsewhere: the step happened, and this is where the session
  // stands.
  return withStateNow(reply, standing, who, shell);
}

/** Where the session stands once nobody has the turn; null if it is not to be had any more. */
async function standingNow({ id, session }: Call, who: Principal, shell: Shell): Promise<StepFact | null> {
  if (session === null) return null;
  await awaitFreeTurn(session, id, shell.limits.stepQueueMs, shell);
  const found = await fetchSession(session, who, null, shell);
  return 'found' in found && found.found ? found.step : null;
}

function isAdoptable(id: CallId, action: string, inputs: Json, step: StepFact): boolean {
  const { machine } = step.workflow;
  if (!step.isOpen || step.drift !== null || !step.fences.some(({ callId }) => callId === id)) return false;
  const reach = machine.reach(step.snapshot, action);
  return (reach.kind === 'depends' ? machine.reachWith(step.snapshot, action, inputs) : reach).kind === 'yes';
}

/** What happened stays; where the session stands, and what is next there, is said as it is now. */
export function withStateNow(reply: Reply, step: StepFact | null, who: Principal, shell: Shell): Reply {
  if (!isSuccess(reply) || step === null) return reply;
  const { done: _done, next_action_schemas: _schemas, ...happened } = reply;
  const now = { state: stateOf(step), valid_next_actions: nextActions(shell, who, step), seq: step.seq };
  return { ...happened, ...now, ...(standingOf(step).done ? { done: true } : {}) };
}
