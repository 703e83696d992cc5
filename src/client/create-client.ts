/**
 * The agent's side of a call, the same over every transport: gives the value of a success, throws everything else. Waits
 * by itself where a denial says for how long, and asks again, with the same key, where an answer was lost. Never retries
 * anything else: whether something may run again is for the gateway to decide.
 */
import type { Reply, SuccessReply } from '../core/reply.ts';
import { CallError } from './call-error.ts';
import { maxSeconds, mustBeAmount, mustBeOptions, mustBeText } from './check-options.ts';
import { deliver, type Delivery } from './deliver.ts';
import { pause } from './pause.ts';
import { plainArgs } from './plain-args.ts';
import { readProblem } from './read-problem.ts';
import { isSuccess, readReply, secondsToWait } from './read-reply.ts';
import { refusalAfterLoss, refusalOf } from './refusal-of.ts';
import type { Transport, WireCall } from './transport.ts';

/** What holds for every call of a client, and can be said anew for one. */
export interface CallDefaults {
  readonly session?: string;
  readonly turn?: string;
  /** Which model the agent runs on, for policies that ask. */
  readonly model?: string;
  /** How long the gateway holds the line before it says `pending`; over HTTP 30 by default. The client then polls. */
  readonly waitSeconds?: number;
  /** How long the call may take, waiting included, before the gateway gives it up. */
  readonly deadlineSeconds?: number;
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
  /** Sees every success whole: notices, failed items of a partial result, next actions. What it throws is nobody's refusal. */
  readonly onReply?: (reply: SuccessReply) => void;
}

export interface CallOptions extends CallDefaults {
  /** The name of the caller's intention; made up if left out. The same key never runs a call twice. */
  readonly key?: string;
  readonly expectedSeq?: number;
  readonly signal?: AbortSignal;
}

export interface Client {
  /** The value of a success. Throws ToolDeniedError or CallError. */
  call<Result = unknown>(tool: string, args?: unknown, options?: CallOptions): Promise<Result>;
  /** The same with the whole reply. */
  send<Result = unknown>(tool: string, args?: unknown, options?: CallOptions): Promise<SuccessReply<Result>>;
  /** The reply of an earlier call, as it is; pending while it is under way. */
  reply(callId: string, options?: { readonly signal?: AbortSignal }): Promise<Reply>;
}

const defaultNames = ['session', 'turn', 'model', 'waitSeconds', 'deadlineSeconds'] as const;
const boundNames = ['maxWaitSeconds', 'maxWaits', 'maxResends', 'maxPollSeconds'] as const;

/** Everything that `createClient` takes beside the transport. */
export const clientOptionNames: readonly string[] = [...defaultNames, ...boundNames, 'onReply'];
const callOptionNames = [...defaultNames, 'key', 'expectedSeq', 'signal'];

/** No bound of a count needs to be larger. */
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

  async function send<Result>(tool: string, args: unknown, own: CallOptions = {}): Promise<SuccessReply<Result>> {
    const call = wireCall(tool, args, options, own);
    const delivery: Delivery = { call, transport, wait, maxResends, maxPollSeconds, signal: own.signal };
    let waited = 0;
    let answerWasLost = false;
    for (let waits = 0; ; waits++) {
      const { reply, lost } = await deliver(delivery, answerWasLost);
      answerWasLost = lost;
      if (isSuccess(reply)) {
        tell(onReply, reply);
        return reply as SuccessReply<Result>;
      }
      const seconds = secondsToWait(reply);
      if (seconds === null || waits >= maxWaits || waited + seconds > maxWaitSeconds)
        throw answerWasLost ? refusalAfterLoss(reply, call) : refusalOf(reply, call);
      waited += seconds;
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
  };
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
    model,
    wait_seconds: waitSeconds,
    deadline_seconds: deadlineSeconds,
  }) as WireCall;
}

function checkDefaults(what: string, options: CallDefaults): void {
  for (const name of ['session', 'turn', 'model'] as const) mustBeText(what, name, options[name]);
  for (const name of ['waitSeconds', 'deadlineSeconds'] as const) mustBeAmount(what, name, options[name], maxSeconds);
}

const withoutUndefined = <Shape extends object>(shape: Shape): Partial<Shape> =>
  Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Partial<Shape>;

/** The call has succeeded: a listener that throws must not make it look as if it had not. It is told like any lost error. */
function tell(listener: ClientOptions['onReply'], reply: SuccessReply): void {
  try {
    listener?.(reply);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
