/** What a door can ask about workflow sessions. Every answer is typed; a refusal is the same reply as for a step. */
import { refused } from '../core/answer.ts';
import type { CallId, Principal, Request, SessionId } from '../core/call.ts';
import type { SessionFact } from '../core/facts.ts';
import { session as sessionGate } from '../core/gates/session.ts';
import { invalidInput } from '../core/gates/invalid-input.ts';
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import type { Refusal } from '../core/refusal.ts';
import type { ErrorReply, Reply, SuccessReply } from '../core/reply.ts';
import { nextActions, project, type StepFact } from '../core/workflow/step.ts';
import type { Snapshot, Workflow } from '../core/workflow/workflow.ts';
import type { Session } from '../ports/store.ts';
import type { Requester } from './await-outcome.ts';
import { acceptDrift } from './drift.ts';
import { fetchSession } from './fetch-session.ts';
import { firstFacts } from './gather-facts.ts';
import { handleCall } from './handle-call.ts';
import { type HistoryPage, readHistory } from './history.ts';
import type { Shell } from './shell.ts';
import { sayFault } from './refuse.ts';
import { openAt, type Opened, openWorkflow, resetTo } from './workflow-sessions.ts';

/** Where a session stands, and what may come next. */
export interface SessionView {
  readonly session: string;
  readonly workflow: string;
  readonly seq: number;
  readonly status: 'open' | 'done' | 'stopped' | 'cancelled' | 'closed';
  /** As the workflow's author shows it. */
  readonly state: Json;
  readonly state_digest: string;
  readonly valid_next_actions: readonly string[];
  readonly next_action_schemas: Readonly<Record<string, JsonObject | null>>;
  /** RFC 3339. */
  readonly opened_at: string;
  readonly last_used_at: string;
  readonly expires_at: string | null;
}

export type { HistoryEntry, HistoryPage } from './history.ts';

export interface WorkflowService {
  readonly workflows: ReadonlyMap<string, Workflow>;
  /** A new session, where its workflow begins. */
  open(workflow: string, who: Principal): Promise<SessionView | ErrorReply>;
  /**
   * `{action, inputs, session, key, expected_seq, turn, wait_seconds, deadline_seconds}`, whatever of it arrived. Without a session one of
   * `workflow` is opened first; the reply names it. `inputs` may be a JSON text. Never rejects.
   */
  step(workflow: string, raw: unknown, who: Principal, requester: Requester): Promise<Reply>;
  reset(session: string, who: Principal): Promise<Reply>;
  /** A new session that begins where the other stood after step `seq`; null means where it stands now. */
  fork(session: string, seq: number | null, who: Principal): Promise<Reply>;
  /** Goes on with a session whose workflow has changed, on somebody's word. */
  accept(session: string, who: Principal): Promise<Reply>;
  look(session: string, who: Principal): Promise<SessionView | ErrorReply>;
  history(session: string, who: Principal, after: number, limit: number): Promise<HistoryPage | ErrorReply>;
}

