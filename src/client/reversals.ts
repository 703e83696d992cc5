/**
 * Undoes what this agent did: one call by the token of its success, or a session, the last call first. Throws a refusal
 * with its reason. Asked again after a lost answer, it gets what was done.
 */
import type { SuccessReply } from '../core/call/reply.ts';
import type { RollbackView } from '../core/reversal/reversal-view.ts';
import { CallError } from './call-error.ts';
import { refusalOf } from './refusal-of.ts';
import { readProblem } from './transport/read-problem.ts';
import { isSuccess, readReply } from './transport/read-reply.ts';
import type { Answer, Pause, Transport } from './transport/transport.ts';

export interface Undoing {
  readonly transport: Transport;
  readonly wait: Pause;
  /** How long to wait for the end. */
  readonly maxSeconds: number;
  readonly signal: AbortSignal | undefined;
}

const pauseSeconds = 1;

export async function redeemToken(token: string, undoing: Undoing): Promise<SuccessReply> {
  const { transport, wait, maxSeconds, signal } = undoing;
  const { reverse } = transport;
  if (reverse === undefined) throw new TypeError("this transport cannot undo calls: it has no 'reverse'");
  for (let waited = 0; ; waited += pauseSeconds) {
    const answer = signal?.aborted === true ? notSent : await reverse(token, signal);
    const reply = answer.kind === 'answered' ? readReply(answer.body) : null;
    if (reply !== null && isSuccess(reply)) return reply;
    if (reply !== null && 'error' in reply) throw refusalOf(reply);
    // The same token leads to the same reversing call, so asking again does nothing twice.
    const isOpen = reply !== null || answer.kind === 'lost';
    if (!isOpen || waited >= maxSeconds || signal?.aborted === true) throw unclear('the call is undone', answer);
    await wait(pauseSeconds, signal);
  }
}

export async function rollSessionBack(session: string, undoing: Undoing): Promise<RollbackView> {
  const { transport, wait, maxSeconds, signal } = undoing;
  const { rollBack } = transport;
  if (rollBack === undefined) throw new TypeError("this transport cannot roll back sessions: it has no 'rollBack'");
  for (let waited = 0; ; waited += pauseSeconds) {
    const answer = signal?.aborted === true ? notSent : await rollBack(session, signal);
    const view = answer.kind === 'answered' ? viewIn(answer.body, session) : null;
    if (view?.state === 'finished') return view;
    const isOpen = view !== null || answer.kind === 'lost';
    if (!isOpen || waited >= maxSeconds || signal?.aborted === true)
      throw unclear('the session is rolled back', answer);
    await wait(pauseSeconds, signal);
  }
}

const notSent: Answer = { kind: 'aborted', wasSent: false };

function viewIn(body: unknown, session: string): RollbackView | null {
  if (typeof body !== 'object' || body === null) return null;
  const { session: named, steps } = body as Readonly<Record<string, unknown>>;
  return named === session && Array.isArray(steps) ? (body as RollbackView) : null;
}

function unclear(what: string, answer: Answer): CallError {
  const known = { tool: null, key: null } as const;
  const begin = `whether ${what} is not known`;
  if (answer.kind === 'aborted') {
    const effect = answer.wasSent ? 'unknown' : 'none';
    return new CallError({ ...known, error: 'aborted', message: `${begin}: its signal was aborted`, effect });
  }
  if (answer.kind !== 'answered') {
    const wasSent = answer.kind === 'lost';
    const said = { error: wasSent ? 'no_reply' : 'not_sent', effect: wasSent ? 'unknown' : 'none' } as const;
    return new CallError({ ...known, ...said, message: `${begin}: ${answer.reason}`, cause: answer.cause });
  }
  const { code, words } = readProblem(answer.body);
  if (code === null) return new CallError({ ...known, error: 'no_reply', effect: 'unknown', message: `${begin} yet` });
  const message = `the gateway did not let the request in (${words})`;
  return new CallError({ ...known, error: 'turned_away', effect: 'none', code, message });
}
