/** Routes that cancel a call, a turn or a session: by its agent, or by an administrator for that agent. */
import { unreachable } from '../../../core/values/unreachable.ts';
import type { CancelTarget } from '../../../shell/ending/cancel.ts';
import { type Answer, type Asked, json, refuse } from '../answer.ts';
import { principal, scopeOf, storeUnavailable, unknownCall, wholeId } from '../call-routes.ts';
import { principalFor } from '../session-routes.ts';

export async function cancelCall(asked: Asked): Promise<Answer> {
  const { id: given, who, parts } = asked;
  const scope = scopeOf(who);
  const id = await wholeId(given, 'decide', (beginning) => parts.view.meant(beginning, scope));
  if (typeof id !== 'string') return id;
  const owner = scope.agent === null ? await parts.view.callerOf(id, scope) : principal(who);
  if (owner === null) return unknownCall(id);
  return answerOf(await parts.cancel({ call: id }, owner), { call: id }, asked);
}

export async function cancelSession(asked: Asked): Promise<Answer> {
  const { turn } = (asked.body ?? {}) as { readonly turn?: string };
  const target = { session: asked.id, ...(turn === undefined ? {} : { turn }) };
  return answerOf(await asked.parts.cancel(target, await principalFor(asked)), target, asked);
}

type Cancelled = Awaited<ReturnType<Asked['parts']['cancel']>>;

function answerOf(cancelled: Cancelled, target: CancelTarget, { parts }: Asked): Answer {
  const id = 'call' in target ? target.call : target.session;
  const what = 'call' in target ? 'call' : target.turn === undefined ? 'session' : 'turn';
  switch (cancelled) {
    case 'cancelled':
      return json({ cancelled: what, id });
    case 'already_ended':
      return refuse('NotToCancel', `${what} '${id}' has ended already, or is in doubt; read what became of it`);
    case 'not_found':
      return what === 'call' ? unknownCall(id) : refuse('UnknownSession', `no session '${id}' is known to this key`);
    case 'store_unavailable':
      return storeUnavailable('cancel', parts.newCallId());
    default:
      return unreachable(cancelled);
  }
}