export function createWorkflowService(shell: Shell): WorkflowService {
  return {
    workflows: shell.workflows,
    async open(name, who) {
      const opened = await begin(name, who, shell);
      return 'error' in opened ? opened : view(opened.session, opened.fact);
    },
    async step(name, raw, who, requester) {
      const given = own(raw);
      const handle = given['session'];
      // Whoever names a session, however wrongly, does not get another one.
      if (handle !== undefined && handle !== null && handle !== '')
        return handleCall(given, who, requester, shell, { session: typeof handle === 'string' ? handle : null });
      const earlier = await sessionOfKey(given['key'], who, shell);
      if (earlier !== null)
        return handleCall({ ...given, session: earlier }, who, requester, shell, { session: earlier });
      const opened = await begin(name, who, shell);
      if ('error' in opened) return { ...opened, requested: text(given['action']) };
      const session = opened.session.id;
      return handleCall({ ...given, session }, who, requester, shell, { session });
    },
    async reset(handle, who) {
      const found = await find(handle, 'reset_session', 'change', who, shell);
      if ('error' in found) return found;
      const started = found.fact.workflow.machine.start(shell.ports.clock.nowMs());
      if (started.kind === 'failed') return broken('reset_session', started.problem, shell);
      const result = await resetTo(found.session, started.snapshot, shell);
      if (result.kind === 'unavailable') return sayFault('reset_session', found.session.id, result.fault, shell);
      if (result.kind === 'conflict') return inFlight('reset_session', found.session, shell);
      return done('reset_session', {}, found.session.id, who, shell);
    },
    async fork(handle, seq, who) {
      const found = await find(handle, 'fork_session', 'change', who, shell);
      if ('error' in found) return found;
      const at = seq ?? found.session.seq;
      const kept = await shell.ports.store.snapshot(found.session.id, at);
      if (kept === null) return notKept(seq, found.session, shell);
      const snapshot = JSON.parse(kept) as Snapshot;
      const problem = found.fact.workflow.machine.problemWith(snapshot);
      if (problem !== null) return broken('fork_session', problem, shell);
      const about = { from: found.session.id, from_step: at };
      const opened = await openAt(found.fact.workflow, snapshot, who, 'session_forked', about, shell);
      if (opened.kind !== 'opened') return unopened('fork_session', opened, shell);
      return done('fork_session', { from: found.session.id, from_seq: at }, opened.session.id, who, shell);
    },
    async accept(handle, who) {
      const found = await find(handle, 'accept_session', 'change', who, shell);
      if ('error' in found) return found;
      const { drift } = await acceptDrift(found.session, who.agent, shell);
      if (drift !== null) return broken('accept_session', drift.join('; '), shell);
      return done('accept_session', {}, found.session.id, who, shell);
    },
    async look(handle, who) {
      const found = await find(handle, 'session', 'look', who, shell);
      return 'error' in found ? found : view(found.session, found.fact, shell.limits.sessionTtlMs);
    },
    async history(handle, who, after, limit) {
      const found = await find(handle, 'history', 'look', who, shell);
      if ('error' in found) return found;
      const most = Math.max(1, Math.min(limit, shell.limits.maxHistoryEntries));
      return readHistory(found.session, after, most, shell.ports.store);
    },
  };
}

interface Found {
  readonly session: Session;
  readonly fact: StepFact;
}

/** A client that lost the reply to its first step knows its key, and not the session that was opened for it. */
async function sessionOfKey(key: unknown, who: Principal, shell: Shell): Promise<SessionId | null> {
  if (typeof key !== 'string' || !shell.live.readiness.ready) return null;
  const { store, clock } = shell.ports;
  const claim = await store.key(who.tenant, who.agent, key, clock.nowMs());
  return claim === null ? null : ((await store.call(claim.callId))?.session ?? null);
}

/** What is over can be looked at and not changed; what is stopped, or has drifted, can be both. */
async function find(
  handle: string,
  requested: string,
  purpose: 'look' | 'change',
  who: Principal,
  shell: Shell,
): Promise<Found | ErrorReply> {
  if (!shell.live.readiness.ready) return sayFault(requested, null, 'closed', shell);
  const id = (typeof handle === 'string' ? handle : '') as SessionId;
  const fact = await fetchSession(id, who, null, shell);
  if ('fault' in fact) return sayFault(requested, id, fact.fault, shell);
  const session = fact.found ? await shell.ports.store.session(id) : null;
  if (!fact.found || session === null) return refuseSession(fact, id, requested, shell);
  const over = fact.state === 'cancelled' || fact.state === 'closed';
  if (over && purpose === 'change') return refuseSession(fact, id, requested, shell);
  if (fact.step === null) return refuseSession({ found: false, why: 'unknown' }, id, requested, shell);
  return { session, fact: fact.step };
}

function refuseSession(fact: SessionFact, id: SessionId, requested: string, shell: Shell): ErrorReply {
  const request = { session: id, turn: null, expectedSeq: null, tool: requested } as unknown as Request;
  const answer = sessionGate.check(request, { ...firstFacts(shell), session: fact });
  if (answer.kind !== 'refuse') throw new Error('bug: a session that is not there passed its gate');
  return say(requested, null, answer.refusal, shell);
}

function say(requested: string, session: SessionId | null, refusal: Refusal, shell: Shell): ErrorReply {
  const callId = shell.ports.ids.ordered('call_', shell.ports.clock.nowMs()) as CallId;
  return refused({ requested, callId, session, nextActions: [] }, refusal);
}

