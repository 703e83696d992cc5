/**
 * A step succeeded while it counted as in doubt: another process took the store over and could not know. The result is on
 * record, the state has not moved, and whoever asked still waits. Theirs is the next equal step: it adopts, and sends nothing.
 */
import type { Principal } from '../core/call.ts';
import type { Json } from '../core/json.ts';
import { isSuccess, type Reply } from '../core/reply.ts';
import type { StepFact } from '../core/workflow/step.ts';
import { adopt } from './adopt.ts';
import { asItStands } from './as-it-stands.ts';
import { readStep } from './position.ts';
import { unrecorded } from './settle.ts';
import type { Running, Shell } from './shell.ts';
import type { Papers } from './transition.ts';

/** The step as the gates let it pass, and the papers of its intent. */
export interface Passed {
  readonly fact: StepFact | null;
  readonly inputs: Json;
  readonly papers: Papers;
  readonly who: Principal;
}

/** `reply` is the answer to `running`; it stands unless there is something to adopt. */
export async function ownResult(running: Running, reply: Reply, passed: Passed, shell: Shell): Promise<Reply> {
  const { fact, inputs, papers, who } = passed;
  if (fact === null || !isSuccess(reply) || (await running.outcome).unmoved !== true) return reply;
  const { call } = running;
  const { clock, ids, store } = shell.ports;
  const again = { ...call, id: ids.ordered('call_', clock.nowMs()) as typeof call.id };
  const operation = fact.workflow.actions.get(call.tool)?.operation ?? '';
  const { id: callId, session, fingerprint } = call;
  const earlier = { operation, callId, session, fingerprint, inDoubt: false };
  const adopted = await adopt(again, earlier, fact, inputs, { ...papers, key: null }, shell);
  if (adopted.kind === 'adopted') return adopted.reply;
  if (adopted.kind === 'unavailable') return unrecorded(call, shell, { fact, inputs });
  // Somebody else has adopted it, or moved the session: the step happened, and this is where the session stands.
  const found = session === null ? null : await store.session(session);
  return asItStands(reply, found === null ? null : await readStep(found, null, null, shell), who, shell);
}
