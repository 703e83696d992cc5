/**
 * The client of an agent, the same over every transport: returns the value of a success and throws everything else.
 * Waits where a denial says how long, and sends again with the same key when an answer was lost. Retries nothing
 * else: the gateway decides whether something may run again.
 */
import type { ApprovalView } from '../core/approval/approval-view.ts';
import type { RollbackView } from '../core/reversal/reversal-view.ts';
import type { ErrorReply, Reply, SuccessReply } from '../core/call/reply.ts';
import { awaitDecision, readApproval } from './approvals.ts';
import { CallError } from './call-error.ts';
import { type CancelOutcome, cancelWith } from './cancel.ts';
import { maxSeconds, mustBeAmount, mustBeOptions, mustBeText } from './check-options.ts';
import { completeSession } from './complete-session.ts';
import { deliver, type Delivery } from './transport/deliver.ts';
import { plainArgs } from './tools/plain-args.ts';
import { readProblem } from './transport/read-problem.ts';
import { isSuccess, readReply, secondsToWait } from './transport/read-reply.ts';
import { redeemToken, rollSessionBack } from './reversals.ts';
import { refusalAfterLoss, refusalOf } from './refusal-of.ts';
import { type CancelTarget, pause, type Transport, type WireCall } from './transport/transport.ts';

/** Defaults for every call of a client; each can be set for one call. */
export interface CallDefaults {
  readonly session?: string;
  readonly turn?: string;
  /** Which model the agent runs on, for policies that ask. */
  readonly model?: string;
  /** How long the gateway waits before it replies `pending`; over HTTP 30 by default. The client then polls. */
  readonly waitSeconds?: number;
  /** How long the call may take, waiting included, before the gateway gives it up. */
  readonly deadlineSeconds?: number;
  /** When a person must approve first: `throw` the denial (the default), or `wait` for the person and ask again. */
  readonly onDefer?: 'throw' | 'wait';
  /** How long `wait` waits, in total: 600 by default. */
  readonly deferSeconds?: number;
}

export interface ClientBounds {
  /** How long one call may wait for denials that say when to ask again, in total: 30 by default. */
  readonly maxWaitSeconds?: number;
  /** And how many times: 3 by default; 0 never waits. */
  readonly maxWaits?: number;
  /** How many times a lost answer is asked for again: 2 by default. */
  readonly maxResends?: number;
  /** How long a pending call is polled: 900 by default. */
  readonly maxPollSeconds?: number;
}

export interface ClientOptions extends CallDefaults, ClientBounds {
  readonly transport: Transport;
  /**
   * Sees every success whole: notices, failed items of a partial result, next actions. What it throws is nobody's
   * refusal.
   */
  readonly onReply?: (reply: SuccessReply) => void;
}