async function begin(name: string, who: Principal, shell: Shell): Promise<Found | ErrorReply> {
  if (!shell.live.readiness.ready) return sayFault('step', null, 'closed', shell);
  const workflow = shell.workflows.get(name);
  if (workflow === undefined) return unknownWorkflow(name, shell);
  const opened = await openWorkflow(workflow, who, shell);
  if (opened.kind !== 'opened') return unopened('step', opened, shell);
  return find(opened.session.id, 'step', 'look', who, shell);
}

function unopened(requested: string, opened: Exclude<Opened, { kind: 'opened' }>, shell: Shell): ErrorReply {
  switch (opened.kind) {
    case 'full':
      return sayFault(requested, null, 'overloaded', shell);
    case 'unavailable':
      return sayFault(requested, null, opened.fault, shell);
    case 'broken':
      return broken(requested, opened.problem, shell);
    default:
      return opened satisfies never;
  }
}

function broken(requested: string, problem: string, shell: Shell): ErrorReply {
  const refusal: Refusal = {
    error: 'session_error',
    class: 'Workflow',
    code: 'SessionStopped',
    message: `the workflow cannot go on from there: ${problem}`,
    resolution: { type: 'replan', reason: 'tell the person who wrote the workflow' },
  };
  return say(requested, null, refusal, shell);
}

function inFlight(requested: string, session: Session, shell: Shell): ErrorReply {
  const running = session.workflow?.turn?.call ?? session.id;
  const refusal: Refusal = {
    error: 'action_in_flight',
    class: 'Workflow',
    code: 'ActionInFlight',
    message: 'a step of the session is running; ask again when it has ended.',
    resolution: { type: 'retry_after', retry_after_seconds: 1 },
    in_flight_call_id: running,
  };
  return say(requested, session.id, refusal, shell);
}

function notKept(seq: number | null, session: Session, shell: Shell): ErrorReply {
  const expected = `a step that is kept, from 0 to ${session.seq}`;
  return say('fork_session', session.id, invalidInput('fork_session', [{ path: '/seq', expected, got: seq }]), shell);
}

function unknownWorkflow(name: string, shell: Shell): ErrorReply {
  const known = [...shell.workflows.keys()];
  const refusal: Refusal = {
    error: 'unknown_action',
    class: 'Workflow',
    code: 'UnknownAction',
    message: `workflow '${name}' is not known.`,
    resolution: { type: 'choose_action', actions: known },
    known_actions: known,
    did_you_mean: null,
  };
  return say(name, null, refusal, shell);
}

async function done(
  action: string,
  result: JsonObject,
  handle: SessionId,
  who: Principal,
  shell: Shell,
): Promise<Reply> {
  const found = await find(handle, action, 'look', who, shell);
  if ('error' in found) return found;
  const { session, fact } = found;
  const reply: SuccessReply = {
    action,
    result,
    state: project(fact.snapshot, fact.workflow.projection),
    valid_next_actions: nextActions(fact),
    call_id: shell.ports.ids.ordered('call_', shell.ports.clock.nowMs()),
    session: session.id,
    seq: session.seq,
    ...(fact.snapshot.done ? { done: true } : {}),
  };
  return reply;
}

function view(session: Session, fact: StepFact, ttlMs: number | null = null): SessionView {
  const open = session.state === 'open';
  const next = open ? nextActions(fact) : [];
  return {
    session: session.id,
    workflow: fact.workflow.name,
    seq: session.seq,
    status: open && fact.snapshot.done ? 'done' : session.state,
    state: project(fact.snapshot, fact.workflow.projection),
    state_digest: fact.digest,
    valid_next_actions: next,
    next_action_schemas: Object.fromEntries(
      next.map((name) => [name, fact.workflow.actions.get(name)?.inputSchema ?? null]),
    ),
    opened_at: time(session.openedAtMs),
    last_used_at: time(session.usedAtMs),
    expires_at: ttlMs === null || !open ? null : time(session.usedAtMs + ttlMs),
  };
}

const time = (atMs: number): string => new Date(Math.min(atMs, 8.64e15)).toISOString();

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A getter of the caller's own may throw: then nothing of it can be read. */
function own(raw: unknown): Record<string, unknown> {
  try {
    return isObject(raw) ? { ...raw } : {};
  } catch {
    return {};
  }
}
