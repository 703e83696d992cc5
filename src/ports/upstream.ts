/** The tool behind the gateway. It may never answer: the shell limits the wait. */
import type { CallId, SessionId } from '../core/call/call.ts';
import type { EgressList } from '../core/egress/egress-list.ts';
import type { CredentialHandle } from './credentials.ts';
import type { StageEnd, StageJournal } from './stage.ts';
import type { Json, JsonObject } from '../core/values/json.ts';
import type { Reply } from '../core/call/reply.ts';
import type { ItemFailure } from '../core/partial/partial-rule.ts';
import type { StreamedText } from '../core/model/protocol.ts';
import type { Effect, ErrorCode, ErrorKind } from '../core/taxonomy.ts';

export type { ItemFailure };

/** What a body may ask of the agent's own client. Rejects if the client cannot, the user declines, or the wait ends. */
export interface AgentClient {
  /** A question to the client's user; `schema` describes the form. */
  elicit(message: string, schema: JsonObject, signal: AbortSignal): Promise<Elicited>;
  /** A completion by the client's model; the request and the answer as MCP writes them. */
  sample(request: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}

export interface Elicited {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content: JsonObject | null;
}

/** One event of a streamed answer, as it is written on the wire. */
export interface StreamEvent {
  /** Null for an event without a name. */
  readonly event: string | null;
  readonly data: string;
  /** What it adds to texts that come in several events (`StreamReader.textOf`); absent: nothing. */
  readonly texts?: readonly StreamedText[];
}

/** Whoever asked reads the answer while it arrives. */
export interface Relay {
  /** True when more may be sent; false if nobody reads any more. Resolves as fast as the reader reads; never rejects. */
  send(event: StreamEvent): Promise<boolean>;
}

/** All that a tool may know about the attempt it is. */
export interface Attempt {
  readonly callId: CallId;
  readonly attempt: number;
  readonly tool: string;
  readonly args: Json;
  /** What the upstream deduplicates by; absent: the id of the call. */
  readonly key?: string;
  readonly session: SessionId | null;
  readonly tenant: string;
  readonly agent: string;
  readonly deadlineAtMs: number;
  readonly timeoutMs: number;
  /** The context of the workflow in which this is a step; null elsewhere. */
  readonly workflowContext: JsonObject | null;
  /** Who can be asked while the body runs; null if nobody. */
  readonly client: AgentClient | null;
  /**
   * Where a streamed answer goes while it arrives; absent, it is only returned when it is whole.
   * INVARIANT: an attempt of which anything was sent there is never followed by another.
   */
  readonly relay?: Relay | undefined;
  /**
   * Calls another tool of the gateway for the same agent; it passes every gate like any call. With a name it is the same
   * call, whichever attempt makes it.
   */
  readonly callTool: (tool: string, args: Json, name?: string) => Promise<NestedReply>;
  /** Where a stage is kept on record; absent for anything else. */
  readonly stage?: StageJournal;
  /** Which hosts a connection for this attempt may reach; null, or absent: any with a public address. */
  readonly egress?: EgressList | null | undefined;
  /** What goes with the request, beside the arguments; absent: nothing. */
  readonly credentials?: readonly CredentialHandle[];
  /** Records that the body ignored an error on purpose. Never throws. Absent where nothing is recorded. */
  readonly suppressed?: ((told: SuppressedByBody) => void) | undefined;
}

export interface SuppressedByBody {
  readonly reason: string;
  /** The error with its causes, for the audit; null if none was given. */
  readonly error: string | null;
}

/** What a body hears of a tool that it called, and what is known of that call's effect. */
export interface NestedReply {
  readonly reply: Reply;
  readonly effect: Effect;
}

/**
 * `effect` is set when the tool itself proves it, or when the kind proves less here than the table says; otherwise the
 * table decides.
 */
export interface Failure {
  readonly kind: ErrorKind;
  readonly subject: string | null;
  readonly errorType: string;
  readonly message: string;
  readonly effect: Effect | null;
  readonly retryAfterSeconds: number | null;
  /** The code an author named; null: the table's. */
  readonly code: ErrorCode | null;
  /** It is the failure of another call, which had its own recovery. */
  readonly relayed?: true;
  /** The cause chain, for the audit only. */
  readonly cause: string | null;
  /** Of a metered tool, what it used all the same: null is nothing; absent if nobody knows. */
  readonly used?: JsonObject | null;
  /** What had arrived of a streamed answer before it broke, for the audit. */
  readonly partial?: Json;
  /**
   * What the tool gave with it, in the shape of a result: masked like one, and then told anew. Absent if it gave
   * nothing of the sort.
   */
  readonly given?: GivenWithFailure;
  /** Of a stage: what its end does to the workflow. */
  readonly stage?: StageEnd;
}

/** A failure of which nothing is known but its kind, its message, and `more`. */
export function makeFailure(kind: ErrorKind, message: string, more: Partial<Failure> = {}): Failure {
  return {
    kind,
    subject: null,
    errorType: 'Error',
    message,
    effect: null,
    retryAfterSeconds: null,
    code: null,
    cause: null,
    ...more,
  };
}

export interface GivenWithFailure {
  readonly output: Json;
  /**
   * The same without its words, if it has not the form of a result: paths into results say nothing about it, so it is
   * masked as a whole.
   */
  readonly withoutWords?: Json;
  tell(output: Json): Pick<Failure, 'message' | 'cause'>;
}

export type UpstreamResult =
  | {
      readonly kind: 'returned';
      readonly output: unknown;
      /** The items that failed, if the tool says so itself. */
      readonly errors: readonly ItemFailure[];
      /** How many items there were; absent if the tool does not say. */
      readonly of?: number;
      /** The transport says that a part of it may have failed (HTTP status 207). */
      readonly mixed?: true;
      readonly stage?: StageEnd;
    }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** The same for every attempt that sends the same. */
export const keyOf = ({ key, callId }: Pick<Attempt, 'key' | 'callId'>): string => key ?? callId;

/** By which reason a signal is aborted when the call's time is over; any other means that somebody cancelled it. */
export const isTimeout = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError';

/** Hears, at most once, what became of an attempt after `invoke` had said that it was stopped. */
export type HearLate = (result: UpstreamResult) => void;

export interface Upstream {
  /** Never rejects. Aborting the signal asks the tool to stop; it need not obey. */
  invoke(attempt: Attempt, signal: AbortSignal, late?: HearLate): Promise<UpstreamResult>;
}
