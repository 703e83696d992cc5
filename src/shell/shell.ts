/** What the shell works with: the ports, its configuration, and what this process holds in memory. */
import type { CancelScope } from '../core/call/answer.ts';
import type { ApprovalId } from '../core/approval/approval.ts';
import type { Call, CallId, IncarnationId, Principal, Request, SessionId } from '../core/call/call.ts';
import type { Catalogue, ToolEntry } from '../core/call/catalogue.ts';
import type { Ladder } from '../core/call/decide.ts';
import type { PolicyFact, Readiness, UnlistedServer, Facts } from '../core/gates/facts.ts';
import type { Position } from '../core/journal/record.ts';
import type { GapKind } from '../core/call/gap.ts';
import type { Json } from '../core/values/json.ts';
import type { Limits } from '../core/limits.ts';
import { offerTools } from '../core/call/offer-tools.ts';
import { listedTools } from '../core/policy/listed-tools.ts';
import type { Policy, Reach } from '../core/policy/policy.ts';
import { ceilingOf } from '../core/policy/session-ceiling.ts';
import { joinRecovery } from '../core/recovery/declared.ts';
import type { ToolRecovery } from '../core/recovery/playbook.ts';
import type { TicketRules } from '../core/ticket/terms.ts';
import type { Notice, Reply } from '../core/call/reply.ts';
import type { StoreTrouble, Transition } from '../ports/store.ts';
import type { Ports } from './ports.ts';
import { nextActions as nextOf, type StepFact } from '../core/workflow/step.ts';
import type { Snapshot, Workflow } from '../core/workflow/workflow.ts';
import type { Asker, BodyOf, Requester } from './call/requester.ts';
import type { Undone } from '../core/reversal/redeem-check.ts';
import type { Reversal } from '../core/reversal/reversal.ts';
import type { BreakerOnRecord, UpstreamHealth } from './health.ts';
import type { Room, TurnQueue } from './session/live-sessions.ts';
import { createLiveTickets, type LiveTickets } from './ticket/live-tickets.ts';

export type { Ports };

/** A reply and where it is recorded; null if it could not be. */
export interface Answer {
  readonly reply: Reply;
  readonly position: Position | null;
  /**
   * The success of a step that was in doubt meanwhile: its state has not moved yet, and an equal step is to adopt it.
   */
  readonly unmoved?: true;
}

/** A call that this incarnation is sending. */
export interface Running {
  readonly call: Call;
  readonly outcome: Promise<Answer>;
  /** Ends the wait at once; what the body does afterwards is an orphan. */
  readonly cancel: (scope: CancelScope) => void;
  /** Aborted when it is cancelled, by whomever; a timeout is none. */
  readonly stopped: AbortSignal;
}

