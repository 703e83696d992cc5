/**
 * Reads a session into the fact that the gates use, and opens plain sessions. For a workflow session, due timers fire
 * first, then a declared migration runs if the workflow changed.
 */
import type { CallId, Principal, SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { SessionFact } from '../../core/gates/facts.ts';
import type { Reach } from '../../core/policy/policy.ts';
import { withCeiling } from '../../core/policy/session-ceiling.ts';
import type { Session, StoreFault } from '../../ports/store.ts';
import { commit } from '../upkeep/commit.ts';
import type { ApprovalAsker } from '../approval/fetch-approval.ts';
import { migrateIfChanged, readAhead } from './drift.ts';
import { readStep } from './position.ts';
import type { Shell } from '../shell.ts';
import { fireDue } from './session-upkeep.ts';
import { bare } from '../ending/transition.ts';
import { awaitFreeTurn } from './turn.ts';

/** Why a session could not be opened. */
export interface Unopened {
  readonly fault: StoreFault;
  readonly message: string;
}

/**
 * The call that asks for the session: a step waits until no other has the turn, unless `takenBy` says that waiting is
 * over.
 */
export interface Asking {
  readonly call: CallId;
  readonly takenBy: CallId | null;
  /** The longest wait for the turn. */
  readonly waitsMs: number;
  readonly approval: ApprovalAsker;
}

export async function fetchSession(
  handle: SessionId | null,
  who: Principal,
  asking: Asking | null,
  shell: Shell,
): Promise<SessionFact | Unopened> {
  if (handle === null) return standingSession(who, shell);
  return readFact(handle, who, shell, (found) => workflowFact(found, asking, shell));
}

/** Reads only: no timer fires, no migration runs, no session is opened. */
export async function lookAtSession(
  handle: SessionId | null,
  who: Principal,
  shell: Shell,
): Promise<SessionFact | Unopened> {
  if (handle !== null) return readFact(handle, who, shell, (found) => readOnlyFact(found, shell));
  const found = await shell.ports.store.standingSession(who.tenant, who.agent);
  const id = found?.id ?? ('ses_not_opened_yet' as SessionId);
  return { found: true, id, state: 'open', reason: null, seq: found?.seq ?? 0, step: null };
}

async function readFact(
  handle: SessionId,
  who: Principal,
  shell: Shell,
  ofWorkflow: (found: Session) => Promise<SessionFact | Unopened>,
): Promise<SessionFact | Unopened> {
  const found = await shell.ports.store.session(handle);
  if (found === null) return { found: false, why: isOfAnotherStore(handle, shell) ? 'elsewhere' : 'unknown' };
  if (found.tenant !== who.tenant) return { found: false, why: 'unknown' };
  // To others a handle reveals only that they cannot resume this workflow.
  if (found.agent !== who.agent) return { found: false, why: found.workflow === null ? 'unknown' : 'foreign' };
  if (found.workflow === null) return plainFact(found);
  return shell.workflows.has(found.workflow.name) ? ofWorkflow(found) : { found: false, why: 'unserved' };
}

async function readOnlyFact(session: Session, shell: Shell): Promise<SessionFact> {
  const step = await readAhead(session, shell);
  const reason = session.workflow?.reason ?? null;
  return { found: true, id: session.id, state: session.state, reason, seq: session.seq, step };
}

async function workflowFact(found: Session, asking: Asking | null, shell: Shell): Promise<SessionFact | Unopened> {
  let takenBy = asking?.takenBy ?? null;
  if (takenBy === null && asking !== null && found.state === 'open')
    takenBy = await awaitFreeTurn(found.id, asking.call, asking.waitsMs, shell);
  const fired = await fireDue(found.id, shell);
  if (fired === null) return { found: false, why: 'unknown' };
  const pinned = await migrateIfChanged(fired, shell);
  if ('fault' in pinned) return { fault: pinned.fault, message: pinned.message };
  const { drift } = pinned;
  // Its timers could not fire while it was pinned to an older version; those that are due fire now.
  const migrated = pinned.session !== fired && drift === null;
  const session = (migrated ? await fireDue(found.id, shell) : null) ?? pinned.session;
  const step = await readStep(session, takenBy, drift, shell);
  const reason = session.workflow?.reason ?? null;
  return { found: true, id: session.id, state: session.state, reason, seq: session.seq, step };
}

function plainFact({ id, state, seq }: Session): SessionFact {
  // Plain sessions are never closed for lack of use or room: one that is closed was completed.
  const reason = state === 'closed' ? 'completed' : null;
  return { found: true, id, state, reason, seq, step: null };
}

function isOfAnotherStore(handle: string, { storeTag }: Shell): boolean {
  const tag = /^ses_([0-9a-f]{8})_/.exec(handle)?.[1];
  return tag !== undefined && tag !== storeTag;
}

/** Agents whose standing session is remembered; for others the store is read. */
const maxStanding = 4_096;

/** The agent's own session for calls that name none; opened on first use, found again after a restart. */
async function standingSession(who: Principal, shell: Shell): Promise<SessionFact | Unopened> {
  const { store } = shell.ports;
  // JSON, because names may hold any character that could separate them.
  const name = JSON.stringify([who.tenant, who.agent]);
  const remembered = shell.live.standing.get(name);
  const found =
    remembered === undefined ? await store.standingSession(who.tenant, who.agent) : await store.session(remembered);
  if (found !== null && found.standing && found.state === 'open') {
    remember(name, found.id, shell);
    return plainFact(found);
  }
  const opened = await openSession(who, true, shell);
  if ('fault' in opened) return opened;
  remember(name, opened.id, shell);
  return plainFact(opened);
}

function remember(name: string, id: SessionId, { live: { standing } }: Shell): void {
  if (standing.size >= maxStanding && !standing.has(name)) standing.clear();
  standing.set(name, id);
}

/** `ceiling`: the most that its calls may do; null if only policy limits them. */
export async function openSession(
  who: Principal,
  standing: boolean,
  shell: Shell,
  ceiling: Reach | null = null,
): Promise<Session | Unopened> {
  const draft = bare(shell);
  const id = withCeiling(shell.ports.ids.random('ses_'), ceiling) as SessionId;
  const session: Session = {
    id,
    ...who,
    standing,
    state: 'open',
    seq: 0,
    entries: 0,
    openedAtMs: draft.atMs,
    usedAtMs: draft.atMs,
    workflow: null,
  };
  const body = canonicalText({ tenant: who.tenant, agent: who.agent, standing });
  const result = await commit(
    {
      ...draft,
      session: { kind: 'open', session, snapshot: null, fences: [] },
      records: [{ kind: 'session_opened', call: null, session: id, body, payloads: [] }],
    },
    shell,
  );
  if (result.kind === 'committed') return session;
  if (result.kind === 'unavailable') return { fault: result.fault, message: result.message };
  // Another process opened the agent's standing session first: use that one.
  const theirs = await shell.ports.store.standingSession(who.tenant, who.agent);
  return theirs ?? { fault: 'overloaded', message: 'the standing session was opened and closed at once; ask again' };
}
