/** Stages as authors write them: types and the error that a call of `act` throws. */
import type { ErrorReply, PendingReply, SuccessReply } from '../../../core/call/reply.ts';
import type { StepError } from '../../../core/workflow/step-error.ts';
import type { Effect, ErrorCode, ErrorName, Resolution, Verdict } from '../../../core/taxonomy.ts';

type Awaitable<Value> = Value | Promise<Value>;

/** What every phase of a stage gets. All of it is frozen. */
export interface StageContext<Inputs, Context> {
  readonly inputs: Inputs;
  /** The context of the session with what setup has written. */
  readonly context: Readonly<Context>;
  /** From 1; a retry of the stage is the next attempt. */
  readonly attempt: number;
  /** From 1 in each attempt; `next` may enter act again. */
  readonly pass: number;
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal;
  readonly call_id: string;
  readonly session: string | null;
  readonly agent: string;
  readonly tenant: string;
}

export interface ActContext<Inputs, Context> extends StageContext<Inputs, Context> {
  /**
   * Calls a tool of the gateway for the same agent, through every gate. Resolves to the success; throws a
   * StageCallError for everything else. After a crash it gives what the same call gave before.
   */
  readonly call: (tool: string, args?: unknown) => Promise<SuccessReply>;
}

/** What went wrong with an attempt, as `next` and error edges see it. */
export type StageError = StepError;

export type StageOutcome<Acted, Result> =
  | { readonly outcome: 'succeeded'; readonly acted: Acted; readonly result: Result; readonly error: null }
  | { readonly outcome: 'failed'; readonly acted: null; readonly result: null; readonly error: StageError };

/** Nothing: the usual edge. `again`: act once more. `event`: the edge `<action>.<event>`. */
export type StageNext = { readonly again: true } | { readonly event: string } | null | undefined;

export interface StageRetry {
  /** How many retries, one for each pause. */
  readonly max_attempts: number;
  readonly backoff?: 'fixed' | 'linear' | 'exponential';
  /** A duration such as '2s', or milliseconds. */
  readonly base?: string | number;
  /** Up to 1: the share by which a pause may be longer or shorter. */
  readonly jitter?: number;
}

/** What is done about a failure that neither a retry nor `next` has answered; if left out, the step fails. */
export type Unrecoverable = 'skip' | 'abort-workflow' | { readonly retry_later: string | number };

export interface StageDefinition<Inputs, Context, Acted = unknown, Result = unknown> {
  /** The only phase that writes to the context: the fields that change. */
  readonly setup?: (ctx: StageContext<Inputs, Context>) => Awaitable<Partial<Context> | void>;
  readonly act: (ctx: ActContext<Inputs, Context>) => Awaitable<Acted>;
  /** Nothing or true holds; false or a sentence fails the attempt. */
  readonly assert?: (ctx: StageContext<Inputs, Context>, acted: Acted) => Awaitable<boolean | string | void>;
  /** The result of the step; what act gave if left out. */
  readonly exit?: (ctx: StageContext<Inputs, Context>, acted: Acted) => Awaitable<Result>;
  readonly next?: (ctx: StageContext<Inputs, Context>, end: StageOutcome<Acted, Result>) => Awaitable<StageNext>;
  /** The tools that it calls: checked when the workflow is served. */
  readonly calls?: readonly string[];
  /** The events that `next` may name: the machine has an edge `<action>.<event>` for each. */
  readonly events?: readonly string[];
  readonly retry?: StageRetry;
  readonly unrecoverable?: Unrecoverable;
}

/** What a call of `act` was answered instead of a success. It has the members of the reply. */
export class StageCallError extends Error {
  readonly error: ErrorName;
  readonly class: string;
  readonly code: ErrorCode;
  readonly verdict: Verdict | null;
  readonly effect: Effect;
  readonly resolution: Resolution | null;
  readonly tool: string;
  readonly reply: ErrorReply | PendingReply;

  constructor(tool: string, reply: ErrorReply | PendingReply) {
    const isPending = 'pending' in reply;
    super(isPending ? `call of '${tool}' has not ended` : reply.message);
    this.name = 'StageCallError';
    this.tool = tool;
    this.reply = reply;
    this.error = isPending ? 'action_in_flight' : reply.error;
    this.class = isPending ? 'Workflow' : reply.class;
    this.code = isPending ? 'ActionInFlight' : reply.code;
    this.verdict = isPending || !('verdict' in reply) ? null : (reply.verdict ?? null);
    this.effect = isPending ? 'unknown' : reply.effect;
    this.resolution = isPending ? null : reply.resolution;
  }
}
