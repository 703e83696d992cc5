/** Gate 1: is the gateway ready to decide at all? Until it has recovered, it decides nothing. */
import { type Gate, pass } from '../gate.ts';

export const ready: Gate = {
  name: 'ready',
  check(_request, { readiness, inFlight }) {
    if (!readiness.ready) {
      const sentence = 'denied: daemon is initializing, retry in a moment';
      return {
        kind: 'refuse',
        refusal: {
          error: 'denied',
          class: 'Governance',
          code: 'DAEMON_NOT_READY',
          message: sentence,
          human_message: sentence,
          resolution: { type: 'retry_after', retry_after_seconds: readiness.retryAfterSeconds },
        },
      };
    }
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
};
