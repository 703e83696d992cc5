/**
 * The operations on workflow sessions that doors offer: open, step, reset, fork, accept, look, history. Every answer
 * is typed; a refusal is the same reply as for a step.
 */
import type { Principal, SessionId } from '../../core/call/call.ts';
import { fieldsOf, type JsonObject } from '../../core/values/json.ts';
import type { Reach } from '../../core/policy/policy.ts';
import type { ErrorReply, Reply, SuccessReply } from '../../core/call/reply.ts';
import { nextActions, stateOf, withDueFired } from '../../core/workflow/step.ts';
import type { Workflow } from '../../core/workflow/workflow.ts';
import type { CommitResult } from '../../ports/store.ts';
import type { Requester } from '../call/await-outcome.ts';
import { acceptDrift } from './drift.ts';
import { findSession, type Found, sessionOfKey, type SessionView, sessionView } from './find-session.ts';
import { handleCall } from '../call/handle-call.ts';
import { type HistoryPage, readHistory } from '../look/history.ts';
import { readStep } from './position.ts';
import { sayFault } from '../call/record-refusal.ts';
import {
  refuseBroken,
  refuseInFlight,
  refuseMovedOn,
  refuseNotKept,
  refuseSession,
  refuseUnknownWorkflow,
  refuseOpening,
} from './refuse-session.ts';
import type { Shell } from '../shell.ts';
import { closeSuperseded, openFork, openWorkflow, resetTo, snapshotToFork } from './workflow-sessions.ts';

export type { HistoryEntry, HistoryPage } from '../look/history.ts';
export type { SessionView } from './find-session.ts';

export interface WorkflowService {
  readonly workflows: ReadonlyMap<string, Workflow>;
  /** A new session in the initial state; `ceiling` is the most that its steps may do. */
  open(workflow: string, who: Principal, ceiling?: Reach | null): Promise<SessionView | ErrorReply>;
  /**
   * `raw` is `{action, inputs, session, key, expected_seq, turn, wait_seconds, deadline_seconds}`, or any part of it.
   * Without a session one of `workflow` is opened first, and the reply names it. `inputs` may be a JSON text. Never
   * rejects.
   */
  step(workflow: string, raw: unknown, who: Principal, requester: Requester): Promise<Reply>;
  /** `by`: who asks for it on behalf of the agent; the agent itself, unless a person is named. Goes on record. */
  reset(session: string, who: Principal, by?: string): Promise<Reply>;
  /** A new session that begins with the state of the other after step `seq`; null means its present state. */
  fork(session: string, seq: number | null, who: Principal, by?: string): Promise<Reply>;
  /** Accepts a changed workflow for a session, on behalf of `by`: the agent itself, unless a person is named. */
  accept(session: string, who: Principal, by?: string): Promise<Reply>;
  /** Due timers fire first; no migration runs. */
  look(session: string, who: Principal): Promise<SessionView | ErrorReply>;
  history(session: string, who: Principal, after: number, limit: number): Promise<HistoryPage | ErrorReply>;
}

/** `only`: the one workflow that the door serves; sessions of others are not known there. */
export function createWorkflowService(all: Shell, only: string | null = null): WorkflowService {
  const shell = only === null ? all : servingOnly(all, only);
  const firstSteps: FirstSteps = new Map();
  return {
    workflows: shell.workflows,
    async open(name, who, ceiling = null) {
      const opened = await begin(name, who, shell, ceiling);
      return 'error' in opened ? opened : sessionView(opened.session, opened.fact);
    },
    step: (name, raw, who, requester) => takeStep({ name, fields: fieldsOf(raw), who, requester }, firstSteps, shell),
    reset(handle, who, by = who.agent) {
      return change(handle, 'reset_session', who, shell, async ({ session, fact }) => {
        const started = fact.workflow.machine.start(shell.ports.clock.nowMs());
        if (started.kind === 'failed') return refuseBroken('reset_session', started.problem, shell);
        return resetTo(session, started.snapshot, by, shell);
      });
    },
    fork: (handle, seq, who, by = who.agent) => fork({ handle, seq, who, by }, shell),
    accept(handle, who, by = who.agent) {
      return change(handle, 'accept_session', who, shell, async ({ session, whole: fact }) => {
        // A changed workflow does not restart a stopped session; resetting it takes the new version as well.
        if (fact.found && fact.state !== 'open') return refuseSession(fact, session.id, 'accept_session', shell);
        const accepted = await acceptDrift(session, by, shell);
        if (accepted.kind !== 'stay') return accepted;
        return accepted.drift === null ? null : refuseBroken('accept_session', accepted.drift.join('; '), shell);
      });
    },
    async look(handle, who) {
      const found = await findSession(handle, 'session', 'look', who, shell);
      if ('error' in found) return found;
      const { session, fact } = found;
      // A migration still to come may change the timers, and while a step runs they wait for its end.
      const isFree = fact.drift === null && session.workflow?.turn === null;
      const next = isFree ? withDueFired(fact, shell.ports.clock.nowMs()) : fact;
      return sessionView(session, next, shell.limits.sessionTtlMs);
    },
    async history(handle, who, after, limit) {
      const found = await findSession(handle, 'history', 'read', who, shell);
      if ('error' in found) return found;
      const most = Math.max(1, Math.min(whole(limit, 100), shell.limits.maxHistoryEntries));
      return readHistory(found.session, whole(after, 0), most, shell.ports.store);
    },
  };
}

