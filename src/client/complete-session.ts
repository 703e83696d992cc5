/**
 * Reports that a session is complete. Throws a refusal that names what blocks it; waits where a denial says how long.
 */
import type { SuccessReply } from '../core/call/reply.ts';
import { CallError } from './call-error.ts';
import { readProblem } from './transport/read-problem.ts';
import { isSuccess, readReply, secondsToWait } from './transport/read-reply.ts';
import { refusalOf } from './refusal-of.ts';
import type { Answer, Pause, Transport } from './transport/transport.ts';

export interface Completing {
  readonly transport: Transport;
  readonly wait: Pause;
  readonly maxWaits: number;
  readonly maxWaitSeconds: number;
  readonly signal: AbortSignal | undefined;
}

export async function completeSession(session: string | undefined, completing: Completing): Promise<SuccessReply> {
  const { transport, wait, maxWaits, maxWaitSeconds, signal } = completing;
  const { complete } = transport;
  if (complete === undefined) throw new TypeError("this transport cannot complete a session: it has no 'complete'");
  let waited = 0;
  for (let waits = 0; ; waits++) {
    const answer = signal?.aborted === true ? notSent : await complete(session, signal);
    const reply = answer.kind === 'answered' ? readReply(answer.body) : null;
    if (reply === null || !('error' in reply || isSuccess(reply))) throw unclear(answer);
    if (!('error' in reply)) return reply;
    const seconds = transport.isClosed?.() === true ? null : secondsToWait(reply);
    if (seconds === null || waits >= maxWaits || waited + seconds > maxWaitSeconds) throw refusalOf(reply);
    waited += seconds;
    await wait(seconds, signal);
  }
}

const notSent: Answer = { kind: 'aborted', wasSent: false };

function unclear(answer: Answer): CallError {
  const known = { tool: null, key: null } as const;
  const begin = 'whether the session is complete is not known';
  if (answer.kind === 'aborted')
    return new CallError({
      ...known,
      error: 'aborted',
      message: `${begin}: its signal was aborted`,
      effect: answer.wasSent ? 'unknown' : 'none',
    });
  if (answer.kind !== 'answered') {
    const wasSent = answer.kind === 'lost';
    const said = { error: wasSent ? 'no_reply' : 'not_sent', effect: wasSent ? 'unknown' : 'none' } as const;
    return new CallError({ ...known, ...said, message: `${begin}: ${answer.reason}`, cause: answer.cause });
  }
  const { code, words } = readProblem(answer.body);
  if (code === null)
    return new CallError({ ...known, error: 'no_reply', effect: 'unknown', message: `${begin}: no reply came` });
  const message = `the gateway did not let the request in (${words})`;
  return new CallError({ ...known, error: 'turned_away', effect: 'none', code, message });
}
