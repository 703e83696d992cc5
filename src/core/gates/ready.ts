/**
 * Gate 1: whether the gateway is ready. It refuses until recovery is done, once it closes, and at the limit of calls
 * under way.
 */
import type { Readiness } from './facts.ts';
import { type Gate, pass } from './gate.ts';
import type { Refusal } from '../call/refusal.ts';

type NotReady = Extract<Readiness, { ready: false }>;

/** The first text is part of the contract. A closing gateway needs another, or callers would wait for a start. */
const sentences: Readonly<Record<NotReady['doing'], string>> = {
  starting: 'denied: daemon is initializing, retry in a moment',
  recovering: 'denied: daemon is initializing, retry in a moment',
  closing: 'denied: daemon is closed, ask again once it is open',
};

export function notReady({ doing, retryAfterSeconds }: NotReady): Refusal {
  return {
    error: 'denied',
    class: 'Governance',
    code: 'DAEMON_NOT_READY',
    message: sentences[doing],
    human_message: sentences[doing],
    resolution: { type: 'retry_after', retry_after_seconds: retryAfterSeconds },
  };
}

/** The retry time of a closing gateway: about as long as a start takes. */
export const whileClosing: NotReady = { ready: false, doing: 'closing', retryAfterSeconds: 2 };

export const ready: Gate = {
  name: 'ready',
  check(_request, { readiness, inFlight }) {
    if (!readiness.ready) return { kind: 'refuse', refusal: notReady(readiness) };
    if (inFlight.now >= inFlight.max) {
      return {
        kind: 'refuse',
        refusal: {
          error: 'session_error',
          class: 'Workflow',
          code: 'Busy',
          message: `${inFlight.max} calls are under way, which is the limit; ask again in a moment.`,
          resolution: { type: 'retry_after', retry_after_seconds: 1 },
        },
      };
    }
    return pass;
  },
  saw: (_request, { readiness, inFlight }) => ({
    ready: readiness.ready,
    in_flight: inFlight.now,
    at_most: inFlight.max,
  }),
};
