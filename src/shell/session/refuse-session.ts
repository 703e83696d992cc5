/**
 * Builds the refusals for sessions that cannot be opened, changed or found. They are no calls, so nothing is recorded.
 */
import { refused } from '../../core/call/answer.ts';
import type { CallId, Request, SessionId } from '../../core/call/call.ts';
import { preview } from '../../core/values/canonical.ts';
import type { SessionFact } from '../../core/gates/facts.ts';
import { invalidInput } from '../../core/gates/invalid-input.ts';
import { session as sessionGate } from '../../core/gates/session.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { nextActions, type StepFact } from '../../core/workflow/step.ts';
import type { Session } from '../../ports/store.ts';
import { firstFacts, type Shell } from '../shell.ts';
import { sayFault } from '../call/record-refusal.ts';
import type { Opened } from './workflow-sessions.ts';

export function refuseSession(fact: SessionFact, id: SessionId, requested: string, shell: Shell): ErrorReply {
  const request = { session: id, turn: null, expectedSeq: null, tool: requested } as unknown as Request;
  const answer = sessionGate.check(request, { ...firstFacts(anybody, shell), session: fact }, []);
  if (answer.kind !== 'refuse') throw new Error('bug: a session that is not there passed its gate');
  // A session that was not found, or belongs to somebody else, is not named in the reply.
  return say(requested, fact.found ? id : null, answer.refusal, shell);
}

/** Steps take seconds, timers any time: asking more often would not help. */
const fullForSeconds = 30;

/** The session gate does not look at the principal. */
const anybody = { tenant: '', agent: '' };

function say(
  requested: string,
  session: SessionId | null,
  refusal: Refusal,
  shell: Shell,
  nextActions: readonly string[] = [],
): ErrorReply {
  const callId = shell.ports.ids.ordered('call_', shell.ports.clock.nowMs()) as CallId;
  return refused({ requested, callId, session, nextActions }, refusal);
}

export function refuseOpening(
  requested: string,
  opened: Exclude<Opened, { kind: 'opened' }>,
  shell: Shell,
): ErrorReply {
  switch (opened.kind) {
    case 'full':
      return refuseFull(requested, shell);
    case 'unavailable':
      return sayFault(requested, null, opened.fault, shell);
    case 'broken':
      return refuseBroken(requested, opened.problem, shell);
    default:
      return opened satisfies never;
  }
}

function refuseFull(requested: string, shell: Shell): ErrorReply {
  const use = `a step runs in them, ${requested === 'fork_session' ? 'a timer waits, or it is the one to be forked' : 'or a timer waits'}`;
  const refusal: Refusal = {
    error: 'session_error',
    class: 'Workflow',
    code: 'Busy',
    message: `all ${shell.limits.maxSessions} sessions are in use: ${use}. Go on in one of yours, or ask again later.`,
    resolution: { type: 'retry_after', retry_after_seconds: fullForSeconds },
  };
  return say(requested, null, refusal, shell);
}

export function refuseBroken(requested: string, problem: string, shell: Shell): ErrorReply {
  const refusal: Refusal = {
    error: 'session_error',
    class: 'Workflow',
    code: 'SessionStopped',
    message: `the workflow cannot go on from there: ${problem}`,
    resolution: { type: 'replan', reason: 'tell the person who wrote the workflow' },
  };
  return say(requested, null, refusal, shell);
}

export function refuseInFlight(
  requested: string,
  running: CallId,
  fact: StepFact,
  session: Session,
  shell: Shell,
): ErrorReply {
  const refusal: Refusal = {
    error: 'action_in_flight',
    class: 'Workflow',
    code: 'ActionInFlight',
    message: 'a step of the session is running; ask again when it has ended.',
    resolution: { type: 'retry_after', retry_after_seconds: 1 },
    in_flight_call_id: running,
  };
  return say(requested, session.id, refusal, shell, nextActions(fact));
}

/** Another request changed the session first on every try, and no step is running. */
export function refuseMovedOn(requested: string, fact: StepFact, session: Session, shell: Shell): ErrorReply {
  const refusal: Refusal = {
    error: 'session_error',
    class: 'Workflow',
    code: 'StaleSequence',
    message: `the session moved on each time that it was to be changed, and is at ${session.seq} now; look again, then ask again.`,
    resolution: { type: 'replan', reason: `the session moved on to ${session.seq}` },
  };
  return say(requested, session.id, refusal, shell, nextActions(fact));
}

/** The state to fork from is not kept. `first` is the first step that can be forked. */
export function refuseNotKept(
  seq: number | null,
  first: number | null,
  session: Session,
  fact: StepFact,
  shell: Shell,
): ErrorReply {
  const last = session.seq;
  const pinnedLater = (session.workflow?.pinnedAtSeq ?? 0) > 0;
  const which = pinnedLater ? 'a step that is kept and was taken since the workflow changed' : 'a step that is kept';
  const expected = `${which}, from ${first ?? last} to ${last}`;
  // Untyped callers may pass anything, and not every value can be written as JSON.
  const got = seq === null || Number.isSafeInteger(seq) ? seq : preview(seq);
  const refusal = invalidInput('fork_session', [{ path: '/seq', expected, got }]);
  return say('fork_session', session.id, refusal, shell, nextActions(fact));
}

export function refuseUnknownWorkflow(name: string, shell: Shell): ErrorReply {
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
