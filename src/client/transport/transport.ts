/**
 * What every transport offers, and how an attempt can end. A transport never interprets a status and never retries:
 * the client does.
 */

/** The call as it is sent, with the names of the wire. */
export interface WireCall {
  readonly tool: string;
  readonly args: unknown;
  /** The same for every attempt to deliver this call, so that the gateway runs it once. */
  readonly key: string;
  readonly session?: string;
  readonly turn?: string;
  readonly expected_seq?: number;
  readonly model?: string;
  readonly wait_seconds?: number;
  readonly evidence_refs?: readonly string[];
  readonly deadline_seconds?: number;
}

/** One call, a turn of a session, or the whole session. */
export type CancelTarget = { readonly call: string } | { readonly session: string; readonly turn?: string };

/** How one attempt ended. Only `not_sent` is a proof that nothing can have happened. */
export type Answer =
  | { readonly kind: 'answered'; readonly body: unknown }
  | { readonly kind: 'not_sent'; readonly reason: string; readonly cause?: unknown }
  | { readonly kind: 'lost'; readonly reason: string; readonly cause?: unknown }
  | { readonly kind: 'aborted'; readonly wasSent: boolean };

/** Waits, or ends early when the signal is aborted. Never rejects. */
export type Pause = (seconds: number, signal?: AbortSignal) => Promise<void>;

/** The default: the timer of the platform, be it a browser, an edge worker or Node. */
export const pause: Pause = (seconds, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1_000);
    signal?.addEventListener('abort', end);
  });

export interface Transport {
  /** One attempt. Whatever happens in the world is an answer; a rejection is a bug, and reaches the caller as it is. */
  send(call: WireCall, signal?: AbortSignal): Promise<Answer>;
  /** What became of a call that was pending. */
  look(callId: string, signal?: AbortSignal): Promise<Answer>;
  /** An approval of this agent: as it is, or, with `waitSeconds`, as soon as it is no longer pending. */
  readonly approval?: (approvalId: string, waitSeconds: number, signal?: AbortSignal) => Promise<Answer>;
  /** The agent says that it is done with this session, or with its standing one. */
  readonly complete?: (session: string | undefined, signal?: AbortSignal) => Promise<Answer>;
  /** Cancels a call, a turn or a session of this agent. */
  readonly cancel?: (target: CancelTarget, signal?: AbortSignal) => Promise<Answer>;
  /** Undoes the call of this token. */
  readonly reverse?: (token: string, signal?: AbortSignal) => Promise<Answer>;
  /** Undoes the calls of this session, and closes it. */
  readonly rollBack?: (session: string, signal?: AbortSignal) => Promise<Answer>;
  /** For a call without `wait_seconds`: how long the gateway waits before it replies `pending`. */
  readonly defaultWaitSeconds?: number;
  /** True once the gateway is closed for good. */
  readonly isClosed?: () => boolean;
  /** A clock of its own, for tests that must not sleep. */
  readonly pause?: Pause;
}