/** Lost with the process, and nothing depends on it but speed and waiting. */
export interface Live {
  readiness: Readiness;
  readonly running: Map<CallId, Running>;
  /** What has not been answered yet, whether or not it runs: calls, and what runs for nobody. */
  readonly unanswered: Set<Promise<unknown>>;
  /** Bodies that nobody waits for any more and that have not come back. */
  orphans: number;
  /** The whole schedule has failed: nobody waits again until a commit has succeeded. */
  storeDown: boolean;
  /** What is known against recording a call now. */
  storeTrouble: StoreTrouble | null;
  /** Ends the waits between two tries, once the schedule has failed for somebody, or the store is back. */
  readonly storeWaiters: Set<() => void>;
  /** Another gateway of this process has taken its place: whoever waits here goes on there. */
  successor: Shell | null;
  /** The store is closed: nothing can be recorded any more. */
  closed: boolean;
  readonly standing: Map<string, SessionId>;
  /** Steps that wait for their turn in this process, by session. */
  readonly turns: Map<SessionId, TurnQueue>;
  readonly room: Room;
  /** Bodies of steps that nobody waits for any more, with their actions, by session. */
  readonly orphanSteps: Map<SessionId, Map<CallId, string>>;
  /** How often the evidence of its calls was read again, by session. */
  readonly refreshes: Map<SessionId, number>;
  /** Refusals in a row, by session. */
  readonly streaks: Map<SessionId, number>;
  /** Workflow sessions that this process opened or has written to: resumption.ts. */
  readonly written: Set<SessionId>;
  /** The snapshot read last of each session, so that it is not parsed again. */
  readonly snapshots: Map<SessionId, { readonly seq: number; readonly digest: string; readonly snapshot: Snapshot }>;
  readonly knownBlobs: Set<string>;
  /** Calls whose stored reply was found altered, and put on record as such. */
  readonly altered: Set<CallId>;
  readonly refusals: Map<string, { readonly callId: CallId; readonly atMs: number; count: number }>;
  /**
   * Gaps since the start: how many by tenant and kind, when each was recorded last, and what the next reply of a
   * session tells.
   */
  readonly gaps: Map<string, Map<GapKind, number>>;
  readonly gapsSeen: Map<string, number>;
  readonly gapNotices: Map<SessionId, readonly Notice[]>;
  /** Errors that were ignored on purpose: when each was recorded last, and how many equal ones came since. */
  readonly suppressed: Map<string, { readonly atMs: number; repeated: number }>;
  /** How many there were since the start: in calls by tenant, and beside calls under ''. */
  readonly suppressedCounts: Map<string, number>;
  /**
   * Who asked for a write without a key and was not handed its reply: hand-over.ts. In the order in which they came.
   */
  askers: {
    readonly at: Map<string, Set<Asker>>;
    readonly of: WeakMap<Requester, Asker>;
    held: number;
  };
  /** Outcomes that could not be recorded yet; the sweeper tries again. */
  readonly unrecorded: Unrecorded[];
  /** Who waits in this process for an approval to be decided. */
  readonly approvalWaiters: Map<ApprovalId, Set<() => void>>;
  /** Approved calls that this process is running by itself. */
  readonly runsApproved: Set<ApprovalId>;
  readonly tickets: LiveTickets;
  /** Stages that this process tries again, by the call whose inputs they have. */
  readonly runsLater: Set<string>;
  /** Reversals that this process is carrying out, by the call that they undo. */
  readonly undoing: Map<CallId, Promise<Undone>>;
  /** Rollbacks that this process is working on. */
  readonly rollingBack: Set<SessionId>;
  /** Breaker and retry budget of each upstream, as this process sees it. */
  readonly health: Map<string, UpstreamHealth>;
  /** What the journal has of each breaker: record-breakers.ts. */
  readonly breakersOnRecord: Map<string, BreakerOnRecord>;
  /** Lets go of calls that wait for their next attempt: they stay on record, for the next start. */
  readonly backoffs: Set<() => void>;
  /** The gateway closes: no pause is begun any more. */
  draining: boolean;
  /** How a reversing call is made: handle-call.ts. Set by the composition root. */
  callReversal: (request: Request, redeems: Reversal, requester: Requester) => Promise<Reply>;
  /** How a reversal that is ordered is carried out: order.ts. Likewise. */
  carryOut: (call: CallId) => Promise<Undone>;
  /** How a body calls another tool: nested-call.ts. Likewise. */
  callTool: (request: NestedRequest, who: Principal, bodyOf: BodyOf, ceiling: Reach | null) => Promise<Reply>;
}

/** `ifMovedOn` says what to do when the call is no longer where the transition expects it. */
export interface Unrecorded {
  readonly transition: Transition;
  readonly ifMovedOn: (() => Promise<void>) | null;
  readonly recorded?: (() => void) | undefined;
}

export type { BodyOf, Room, TurnQueue };

/** A call that a body makes, under a key of its own. */
export interface NestedRequest {
  readonly tool: string;
  readonly args: Json;
  readonly key: string;
  readonly wait_seconds?: number;
  readonly session?: string;
}

export interface Shell {
  readonly ports: Ports;
  readonly limits: Limits;
  readonly ladder: Ladder;
  /** The policy as it is now; null where none is configured. It may change while the gateway runs. */
  readonly policy: () => Policy | null;
  /** The tools as they are now: those of a server may change while the gateway runs. */
  readonly catalogue: () => Catalogue;
  /** Servers whose tools are not known yet. */
  readonly unlisted?: () => readonly UnlistedServer[];
  readonly workflows: ReadonlyMap<string, Workflow>;
  /** What is declared about the recovery of each tool; absent: the defaults. */
  readonly recovery?: (tool: ToolEntry) => ToolRecovery;
  /** How long tickets may take and who answers them; absent: the defaults. */
  readonly ticketRules?: () => TicketRules;
  /** Part of every handle of a workflow session: tells ours from those of another store. */
  readonly storeTag: string;
  readonly live: Live;
}

