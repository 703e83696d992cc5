/**
 * Finds a session by its handle or by the key of its first step, and builds the view of it that doors show. Session
 * and state are read at one moment: if the session changes meanwhile, both are read again.
 */
import type { Principal, SessionId } from '../../core/call/call.ts';
import type { SessionFact } from '../../core/gates/facts.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { type StepFact, nextActions as nextOfStep, standingOf, stateOf } from '../../core/workflow/step.ts';
import type { Session } from '../../ports/store.ts';
import { fetchSession, lookAtSession, openSession } from './fetch-session.ts';
import { sayFault } from '../call/record-refusal.ts';
import { refuseSession } from './refuse-session.ts';
import { type Shell, nextActions } from '../shell.ts';
import { fireDue } from './session-upkeep.ts';
import { offered } from '../../core/call/answer.ts';
import type { Reach } from '../../core/policy/policy.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';

/** `read`: writes nothing. `look`: due timers fire first. `change` and `changed`: a due migration runs as well. */
type Purpose = 'read' | 'look' | 'change' | 'changed';

export interface Found {
  readonly session: Session;
  readonly fact: StepFact;
  readonly whole: SessionFact;
}

/** Refuses `change` for a session that was cancelled or closed. One that is stopped, or has drifted, can be changed. */
export async function findSession(
  handle: string,
  requested: string,
  purpose: Purpose,
  who: Principal,
  shell: Shell,
): Promise<Found | ErrorReply> {
  if (!shell.live.readiness.ready) return sayFault(requested, null, 'closed', shell);
  const id = (typeof handle === 'string' ? handle : '') as SessionId;
  const { fact, session } = await factAndSession(id, purpose, who, shell);
  if ('fault' in fact) return sayFault(requested, id, fact.fault, shell);
  if (!fact.found || session === null) return refuseSession(fact, id, requested, shell);
  const over = fact.state === 'cancelled' || fact.state === 'closed';
  if (over && purpose === 'change') return refuseSession(fact, id, requested, shell);
  if (fact.step === null) return refuseSession({ found: false, why: 'plain' }, id, requested, shell);
  return { session, fact: fact.step, whole: fact };
}

/** Both of one moment: if the session moved while it was read, it is read again. */
async function factAndSession(id: SessionId, purpose: Purpose, who: Principal, shell: Shell) {
  for (let tries = 0; ; tries++) {
    const fact = await factFor(purpose, id, who, shell);
    const session = 'found' in fact && fact.found ? await shell.ports.store.session(id) : null;
    const isWhole = session === null || ('seq' in fact && fact.seq === session.seq);
    if (isWhole || tries > shell.limits.maxRedecisions) return { fact, session };
  }
}

function factFor(purpose: Purpose, id: SessionId, who: Principal, shell: Shell) {
  if (purpose === 'read') return lookAtSession(id, who, shell);
  return purpose === 'look' ? lookWithTimers(id, who, shell) : fetchSession(id, who, null, shell);
}

async function lookWithTimers(id: SessionId, who: Principal, shell: Shell) {
  const fact = await lookAtSession(id, who, shell);
  // Timers fire only for a caller that may see the session.
  if (!('found' in fact) || !fact.found || fact.step === null || fact.step.drift !== null) return fact;
  const fired = await fireDue(id, shell);
  return fired === null || (fired.seq === fact.seq && fired.state === fact.state)
    ? fact
    : lookAtSession(id, who, shell);
}

/**
 * The session whose first step used this key. `name`: its workflow; if empty, any. Calls outside workflows do not
 * count.
 */
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

export async function openPlainSession(who: Principal, ceiling: Reach | null, shell: Shell) {
  const opened = await openSession(who, false, shell, ceiling);
  if ('fault' in opened) return sayFault('open_session', null, opened.fault, shell) satisfies ErrorReply;
  const { id, seq } = opened;
  const next = nextActions(shell, { ...who, session: id });
  return { session: id as string, seq, status: 'open' as const, ...offered(next) };
}

/** The state of a session and the actions that may come next. */
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

/** `fact` must be read from this `session`, so that state and next actions are of one moment. */
export function sessionView(session: Session, fact: StepFact, ttlMs: number | null = null): SessionView {
  const open = session.state === 'open';
  const next = open ? nextOfStep(fact) : [];
  return {
    session: session.id,
    workflow: fact.workflow.name,
    seq: session.seq,
    status: open && standingOf(fact).done ? 'done' : session.state,
    state: stateOf(fact),
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
