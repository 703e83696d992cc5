/** Which session did a step with this key open? Its client may have lost the reply, and with it the handle. */
import type { Principal, SessionId } from '../../core/call/call.ts';
import type { Shell } from '../shell.ts';

/** `name`: the workflow of the step, or nothing. Neither a call without a workflow nor a step of another one is its first step. */
export async function sessionOfKey(
  key: unknown,
  name: string,
  who: Principal,
  shell: Shell,
): Promise<SessionId | null> {
  if (typeof key !== 'string' || !shell.live.readiness.ready) return null;
  const { store } = shell.ports;
  const claim = await store.key(who.tenant, who.agent, key);
  const id = claim === null ? null : ((await store.call(claim.callId))?.session ?? null);
  const workflow = id === null ? null : ((await store.session(id))?.workflow?.name ?? null);
  return workflow === null || (name !== '' && workflow !== name) ? null : id;
}
