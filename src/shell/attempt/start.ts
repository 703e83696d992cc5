/**
 * The only place where a decision becomes an act: the intent is made durable, then the attempt is sent by the
 * incarnation that won it. Runs to the end whether or not anybody waits.
 * Path of a call: 5/7. Next: shell/ending/settle.ts.
 */
import { type CancelScope, pending } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import type { CommitResult, StoreFault } from '../../ports/store.ts';
import { onAbort } from '../call/requester.ts';
import { envelopeOf } from '../ending/ending.ts';
import { endUnrecorded, settleUnsent } from '../ending/settle.ts';
import type { CommitParts } from '../ending/transition.ts';
import type { Answer, Running, Shell } from '../shell.ts';
import { commit, keepForLater } from '../upkeep/commit.ts';
import { rememberBlobs } from '../upkeep/record-runtime.ts';
import { drive } from './drive.ts';
import { type Control, dispatch, stepOf, type Work } from './work.ts';

export type Started =
  | { readonly kind: 'running'; readonly running: Running }
  | {
      readonly kind: 'conflict';
      readonly result: Extract<CommitResult, { kind: 'conflict' }>;
      /** For an intent that is on record all the same, and was taken over: it was not sent. */
      readonly settleUnsent: () => Promise<Answer>;
    }
  | { readonly kind: 'unavailable'; readonly fault: StoreFault };

export interface Start {
  readonly call: Call;
  readonly events: readonly CallEvent[];
  readonly work: Work;
  readonly parts: CommitParts;
  /** Whoever aborts one of these while the intent is being recorded has nothing sent for them. */
  readonly leaves?: readonly AbortSignal[];
}

/** Makes the intent and the right to send durable in one commit, then sends without waiting for the end. */
export async function start({ call, events, work, parts, leaves = [] }: Start, shell: Shell): Promise<Started> {
  const control = createControl();
  const listening = leaves.map((signal) => onAbort(signal, () => control.cancel('ToolCancelled')));
  let finish: (answer: Answer) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const outcome = new Promise<Answer>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  // Ignored: whoever waits hears the error; a run that nobody waits for must not bring the process down.
  outcome.catch(() => undefined);
  const stop = new AbortController();
  const cancel = (scope: CancelScope) => {
    control.cancel(scope);
    stop.abort();
  };
  const running: Running = { call, outcome, cancel, stopped: stop.signal };
  // Registered before the commit, so that a cancellation of its session finds it at any moment. A call that waited for
  // its approval may have several who try: the place is the first one's, until one of them has won.
  if (!shell.live.running.has(call.id)) shell.live.running.set(call.id, running);
  // INVARIANT: who loses the call does not take the winner's place away.
  const forget = () => {
    if (shell.live.running.get(call.id) === running) shell.live.running.delete(call.id);
  };

  const submittedAt = shell.ports.clock.monotonicMs();
  const { dispatched, transition } = dispatch(call, events, work, parts, shell);
  let result: CommitResult;
  try {
    result = await commit(transition, shell);
  } catch (error) {
    forget();
    fail(error);
    throw error;
  } finally {
    for (const stopListening of listening) stopListening();
  }
  if (result.kind !== 'committed') {
    forget();
    // Whoever waits, to cancel it or because the key led here, must not wait for ever: the record will tell.
    finish({ reply: pending(envelopeOf(call, shell, stepOf(work)), 1), position: null });
    if (result.kind === 'conflict')
      return { kind: 'conflict', result, settleUnsent: () => settleUnsent(dispatched, work, shell) };
    if (result.fault === 'overloaded') return { kind: 'unavailable', fault: result.fault };
    // The intent may be on record all the same; nothing was sent, and the record shall say so once it can.
    // INVARIANT: a call that waited for its approval may be another asker's by now, who has sent it.
    const isOwn = call.state === '(none)';
    const late = async () => void (await settleUnsent(dispatched, work, shell));
    keepForLater(endUnrecorded(dispatched, work, shell), shell, isOwn ? late : null);
    return { kind: 'unavailable', fault: result.fault };
  }
  if (transition.blobs.length > 0) rememberBlobs(transition.blobs, shell);
  shell.live.running.set(call.id, running);
  drive(dispatched, work, submittedAt, control, shell).then(finish, fail).finally(forget);
  return { kind: 'running', running };
}

/** A cancellation may come before there is anything to stop; it is kept until there is. */
function createControl(): Control {
  let asked: CancelScope | null = null;
  let stop: ((scope: CancelScope) => void) | null = null;
  return {
    cancel: (scope) => {
      asked ??= scope;
      stop?.(scope);
    },
    scope: () => asked,
    onCancel: (stopNow) => {
      stop = stopNow;
      if (asked !== null) stopNow(asked);
    },
  };
}
