/** What can be done with a session as it stands, and what each does in words. Data only. */
import type { Permission } from '../../../../src/core/call/identity.ts';
import type { SessionGraph } from '../../../../src/core/workflow/trace/session-graph.ts';

export interface SessionAct {
  readonly name: string;
  readonly title: string;
  readonly says: string;
  readonly needs: Permission;
  readonly danger: boolean;
  readonly path: string;
  readonly body: object;
}

export function actsOf({ session, status, drift, seq }: SessionGraph, at: number): readonly SessionAct[] {
  const path = (act: string) => `/v1/sessions/${encodeURIComponent(session)}/${act}`;
  const isLive = status !== 'cancelled' && status !== 'closed';
  const fork: SessionAct = {
    name: 'fork',
    title: at === seq ? 'Fork' : `Fork at step ${at}`,
    says: `Opens another session of the same agent that begins where this one stood after step ${at}. Nothing is undone, and this one stays as it is.`,
    needs: 'change_session',
    danger: false,
    path: path('fork'),
    body: { seq: at },
  };
  const resume: SessionAct = {
    name: 'resume',
    title: 'Resume with the new version',
    says: 'The session goes on with the workflow as it is now. It was begun under another version.',
    needs: 'administer',
    danger: false,
    path: path('accept'),
    body: {},
  };
  const reset: SessionAct = {
    name: 'reset',
    title: status === 'stopped' ? 'Resume from the beginning' : 'Reset',
    says: 'Takes the session back to where its workflow begins. Nothing that ran is undone.',
    needs: 'change_session',
    danger: true,
    path: path('reset'),
    body: {},
  };
  const complete: SessionAct = {
    name: 'complete',
    title: 'Complete',
    says: 'Says that the work of this session is done. It is refused while approvals wait or calls are in doubt.',
    needs: 'change_session',
    danger: true,
    path: path('complete'),
    body: {},
  };
  const cancel: SessionAct = {
    name: 'cancel',
    title: 'Cancel for good',
    says: 'Ends the session: what runs is stopped as far as it can be, and later calls are refused. What has taken effect stays.',
    needs: 'change_session',
    danger: true,
    path: path('cancel'),
    body: {},
  };
  const rollback: SessionAct = {
    name: 'rollback',
    title: 'Roll back',
    says: 'Undoes the calls of this session that say how they are undone, the last first, and closes the session. A call that cannot be undone opens a ticket.',
    needs: 'administer',
    danger: true,
    path: path('rollback'),
    body: { reason: 'rolled back from the console' },
  };
  return isLive ? [...(drift.length > 0 ? [resume] : [fork]), reset, complete, rollback, cancel] : [];
}
