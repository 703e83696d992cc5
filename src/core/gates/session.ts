/** Gate 2: whether the session exists for this agent, is open, and is at the sequence that the caller expects. */
import type { Request } from '../call/call.ts';
import type { Facts, SessionFact } from './facts.ts';
import { type Gate, type GateAnswer, pass } from './gate.ts';
import { listedTools } from '../policy/listed-tools.ts';
import { ceilingOf } from '../policy/session-ceiling.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Resolution } from '../taxonomy.ts';
import { unreachable } from '../values/unreachable.ts';
import { nextActions, type StepFact } from '../workflow/step.ts';

export const session: Gate = {
  name: 'session',
  check(request, facts) {
    const fact = facts.session;
    if (fact === undefined) return { kind: 'need', fact: 'session' };
    if (!fact.found) return unknownSession(request.session, fact.why);
    const resting = stateOf(fact);
    if (resting !== null) return resting;
    if (request.turn !== null) {
      if (facts.turnCancelled === undefined) return { kind: 'need', fact: 'turnCancelled' };
      if (facts.turnCancelled) return cancelled('TurnCancelled', endOfTurn(request.turn, facts), others(fact, facts));
    }
    const busy = fact.step === null ? null : blockedStep(request, fact.step, facts);
    if (busy !== null) return busy;
    if (request.expectedSeq !== null && request.expectedSeq !== fact.seq) return stale(request.expectedSeq, fact.seq);
    return pass;
  },
  saw: (_request, { session: fact }) => (fact?.found ? { state: fact.state, seq: fact.seq } : { session: 'unknown' }),
};

/** A failure that was given up ends its turn too; then the words are those for a person. */
function endOfTurn(turn: string, { turnEnd = null }: Facts): string {
  return turnEnd === null ? `turn '${turn}' was cancelled.` : `turn '${turn}' has ended: ${turnEnd}`;
}

/**
 * What is next in a workflow, and otherwise what is listed to the agent: a tool that it may never use is not mentioned.
 */
function others({ id, step }: Extract<SessionFact, { found: true }>, { catalogue, policy }: Facts): Resolution {
  const listed = step === null ? [...listedTools(catalogue, policy, ceilingOf(id)).keys()] : nextActions(step);
  return { type: 'choose_action', actions: listed };
}

/** Null if the session is open. */
function stateOf(fact: Extract<SessionFact, { found: true }>): GateAnswer | null {
  switch (fact.state) {
    case 'open':
      return null;
    case 'cancelled': {
      const message = 'the session was cancelled; open a new one.';
      return cancelled('SessionCancelled', message, { type: 'replan', reason: message });
    }
    case 'closed':
      return no('Session', 'UnknownSession', `the session was closed (${fact.reason ?? 'given up'}); open a new one.`, {
        type: 'fix_input',
        fields: ['session'],
      });
    case 'stopped':
      return stopped(fact.reason);
    default:
      return unreachable(fact.state);
  }
}

function stopped(reason: string | null): GateAnswer {
  if (reason === 'refusal_limit') {
    const message = 'the session was stopped after too many refusals in a row; reset it to go on.';
    return no('Workflow', 'RefusalLimit', message, { type: 'replan', reason: 'reset the session, or open a new one' });
  }
  const what = reason === 'timer_failed' ? "a timer's time came" : 'a step took effect';
  const message = `the session was stopped for repair: ${what}, and its state could not follow; reset or fork it.`;
  return no('Workflow', 'SessionStopped', message, { type: 'replan', reason: 'reset or fork the session' });
}

/** The manifest drifted, another step has the turn, or a body of the same action still runs. */
function blockedStep(request: Request, step: StepFact, facts: Facts): GateAnswer | null {
  if (step.drift !== null) {
    const message = `workflow '${step.workflow.name}' changed since the session began: ${step.drift.join('; ')}.`;
    return no('Session', 'ManifestDrift', message, {
      type: 'replan',
      reason: 'open a new session, or have the change accepted for this one',
    });
  }
  if (step.takenBy !== null) return inFlight(step.takenBy, `call ${step.takenBy} of this session is still running`);
  const action = step.workflow.actions.get(request.tool);
  if (action === undefined || action.overlap || !facts.catalogue.has(request.tool)) return null;
  const running = step.running.find((body) => body.action === request.tool);
  if (running === undefined) return null;
  return inFlight(running.callId, `'${request.tool}' timed out or was stopped, and its body still runs`);
}

function inFlight(callId: string, what: string): GateAnswer {
  return {
    kind: 'refuse',
    refusal: {
      error: 'action_in_flight',
      class: 'Workflow',
      code: 'ActionInFlight',
      message: `${what}; ask again in a moment.`,
      resolution: { type: 'retry_after', retry_after_seconds: 1 },
      in_flight_call_id: callId,
    },
  };
}

function unknownSession(handle: string | null, why: Extract<SessionFact, { found: false }>['why']): GateAnswer {
  if (why === 'unknown' || why === 'plain')
    return no('Session', 'UnknownSession', `session '${handle ?? ''}' ${absences[why](handle ?? '')}`, {
      type: 'fix_input',
      fields: ['session'],
    });
  return no('Session', 'ResumeMismatch', `session '${handle ?? ''}' ${mismatches[why]}; open one of your own.`, {
    type: 'replan',
    reason: 'open a session of your own',
  });
}

const absences = {
  unknown: () => 'is not known; open one, or leave `session` out.',
  plain: (handle: string) =>
    `has no workflow, and only workflow sessions have a state and steps; GET /v1/calls?session=${handle} lists its calls.`,
} as const;

const mismatches = {
  foreign: 'belongs to another agent',
  elsewhere: 'was opened in another store',
  unserved: 'is of a workflow that is not served here',
  unnamed: 'is of another workflow than the step names',
} as const;

type SessionError = Extract<Refusal, { error: 'session_error' }>;

function no(
  kind: SessionError['class'],
  code: SessionError['code'],
  message: string,
  resolution: Resolution,
): GateAnswer {
  return {
    kind: 'refuse',
    refusal: { error: 'session_error', class: kind, code, message, resolution } as SessionError,
  };
}

function cancelled(code: 'SessionCancelled' | 'TurnCancelled', message: string, resolution: Resolution): GateAnswer {
  return {
    kind: 'refuse',
    refusal: {
      error: 'cancelled',
      class: 'Cancellation',
      code,
      message,
      resolution,
    },
  };
}

function stale(expected: number, found: number): GateAnswer {
  return no(
    'Workflow',
    'StaleSequence',
    `expected_seq is ${expected}, but the session is at ${found}: something else happened in between.`,
    { type: 'replan', reason: `the session moved on to ${found}` },
  );
}
