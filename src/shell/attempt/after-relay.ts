/**
 * What an attempt's end means once a part of its answer was relayed: a failure is then a broken stream, whatever else
 * it is, so that nobody reads a part of one answer after a part of another.
 */
import { unreachable } from '../../core/values/unreachable.ts';
import { type Attempt, makeFailure } from '../../ports/upstream.ts';
import type { AttemptEnd } from './send-attempt.ts';

export interface WatchedRelay {
  readonly attempt: Attempt;
  readonly hasSent: () => boolean;
}

export function watchRelay(attempt: Attempt): WatchedRelay {
  const { relay } = attempt;
  if (relay === undefined) return { attempt, hasSent: () => false };
  let hasSent = false;
  const watched: Attempt['relay'] = {
    send(event) {
      hasSent = true;
      return relay.send(event);
    },
  };
  return { attempt: { ...attempt, relay: watched }, hasSent: () => hasSent };
}

const broken = { subject: 'stream_broken', errorType: 'StreamBroken' } as const;

/** INVARIANT: an attempt of which anything was relayed is never followed by another; `stream_broken` never is. */
export function afterRelay(end: AttemptEnd, hasSent: boolean, timeoutMs: number): AttemptEnd {
  if (!hasSent) return end;
  switch (end.kind) {
    case 'came_back': {
      if (end.result.kind === 'returned' || end.result.failure.subject === broken.subject) return end;
      const failure = { ...end.result.failure, kind: '5xx', subject: broken.subject, code: null } as const;
      return { kind: 'came_back', result: { kind: 'failed', failure } };
    }
    case 'timed_out': {
      const message = `the answer had begun and was not whole within ${timeoutMs / 1_000} s`;
      return { kind: 'came_back', result: { kind: 'failed', failure: makeFailure('5xx', message, broken) } };
    }
    case 'cancelled':
      return end;
    default:
      return unreachable(end);
  }
}
