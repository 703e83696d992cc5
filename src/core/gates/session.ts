/** Gate 2: does the session exist for this agent, is it open, and is it where the caller believes it to be? */
import type { Gate, GateAnswer } from '../gate.ts';
import { pass } from '../gate.ts';
import type { Resolution } from '../taxonomy.ts';

export const session: Gate = {
  name: 'session',
  check(request, facts) {
    const fact = facts.session;
    if (fact === undefined) return { kind: 'need', fact: 'session' };
    if (!fact.found) return unknownSession(request.session);
    if (fact.state === 'cancelled') {
      const message = 'the session was cancelled; open a new one.';
      return cancelled('SessionCancelled', message, { type: 'replan', reason: message });
    }
    if (request.turn !== null) {
      if (facts.turnCancelled === undefined) return { kind: 'need', fact: 'turnCancelled' };
      const others = { type: 'choose_action', actions: [...facts.catalogue.keys()] } as const;
      if (facts.turnCancelled) return cancelled('TurnCancelled', `turn '${request.turn}' was cancelled.`, others);
    }
    if (request.expectedSeq !== null && request.expectedSeq !== fact.seq) return stale(request.expectedSeq, fact.seq);
    return pass;
  },
};

/** The same words for a foreign session as for none: a handle tells nothing to those who do not own it. */
function unknownSession(handle: string | null): GateAnswer {
  return {
    kind: 'refuse',
    refusal: {
      error: 'session_error',
      class: 'Session',
      code: 'UnknownSession',
      message: `session '${handle ?? ''}' is not known; open one, or leave \`session\` out.`,
      resolution: { type: 'fix_input', fields: ['session'] },
    },
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
  return {
    kind: 'refuse',
    refusal: {
      error: 'session_error',
      class: 'Workflow',
      code: 'StaleSequence',
      message: `expected_seq is ${expected}, but the session is at ${found}: something else happened in between.`,
      resolution: { type: 'replan', reason: `the session moved on to ${found}` },
    },
  };
}