/** Sessions that are being opened for a first step with a key, by workflow, agent and key. */
type FirstSteps = Map<string, Promise<Found | ErrorReply>>;

/** A step as it arrived: `name` is its workflow, `fields` the body of the request. */
interface ArrivedStep {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly who: Principal;
  readonly requester: Requester;
}

async function takeStep(step: ArrivedStep, firstSteps: FirstSteps, shell: Shell): Promise<Reply> {
  const { name, fields, who, requester } = step;
  const handle = fields['session'];
  if (handle === undefined || handle === null || handle === '') return takeFirstStep(step, firstSteps, shell);
  // A request that names a session, even a wrong one, never gets another session.
  const foreign = await notOfAWorkflow(handle, name, text(fields['action']), who, shell);
  if (foreign !== null) return foreign;
  return handleCall(fields, who, requester, shell, { session: typeof handle === 'string' ? handle : null });
}

/** Opens a session for the step, unless its key was used for a first step before: then that session is used. */
async function takeFirstStep(step: ArrivedStep, firstSteps: FirstSteps, shell: Shell): Promise<Reply> {
  const { name, fields, who } = step;
  const { key } = fields;
  const earlier = await sessionOfKey(key, name, who, shell);
  if (earlier !== null) return stepIn(earlier, step, shell);
  // The same first step sent twice at once is one step, so both requests share one session.
  const first = typeof key === 'string' ? JSON.stringify([name, who.tenant, who.agent, key]) : null;
  const shared = first === null ? undefined : firstSteps.get(first);
  const opening = shared ?? begin(name, who, shell, null, true);
  if (first !== null) firstSteps.set(first, opening);
  try {
    const opened = await opening;
    if ('error' in opened) return { ...opened, requested: text(fields['action']) };
    const { id } = opened.session;
    const reply = await stepIn(id, step, shell).finally(() => shell.live.room.beginning.delete(id));
    // Another process took the same first step before, in a session of its own: the reply is there.
    const theirs = isKeyReused(reply) ? await sessionOfKey(key, name, who, shell) : null;
    if (theirs === null || theirs === id) return reply;
    if (shared === undefined) await closeSuperseded(opened.session, shell);
    return await stepIn(theirs, step, shell);
  } finally {
    if (first !== null) firstSteps.delete(first);
  }
}

function stepIn(session: SessionId, { fields, who, requester }: ArrivedStep, shell: Shell): Promise<Reply> {
  requester.entered?.(session);
  return handleCall({ ...fields, session }, who, requester, shell, { session });
}

interface AskedFork {
  readonly handle: string;
  readonly seq: number | null;
  readonly who: Principal;
  readonly by: string;
}

async function fork({ handle, seq, who, by }: AskedFork, shell: Shell): Promise<Reply> {
  const found = await findSession(handle, 'fork_session', 'change', who, shell);
  if ('error' in found) return found;
  const { session, fact } = found;
  if (fact.drift !== null) return refuseSession(found.whole, session.id, 'fork_session', shell);
  // INVARIANT: a step that runs may end in doubt, and a fork from before its end would know of no fence.
  const turn = session.workflow?.turn ?? null;
  if (turn !== null) return refuseInFlight('fork_session', turn.call, fact, session, shell);
  const at = seq ?? session.seq;
  const snapshot = await snapshotToFork(session, at, shell);
  if ('first' in snapshot) return refuseNotKept(seq, snapshot.first, session, fact, shell);
  const problem = fact.workflow.machine.problemWith(snapshot);
  if (problem !== null) return refuseBroken('fork_session', problem, shell);
  const opened = await openFork(session, fact, { at, snapshot, by }, shell);
  if (opened.kind !== 'opened') return refuseOpening('fork_session', opened, shell);
  // Nobody knows the new handle yet, so a fork whose source took a step meanwhile is closed again.
  const now = await shell.ports.store.session(session.id);
  if (now?.entries !== session.entries) {
    await closeSuperseded(opened.session, shell);
    return refuseMovedOn('fork_session', fact, now ?? session, shell);
  }
  return done('fork_session', { from: session.id, from_seq: at }, opened.session.id, who, shell);
}