export interface CallOptions extends CallDefaults {
  /** The name of the caller's intention; made up if left out. The same key never runs a call twice. */
  readonly key?: string;
  readonly expectedSeq?: number;
  /** Calls of reads that this one relies on: if they read something else by then, it does not run. */
  readonly evidenceRefs?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface Client {
  /** The value of a success. Throws ToolDeniedError or CallError. */
  call<Result = unknown>(tool: string, args?: unknown, options?: CallOptions): Promise<Result>;
  /** The same with the whole reply. */
  send<Result = unknown>(tool: string, args?: unknown, options?: CallOptions): Promise<SuccessReply<Result>>;
  /** The reply of an earlier call, as it is; pending while it is under way. */
  reply(callId: string, options?: Interruptible): Promise<Reply>;
  /** What became of an approval of this agent. Nobody approves from here. */
  readonly approvals: {
    read(approvalId: string, options?: Interruptible): Promise<ApprovalView>;
    /** As soon as it is no longer pending, or as it is after `seconds`: 60 by default. */
    wait(approvalId: string, options?: Interruptible & { readonly seconds?: number }): Promise<ApprovalView>;
  };
  /** Cancels a call, a turn of a session, or the whole session. What ran is stopped; its reply tells the effect. */
  cancel(target: CancelTarget, options?: Interruptible): Promise<CancelOutcome>;
  /** Undoes what this agent did, as its tools declare it. */
  readonly reversals: {
    /** Undoes the call whose success came with this token, once. Gives the reply of the reversing call. */
    redeem(token: string, options?: Interruptible): Promise<SuccessReply>;
    /** Undoes the calls of a session, the last first, and closes it; tells what could not be undone, and why. */
    rollBack(session: string, options?: Interruptible): Promise<RollbackView>;
  };
  /**
   * Says that the session is done, or the agent's standing one. Throws ToolDeniedError COMPLETION_BLOCKED while
   * something stands against it.
   */
  complete(options?: Interruptible & { readonly session?: string }): Promise<SuccessReply>;
}

interface Interruptible {
  readonly signal?: AbortSignal;
}

const defaultNames = ['session', 'turn', 'model', 'waitSeconds', 'deadlineSeconds', 'onDefer', 'deferSeconds'] as const;
const boundNames = ['maxWaitSeconds', 'maxWaits', 'maxResends', 'maxPollSeconds'] as const;

/** Everything that `createClient` takes beside the transport. */
export const clientOptionNames: readonly string[] = [...defaultNames, ...boundNames, 'onReply'];
const callOptionNames = [...defaultNames, 'key', 'expectedSeq', 'evidenceRefs', 'signal'];

const defaultDeferSeconds = 600;
const defaultApprovalSeconds = 60;
/** Ends a call that is deferred again and again, each time for another approval. */
const maxDeferrals = 20;

/** The largest count that an option may have. */
const maxCount = 1_000;

export function createClient(options: ClientOptions): Client {
  mustBeOptions('createClient', options, ['transport', ...clientOptionNames]);
  const { transport, maxWaitSeconds = 30, maxWaits = 3, maxResends = 2, maxPollSeconds = 900, onReply } = options;
  if (typeof transport?.send !== 'function')
    throw new TypeError("createClient: option 'transport' must be one, such as httpTransport({ url, key })");
  checkDefaults('createClient', options);
  mustBeAmount('createClient', 'maxWaitSeconds', maxWaitSeconds, maxSeconds);
  mustBeAmount('createClient', 'maxPollSeconds', maxPollSeconds, maxSeconds);
  mustBeAmount('createClient', 'maxWaits', maxWaits, maxCount);
  mustBeAmount('createClient', 'maxResends', maxResends, maxCount);
  const wait = transport.pause ?? pause;
  const undoing = (signal: AbortSignal | undefined) => ({ transport, wait, maxSeconds: maxPollSeconds, signal });

  /** How long to wait before the call is sent again; null if it is not. */
  function secondsLeftToWait(reply: ErrorReply, waits: number, waited: number): number | null {
    const seconds = transport.isClosed?.() === true ? null : secondsToWait(reply);
    return seconds === null || waits >= maxWaits || waited + seconds > maxWaitSeconds ? null : seconds;
  }

  async function send<Result>(tool: string, args: unknown, own: CallOptions = {}): Promise<SuccessReply<Result>> {
    const call = wireCall(tool, args, options, own);
    const delivery: Delivery = { call, transport, wait, maxResends, maxPollSeconds, signal: own.signal };
    const { onDefer = 'throw', deferSeconds = defaultDeferSeconds } = { ...options, ...withoutUndefined(own) };
    let waited = 0;
    let waits = 0;
    let deferred = 0;
    let deferrals = 0;
    let answerWasLost = false;
    for (;;) {
      const { reply, lost } = await deliver(delivery, answerWasLost);
      answerWasLost = lost;
      if (isSuccess(reply)) {
        tell(onReply, reply);
        return reply as SuccessReply<Result>;
      }
      const approvalId = onDefer === 'wait' ? approvalIn(reply) : null;
      if (approvalId !== null && deferred < deferSeconds && deferrals < maxDeferrals) {
        const reading = { transport, wait, signal: own.signal, call };
        const { approval, seconds } = await awaitDecision(approvalId, deferSeconds - deferred, reading);
        deferred += seconds;
        deferrals += 1;
        if (asksAgain[approval.state]) continue;
        throw refusalOf(reply, call);
      }
      const seconds = secondsLeftToWait(reply, waits, waited);
      if (seconds === null) throw answerWasLost ? refusalAfterLoss(reply, call) : refusalOf(reply, call);
      waited += seconds;
      waits += 1;
      await wait(seconds, own.signal);
    }
  }

  return {
    call: async <Result>(tool: string, args?: unknown, own?: CallOptions) =>
      (await send<Result>(tool, args, own)).result,
    send,
    async reply(callId, { signal } = {}) {
      const answer = await transport.look(callId, signal);
      const reply = answer.kind === 'answered' ? readReply(answer.body) : null;
      if (reply?.call_id === callId) return reply;
      const code = answer.kind === 'answered' ? readProblem(answer.body).code : null;
      const said = code === null ? { error: 'no_reply' as const } : { error: 'turned_away' as const, code };
      const message = `there is no reply for ${callId}${reply === null || !('error' in reply) ? '' : `: ${reply.message}`}`;
      throw new CallError({ ...said, message, effect: 'unknown', tool: null, callId, key: null });
    },
    approvals: {
      read: (id, { signal } = {}) => readApproval(mustBeId(id), { transport, wait, signal }),
      async wait(id, { seconds = defaultApprovalSeconds, signal } = {}) {
        mustBeAmount('approvals.wait', 'seconds', seconds, maxSeconds);
        return (await awaitDecision(mustBeId(id), seconds, { transport, wait, signal })).approval;
      },
    },
    cancel: (target, { signal } = {}) => cancelWith(transport, target, signal),
    reversals: {
      redeem: (token, { signal } = {}) => redeemToken(mustBeId(token), undoing(signal)),
      rollBack: (session, { signal } = {}) => rollSessionBack(mustBeId(session), undoing(signal)),
    },
    async complete({ session = options.session, signal } = {}) {
      mustBeText('complete', 'session', session);
      return completeSession(session, { transport, wait, maxWaits, maxWaitSeconds, signal });
    },
  };
}

function mustBeId(id: unknown): string {
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError('an approval is named by its id, such as that of a denial: error.approvalId');
}

/** INVARIANT: a call whose approval expired or was revoked is not sent again: it would open another approval. */
const asksAgain: Readonly<Record<ApprovalView['state'], boolean>> = {
  pending: false,
  granted: true,
  // It ran: the gateway has the result.
  used: true,
  // The reply names who denied it, and why.
  denied: true,
  // The rules have changed: perhaps nobody needs to be asked any more.
  void: true,
  expired: false,
  revoked: false,
};

function approvalIn(reply: ErrorReply): string | null {
  const { code, resolution } = reply;
  return code === 'POLICY_DEFER' && resolution.type === 'pending_approval' ? resolution.approval_id : null;
}

function wireCall(tool: string, args: unknown, defaults: CallDefaults, own: CallOptions): WireCall {
  if (typeof tool !== 'string' || tool === '') throw new TypeError('a call needs the name of a tool');
  mustBeOptions(`the call of '${tool}'`, own, callOptionNames);
  checkDefaults(`the call of '${tool}'`, own);
  mustBeText(`the call of '${tool}'`, 'key', own.key);
  const { session, turn, model, deadlineSeconds } = { ...defaults, ...withoutUndefined(own) };
  const waitSeconds = own.waitSeconds ?? defaults.waitSeconds;
  return withoutUndefined({
    tool,
    args: plainArgs(args, tool),
    key: own.key ?? globalThis.crypto.randomUUID(),
    session,
    turn,
    expected_seq: own.expectedSeq,
    evidence_refs: own.evidenceRefs,
    model,
    wait_seconds: waitSeconds,
    deadline_seconds: deadlineSeconds,
  }) as WireCall;
}

function checkDefaults(what: string, options: CallDefaults): void {
  for (const name of ['session', 'turn', 'model'] as const) mustBeText(what, name, options[name]);
  for (const name of ['waitSeconds', 'deadlineSeconds', 'deferSeconds'] as const)
    mustBeAmount(what, name, options[name], maxSeconds);
  if (options.onDefer !== undefined && options.onDefer !== 'throw' && options.onDefer !== 'wait')
    throw new TypeError(`${what}: option 'onDefer' must be 'throw' or 'wait'`);
}

const withoutUndefined = <Shape extends object>(shape: Shape): Partial<Shape> =>
  Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Partial<Shape>;

/** A listener that throws must not make a success look like a failure. Its error is thrown outside of the call. */
function tell(listener: ClientOptions['onReply'], reply: SuccessReply): void {
  try {
    listener?.(reply);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
