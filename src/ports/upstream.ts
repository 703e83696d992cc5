/** The tool behind the gateway. Silence is not an answer: the shell ends the wait by itself. */
import type { CallId, SessionId } from '../core/call.ts';
import type { Json } from '../core/json.ts';
import type { Effect, ErrorKind } from '../core/taxonomy.ts';

/** All that a tool may know about the attempt it is. */
export interface Attempt {
  readonly callId: CallId;
  readonly attempt: number;
  readonly tool: string;
  readonly args: Json;
  readonly session: SessionId | null;
  readonly tenant: string;
  readonly agent: string;
  readonly deadlineAtMs: number;
  readonly timeoutMs: number;
}

export interface ItemFailure {
  readonly item: string | number;
  readonly kind: ErrorKind;
  readonly message: string;
}

/** `effect` is set only when the tool itself proves it; otherwise the table decides. */
export interface Failure {
  readonly kind: ErrorKind;
  readonly subject: string | null;
  readonly errorType: string;
  readonly message: string;
  readonly effect: Effect | null;
  readonly retryAfterSeconds: number | null;
  /** The cause chain, for the audit only. */
  readonly cause: string | null;
}

export type UpstreamResult =
  | { readonly kind: 'returned'; readonly output: unknown; readonly errors: readonly ItemFailure[] }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface Upstream {
  /** Never rejects. Aborting the signal asks the tool to stop; it need not obey. */
  invoke(attempt: Attempt, signal: AbortSignal): Promise<UpstreamResult>;
}