function servingOnly(shell: Shell, only: string): Shell {
  const workflow = shell.workflows.get(only);
  // Same memory and ports; only the other workflows are left out.
  return { ...shell, workflows: new Map(workflow === undefined ? [] : [[only, workflow]]) };
}

/** Refuses a step in a session of another workflow than it names, or in a plain session. */
async function notOfAWorkflow(
  handle: unknown,
  name: string,
  requested: string | null,
  who: Principal,
  shell: Shell,
): Promise<ErrorReply | null> {
  if (typeof handle !== 'string' || !shell.live.readiness.ready) return null;
  const found = await shell.ports.store.session(handle as SessionId);
  if (found === null || found.tenant !== who.tenant || found.agent !== who.agent) return null;
  const own = found.workflow?.name ?? null;
  const isServed = own !== null && shell.workflows.has(own);
  if (isServed && (name === own || name === '')) return null;
  const why = own === null ? 'plain' : isServed ? 'unnamed' : 'unserved';
  return refuseSession({ found: false, why }, found.id, requested ?? 'step', shell);
}

const whole = (value: number, otherwise: number): number =>
  Number.isSafeInteger(value) && value >= 0 ? value : otherwise;

const isKeyReused = (reply: Reply): boolean => 'code' in reply && reply.code === 'KeyReused';

/**
 * Changes a session, unless a step of it is running; tries again if another request changed it first. `act` returns
 * null if there is nothing to change.
 */
async function change(
  handle: string,
  requested: string,
  who: Principal,
  shell: Shell,
  act: (found: Found) => Promise<CommitResult | ErrorReply | null>,
): Promise<Reply> {
  for (let tries = 0; ; tries++) {
    const found = await findSession(handle, requested, 'change', who, shell);
    if ('error' in found) return found;
    const { session, fact } = found;
    const running = session.workflow?.turn?.call ?? null;
    // The step may have begun after the fact was read.
    if (running !== null)
      return refuseInFlight(
        requested,
        running,
        (await readStep(session, null, fact.drift, shell)) ?? fact,
        session,
        shell,
      );
    if (tries > shell.limits.maxRedecisions) return refuseMovedOn(requested, fact, session, shell);
    const result = await act(found);
    if (result !== null && 'error' in result) return result;
    if (result === null || result.kind === 'committed') return done(requested, {}, session.id, who, shell);
    if (result.kind === 'unavailable') return sayFault(requested, session.id, result.fault, shell);
  }
}

async function begin(
  name: string,
  who: Principal,
  shell: Shell,
  ceiling: Reach | null = null,
  forStep = false,
): Promise<Found | ErrorReply> {
  if (!shell.live.readiness.ready) return sayFault('step', null, 'closed', shell);
  const workflow = shell.workflows.get(name);
  if (workflow === undefined) return refuseUnknownWorkflow(name, shell);
  const opened = await openWorkflow(workflow, who, shell, ceiling, forStep);
  if (opened.kind !== 'opened') return refuseOpening('step', opened, shell);
  const found = await findSession(opened.session.id, 'step', 'changed', who, shell);
  if ('error' in found) shell.live.room.beginning.delete(opened.session.id);
  return found;
}

async function done(
  action: string,
  result: JsonObject,
  handle: SessionId,
  who: Principal,
  shell: Shell,
): Promise<Reply> {
  const found = await findSession(handle, action, 'changed', who, shell);
  if ('error' in found) return found;
  const { session, fact } = found;
  const reply: SuccessReply = {
    action,
    result,
    state: stateOf(fact),
    valid_next_actions: nextActions(fact),
    call_id: shell.ports.ids.ordered('call_', shell.ports.clock.nowMs()),
    session: session.id,
    seq: session.seq,
    ...(fact.snapshot.done ? { done: true } : {}),
  };
  return reply;
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
