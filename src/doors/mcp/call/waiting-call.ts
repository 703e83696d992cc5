/**
 * One call from its first request to its reply, over as many requests as its client needs: cancellation, departure of
 * the client, and the questions of the running tool. Does not know how a question is sent.
 */
import type { JsonObject } from '../../../core/values/json.ts';
import { isPending, type Reply } from '../../../core/call/reply.ts';
import { heard } from '../../../shell/call/requester.ts';
import type { Exchange, Question } from './exchange.ts';

interface OpenQuestion extends Question {
  answer(given: JsonObject): void;
  fail(error: Error): void;
}

/** The call ended, or its tool waits for answers. */
export type Turn =
  | { readonly kind: 'replied'; readonly reply: Reply }
  | { readonly kind: 'asks'; readonly questions: readonly Question[] };

/** What a tool gets when its client cannot be asked. */
export class ClientUnavailable extends Error {
  override readonly name = 'ClientUnavailable';
}

const finished = 'the call is over';
const unheard = 'the client waits for this call no longer, and cannot be asked';
const gone = 'the client has left; nobody is there to answer';

export interface WaitingCall {
  readonly requester: {
    readonly cancelled: AbortSignal;
    readonly left: AbortSignal;
    readonly written: Promise<boolean>;
    readonly heard: () => Promise<void>;
  };
  /** The reply is written to the current request. */
  deliver(written: Promise<boolean>): void;
  /** Follows the current request of the client; the returned function stops it. */
  follow(exchange: Exchange): () => void;
  leave(): void;
  /** Aborted when the call is over or the client has left. */
  ended(): AbortSignal;
  begin(call: () => Promise<Reply>): void;
  ask(method: Question['method'], params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  answer(given: Readonly<Record<string, unknown>>): void;
  /** Resolves when there is a reply, or an open question. */
  turn(): Promise<Turn>;
  failAll(why: string): void;
}

export function createWaitingCall(maxOpenQuestions: number): WaitingCall {
  const cancelled = new AbortController();
  const left = new AbortController();
  const written = Promise.withResolvers<boolean>();
  /** Made on demand: few calls push questions. */
  let ended: AbortController | null = null;
  const open = new Map<string, OpenQuestion>();
  let asked = 0;
  let wake = Promise.withResolvers<void>();
  let outcome: Promise<Reply> | null = null;
  let over = false;
  /** The client has a pending reply, and no longer waits for this call. */
  let released = false;

  const failAll = (why: string) => {
    for (const question of open.values()) question.fail(new ClientUnavailable(why));
  };
  const leave = () => {
    left.abort();
    written.resolve(false);
    ended?.abort(gone);
    failAll(gone);
  };

  return {
    requester: { cancelled: cancelled.signal, left: left.signal, written: written.promise, heard },
    deliver: (whole) => void whole.then(written.resolve),
    follow: (exchange) => exchange.follow(() => cancelled.abort(), leave),
    leave,

    ended() {
      ended ??= new AbortController();
      if (over || left.signal.aborted) ended.abort(over ? finished : gone);
      return ended.signal;
    },

    begin(call) {
      const end = () => {
        over = true;
        ended?.abort(finished);
        failAll(finished);
      };
      outcome = call().then(
        (reply) => {
          // Pending: the wait is over, the call is not. Its tool may still wait for an answer of the client.
          if (!isPending(reply)) end();
          return reply;
        },
        (error: unknown) => {
          end();
          throw error;
        },
      );
      // Ignored: turn() reports the error.
      outcome.catch(() => undefined);
    },

    ask(method, params, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
      const full = open.size >= maxOpenQuestions;
      const why = released ? unheard : whyNot(over, left.signal.aborted, full, signal.aborted);
      if (why !== null) return Promise.reject(new ClientUnavailable(why));
      const key = `question_${(asked += 1)}`;
      const stop = () => {
        open.delete(key);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = () => {
        stop();
        reject(new ClientUnavailable('the wait for the client was given up'));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      open.set(key, {
        key,
        method,
        params,
        answer: (given) => (stop(), resolve(given)),
        fail: (error) => (stop(), reject(error)),
      });
      wake.resolve();
      return promise;
    },

    answer(given) {
      for (const [key, answer] of Object.entries(given)) open.get(key)?.answer(answer as JsonObject);
    },

    async turn() {
      for (;;) {
        wake = Promise.withResolvers<void>();
        if (open.size > 0 && !over) {
          const questions = [...open.values()].map(({ key, method, params }) => ({ key, method, params }));
          return { kind: 'asks', questions };
        }
        const reply = await Promise.race([outcome, wake.promise]);
        if (reply === undefined || reply === null) continue;
        if (!isPending(reply)) return { kind: 'replied', reply };
        // Questions that were asked meanwhile go first.
        if (open.size > 0) continue;
        released = true;
        return { kind: 'replied', reply };
      }
    },

    failAll,
  };
}

function whyNot(over: boolean, left: boolean, full: boolean, aborted: boolean): string | null {
  if (over) return finished;
  if (left) return gone;
  if (aborted) return 'the wait for the client was given up';
  return full ? 'too many questions of this call are open; wait for an answer first' : null;
}
