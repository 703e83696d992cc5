/**
 * Ends the turn of a call that was given up: its retries are exhausted, and no workflow says what follows. Calls of the
 * turn that run already go on; new ones are refused with the sentence for a person.
 */
import { viewOf } from '../../core/recovery/dispatch.ts';
import { renderForPerson } from '../../core/recovery/render-error.ts';
import type { CallId, SessionId } from '../../core/call/call.ts';
import { isRefusal, type Reply } from '../../core/call/reply.ts';
import { readBody } from '../look/history.ts';
import type { Shell } from '../shell.ts';
import type { EndRider } from './ending.ts';
import { note } from './transition.ts';

export const turnRider: EndRider = ({ next, ending, context }, shell) => {
  const { turn, session, state } = next;
  const outcome = viewOf(ending.dispatch, next.attempt)?.outcome ?? null;
  const isOver = outcome?.kind === 'exhausted' && state !== 'RETRY_WAIT' && state !== 'IN_DOUBT';
  if (!isOver || turn === null || session === null || shell.limits.exhaustedEndsTurn === 0) return {};
  // A machine owns what follows.
  if (context.step !== null || context.hasTurn) return {};
  return {
    parts: { endsTurn: turn, notes: [note('turn_cancelled', next, { turn, call: next.id, why: 'exhausted' })] },
  };
};

/** Calls of a session that are looked at for the one that ended its turn. */
const maxLooked = 500;

/** What a person reads of the failure that ended the turn; null if its agent cancelled it. */
export async function endOfTurn(session: SessionId, turn: string, shell: Shell): Promise<string | null> {
  const { store } = shell.ports;
  for (const call of await store.listCalls({ session, limit: maxLooked })) {
    if (call.turn !== turn || call.state !== 'FAILED') continue;
    const records = await store.recordsOf(call.id);
    if (!records.some(({ kind, body }) => kind === 'turn_cancelled' && readBody(body)['why'] === 'exhausted')) continue;
    return sentenceOf(call.id, shell);
  }
  return null;
}

async function sentenceOf(id: CallId, { ports }: Shell): Promise<string> {
  const stored = await ports.store.reply(id);
  const reply = stored.kind === 'text' ? (JSON.parse(stored.text) as Reply) : null;
  return reply !== null && isRefusal(reply) ? renderForPerson(reply).sentence : `call ${id} failed for good.`;
}