export function createShell(parts: Omit<Shell, 'live'>): Shell {
  return {
    ...parts,
    live: {
      readiness: { ready: false, doing: 'starting', retryAfterSeconds: 2 },
      running: new Map(),
      unanswered: new Set(),
      orphans: 0,
      storeDown: false,
      storeTrouble: null,
      storeWaiters: new Set(),
      successor: null,
      closed: false,
      standing: new Map(),
      turns: new Map(),
      room: { last: Promise.resolve(), waiting: 0, opening: new Set(), beginning: new Set(), countAtMs: 0 },
      orphanSteps: new Map(),
      refreshes: new Map(),
      streaks: new Map(),
      written: new Set(),
      snapshots: new Map(),
      knownBlobs: new Set(),
      altered: new Set(),
      refusals: new Map(),
      gaps: new Map(),
      gapsSeen: new Map(),
      gapNotices: new Map(),
      suppressed: new Map(),
      suppressedCounts: new Map(),
      askers: { at: new Map(), of: new WeakMap(), held: 0 },
      unrecorded: [],
      approvalWaiters: new Map(),
      runsApproved: new Set(),
      tickets: createLiveTickets(),
      runsLater: new Set(),
      undoing: new Map(),
      rollingBack: new Set(),
      health: new Map(),
      breakersOnRecord: new Map(),
      backoffs: new Set(),
      draining: false,
      callReversal: () => Promise.reject(new Error('the gateway is not open yet')),
      carryOut: () => Promise.reject(new Error('the gateway is not open yet')),
      callTool: () => Promise.reject(new Error('the gateway is not open yet')),
    },
  };
}

const byDefault = new WeakMap<ToolEntry, ToolRecovery>();

/** INVARIANT: the same object as long as nothing changed, so that it is hashed once. */
export function recoveryOf(tool: ToolEntry, { recovery }: Shell): ToolRecovery {
  if (recovery !== undefined) return recovery(tool);
  const known = byDefault.get(tool) ?? joinRecovery(upstreamOf(tool), [tool.recovery ?? {}]);
  byDefault.set(tool, known);
  return known;
}

/** Tools of a server share it; a function is an upstream of its own. */
export const upstreamOf = ({ policyName }: ToolEntry): string => policyName.split('/', 1)[0] ?? policyName;

export const me = (shell: Shell): IncarnationId => shell.ports.store.incarnation;

/** A body that nobody waits for any more still takes its place. */
export function isFull({ live, limits }: Shell): boolean {
  return live.running.size + live.orphans >= limits.maxInFlight;
}

interface WhoAsks {
  readonly agent: string;
  readonly session?: SessionId | null;
  /** What it asked for. */
  readonly tool?: string;
}

/**
 * What this agent can do next: the actions of its step, or the tools that are listed to it, of many the nearest to what
 * it asked for.
 */
export function nextActions(
  shell: Shell,
  { agent, session = null, tool = '' }: WhoAsks,
  step: StepFact | null = null,
): readonly string[] {
  if (step !== null) return nextOf(step);
  return offerTools(listedTools(shell.catalogue(), policyOf(agent, shell), ceilingOf(session)), tool);
}

/** The policy as it stands now, for this agent. */
export function policyOf(agent: string, { policy }: Shell): PolicyFact | undefined {
  const current = policy();
  if (current === null) return undefined;
  const { mode, ref } = current.written;
  return { mode, ref, agent: current.agents.get(agent) ?? null };
}

export function firstFacts(principal: Principal, shell: Shell): Facts {
  const { live, limits, catalogue } = shell;
  const policy = policyOf(principal.agent, shell);
  const unlisted = shell.unlisted?.() ?? [];
  return {
    principal,
    nowMs: shell.ports.clock.nowMs(),
    ...(policy === undefined ? {} : { policy }),
    readiness: live.readiness,
    catalogue: catalogue(),
    ...(unlisted.length === 0 ? {} : { unlisted }),
    inFlight: { now: live.running.size + live.orphans, max: limits.maxInFlight },
  };
}

/** `agent` null: all of the tenant. */
export interface Scope {
  readonly tenant: string;
  readonly agent: string | null;
}
