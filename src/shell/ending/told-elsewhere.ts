/**
 * A reply may have been written where nobody could say how its session stands: by a person's command, by the recovery of a
 * process that does not serve the workflow, or of a result that has moved no state. Whoever reads it where the workflow is
 * served hears that as it is now. What happened stays as it was written.
 */
import { chooseFrom, type RestingReply } from '../../core/call/answer.ts';
import { stateOf, withDueFired } from '../../core/workflow/step.ts';
import type { StoredCall } from '../../ports/store.ts';
import { readAhead } from '../session/drift.ts';
import { nextActions, type Shell } from '../shell.ts';

export async function toldElsewhere(reply: RestingReply, call: StoredCall, shell: Shell): Promise<RestingReply> {
  const isWhole = 'error' in reply ? reply.valid_next_actions.length > 0 : reply.state !== null || reply.done === true;
  if (isWhole || call.session === null || shell.workflows.size === 0) return reply;
  const session = await shell.ports.store.session(call.session);
  const read = session === null ? null : await readAhead(session, shell);
  // Of a workflow that changed since nobody can say what is next.
  if (session === null || read === null || read.drift !== null) return reply;
  const step = withDueFired(read, shell.ports.clock.nowMs());
  const next = nextActions(shell, call, step);
  if (!('error' in reply)) {
    const { projection, actions } = step.workflow;
    // A call of a body's own is no step; and a state that its author shows to nobody is missing from every reply.
    if (!actions.has(call.tool) || (projection === 'none' && reply.valid_next_actions.length > 0)) return reply;
    return { ...reply, state: stateOf(step), valid_next_actions: next };
  }
  const { resolution } = reply;
  const choice = resolution.type === 'choose_action' ? { resolution: chooseFrom(next) } : {};
  return { ...reply, valid_next_actions: next, ...choice };
}
