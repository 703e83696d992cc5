/** What people look at beside calls and sessions, as one part for a door. */
import type { ApprovalContext } from '../../core/approval/approval-context.ts';
import type { Principal } from '../../core/call/call.ts';
import type { LimitView } from '../../core/rate/limit-view.ts';
import type { CoverageView } from '../../core/policy/look/coverage.ts';
import type { SessionGraph } from '../../core/workflow/trace/session-graph.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { Position } from '../../core/journal/record.ts';
import type { Replay } from '../../core/recovery/replay.ts';
import type { JournalEntry } from '../../ports/store.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { approvalContext } from './approval-context.ts';
import { limitsNow } from './rate-limits.ts';
import { policyCoverage } from './policy-coverage.ts';
import type { Shell } from '../shell.ts';
import {
  goldenOf,
  type JournalPage,
  type MadeGolden,
  type Moment,
  momentOf,
  readJournal,
  replayFailures,
  tellStory,
  type ToldStory,
} from './call-looks.ts';
import { readToolHealth, type ToolHealth } from './tool-health.ts';
import { sessionGraph, sessionStateAt, type StateFound } from './session-graph.ts';

export interface Looks {
  /** What an approval is about; null if there is no such approval in the tenant. */
  approval(id: string, tenant: string, again: boolean): Promise<ApprovalContext | null>;
  /** How every rate limit of the policy in force stands. */
  limits(tenant: string): Promise<readonly LimitView[]>;
  /** How often each rule of the policy in force has decided. */
  coverage(tenant: string): Promise<CoverageView>;
  /** Null for a call that the tenant does not have. */
  story(id: string, tenant: string): Promise<ToldStory | null>;
  replay(id: string, tenant: string): Promise<Replay | null>;
  golden(id: string, tenant: string): Promise<MadeGolden | null>;
  /** Null for a record that neither decides a call nor ends it. */
  moment(record: JournalEntry): Promise<Moment | null>;
  /** Of all tenants. */
  journal(after: Position | null, limit: number): Promise<JournalPage>;
  /** Of one tool, or of all. */
  health(tenant: string, tool: string | null): Promise<ToolHealth>;
  /** Every tool that is served, and every action of a workflow. */
  served(): Iterable<Pick<ToolEntry, 'name' | 'effectClass' | 'description'>>;
  graph(session: string, who: Principal): Promise<SessionGraph | ErrorReply>;
  /** The state after step `seq`; null means the present state. */
  stateAt(session: string, seq: number | null, who: Principal): Promise<StateFound | ErrorReply>;
}

export const createLooks = (shell: Shell): Looks => ({
  approval: (id, tenant, again) => approvalContext(id, tenant, again, shell),
  limits: (tenant) => limitsNow(tenant, shell),
  coverage: (tenant) => policyCoverage(tenant, shell),
  story: (id, tenant) => tellStory(id, tenant, shell.ports.store),
  replay: (id, tenant) => replayFailures(id, tenant, shell.ports.store),
  golden: (id, tenant) => goldenOf(id, tenant, shell.ports.store),
  moment: (record) => momentOf(record, shell.ports.store),
  journal: (after, limit) => readJournal(after, limit, shell.ports.store),
  health: (tenant, tool) => readToolHealth(tenant, tool, shell.ports.store),
  served: () => [
    ...shell.catalogue().values(),
    ...[...shell.workflows.values()].flatMap(({ actions }) => [...actions.values()]),
  ],
  graph: (session, who) => sessionGraph(session, who, shell),
  stateAt: (session, seq, who) => sessionStateAt(session, seq, who, shell),
});
