/** What people look at beside calls and sessions, as one part for a door. */
import type { ApprovalContext } from '../../core/approval/approval-context.ts';
import type { Principal } from '../../core/call/call.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { CoverageView } from '../../core/policy/look/coverage.ts';
import type { SessionGraph } from '../../core/workflow/trace/session-graph.ts';
import { approvalContext } from './approval-context.ts';
import { policyCoverage } from './policy-coverage.ts';
import type { Shell } from '../shell.ts';
import { sessionGraph, sessionStateAt, type StateFound } from './session-graph.ts';

export interface Looks {
  /** What an approval is about; null if there is no such approval in the tenant. */
  approval(id: string, tenant: string, again: boolean): Promise<ApprovalContext | null>;
  /** How often each rule of the policy in force has decided. */
  coverage(tenant: string): Promise<CoverageView>;
  graph(session: string, who: Principal): Promise<SessionGraph | ErrorReply>;
  /** The state after step `seq`; null means the present state. */
  stateAt(session: string, seq: number | null, who: Principal): Promise<StateFound | ErrorReply>;
}

export const createLooks = (shell: Shell): Looks => ({
  approval: (id, tenant, again) => approvalContext(id, tenant, again, shell),
  coverage: (tenant) => policyCoverage(tenant, shell),
  graph: (session, who) => sessionGraph(session, who, shell),
  stateAt: (session, seq, who) => sessionStateAt(session, seq, who, shell),
});
