/** What people look at beside calls and sessions, as one part for a door. */
import type { Principal } from '../../core/call/call.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { Shell } from '../shell.ts';
import { type SessionGraph, sessionGraph, sessionStateAt, type StateFound } from './session-graph.ts';

export interface Looks {
  graph(session: string, who: Principal): Promise<SessionGraph | ErrorReply>;
  /** The state after step `seq`; null means the present state. */
  stateAt(session: string, seq: number | null, who: Principal): Promise<StateFound | ErrorReply>;
}

export const createLooks = (shell: Shell): Looks => ({
  graph: (session, who) => sessionGraph(session, who, shell),
  stateAt: (session, seq, who) => sessionStateAt(session, seq, who, shell),
});
