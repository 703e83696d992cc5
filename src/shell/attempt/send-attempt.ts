/**
 * Sends one attempt and waits for its end: a result, a timeout, or a cancellation, whichever comes first. A body that
 * comes back later is an orphan. Time is measured by the monotonic clock.
 */
import type { CancelScope } from '../../core/call/answer.ts';
import { type Attempt, makeFailure, type UpstreamResult } from '../../ports/upstream.ts';
import type { Shell } from '../shell.ts';

export type AttemptEnd =
  | { readonly kind: 'came_back'; readonly result: UpstreamResult }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'cancelled'; readonly scope: CancelScope };

export interface Sending {
  readonly end: Promise<AttemptEnd>;
  readonly cancel: (scope: CancelScope) => void;
  /** Whether the body has come back by now. */
  readonly isBack: () => boolean;
}

/**
 * `onLate` hears of a body that came back after its end was settled, and of the answer of a server that had been given
 * up.
 */
export function sendAttempt(attempt: Attempt, onLate: (result: UpstreamResult) => void, shell: Shell): Sending {
  const { clock, upstream } = shell.ports;
  const controller = new AbortController();
  const startedAt = clock.monotonicMs();
  let settle: (end: AttemptEnd) => void = () => undefined;
  let settled = false;
  let back = false;
  const end = new Promise<AttemptEnd>((resolve) => {
    settle = resolve;
  });
  const finish = (how: AttemptEnd) => {
    if (settled) return;
    settled = true;
    takeBack();
    if (how.kind !== 'came_back') {
      shell.live.orphans += 1;
      controller.abort(
        how.kind === 'timed_out' ? new TimedOut('the call timed out') : new Error('the call was cancelled'),
      );
    }
    settle(how);
  };
  const takeBack = clock.schedule(attempt.timeoutMs, () => finish({ kind: 'timed_out' }));
  const cameBack = (result: UpstreamResult) => {
    // A body that blocked the thread beats the timer to the finish: the clock decides, not the order of callbacks.
    if (!settled && clock.monotonicMs() - startedAt > attempt.timeoutMs) finish({ kind: 'timed_out' });
    if (!settled) return finish({ kind: 'came_back', result });
    shell.live.orphans -= 1;
    back = true;
    onLate(result);
  };
  void upstream
    .invoke(attempt, controller.signal, onLate)
    .then(cameBack, (error: unknown) => cameBack(rejected(error)));
  return { end, cancel: (scope) => finish({ kind: 'cancelled', scope }), isBack: () => back };
}

class TimedOut extends Error {
  override name = 'TimeoutError';
}

/** An upstream never rejects; one that does has a bug, and its call still gets an answer. */
function rejected(error: unknown): UpstreamResult {
  const message = error instanceof Error ? error.message : 'the upstream adapter rejected';
  const cause = error instanceof Error ? (error.stack ?? null) : null;
  return { kind: 'failed', failure: makeFailure('unknown', message, { cause }) };
}
