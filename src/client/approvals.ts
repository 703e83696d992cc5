/**
 * Reads an approval, or waits until a person has decided, by requests short enough for any proxy. An agent cannot
 * decide.
 */
import type { ApprovalView } from '../core/approval/approval-view.ts';
import { CallError } from './call-error.ts';
import { readProblem } from './transport/read-problem.ts';
import { readReply, secondsToWait } from './transport/read-reply.ts';
import type { Answer, Pause, Transport, WireCall } from './transport/transport.ts';

export interface Reading {
  readonly transport: Transport;
  readonly wait: Pause;
  readonly signal: AbortSignal | undefined;
  /** The call that waits for it, if there is one. */
  readonly call?: Pick<WireCall, 'tool' | 'key'>;
}

/** Below the minute after which many proxies cut a silent connection. */
const longestReadSeconds = 25;
/** Between two reads, if one returned early or failed. */
const shortestPauseSeconds = 1;
const longestPauseSeconds = 5;

export async function readApproval(id: string, reading: Reading): Promise<ApprovalView> {
  const answer = await readerOf(reading.transport)(id, 0, reading.signal);
  const approval = answer.kind === 'answered' ? viewIn(answer.body, id) : null;
  return approval ?? fail(id, answer, reading);
}

/**
 * The approval when it is no longer pending, or when the time is over. A read that fails is repeated: it has no effect.
 * `seconds` is how long it took.
 */
export async function awaitDecision(
  id: string,
  maxSeconds: number,
  reading: Reading,
): Promise<{ readonly approval: ApprovalView; readonly seconds: number }> {
  const { transport, wait, signal } = reading;
  const read = readerOf(transport);
  let waited = 0;
  for (;;) {
    const began = performance.now();
    const answer = await read(id, Math.min(longestReadSeconds, maxSeconds - waited), signal);
    waited += (performance.now() - began) / 1_000;
    if (answer.kind === 'aborted' || signal?.aborted === true)
      return fail(id, { kind: 'aborted', wasSent: true }, reading);
    const approval = answer.kind === 'answered' ? viewIn(answer.body, id) : null;
    if (approval !== null && (approval.state !== 'pending' || waited >= maxSeconds))
      return { approval, seconds: waited };
    const again = approval === null ? secondsUntilAgain(answer) : shortestPauseSeconds;
    if (again === null || (approval === null && waited >= maxSeconds)) return fail(id, answer, reading);
    const seconds = Math.min(
      Math.max(again, shortestPauseSeconds),
      longestPauseSeconds,
      Math.max(0, maxSeconds - waited),
    );
    await wait(seconds, signal);
    waited = seconds === 0 ? maxSeconds : waited + seconds;
  }
}

function readerOf({ approval }: Transport): NonNullable<Transport['approval']> {
  if (approval === undefined) throw new TypeError("this transport cannot look at approvals: it has no 'approval'");
  return approval;
}

/** Null if asking again would bring the same. */
function secondsUntilAgain(answer: Answer): number | null {
  if (answer.kind !== 'answered') return longestPauseSeconds;
  const reply = readReply(answer.body);
  return reply === null ? null : secondsToWait(reply);
}

function viewIn(body: unknown, id: string): ApprovalView | null {
  if (typeof body !== 'object' || body === null) return null;
  const { approval_id: named, state } = body as Readonly<Record<string, unknown>>;
  return named === id && typeof state === 'string' ? (body as ApprovalView) : null;
}

/** Reading has no effect. The call itself is unknown: the gateway may run it once it is approved. */
function fail(id: string, answer: Answer, { call, signal }: Reading): never {
  const facts = { effect: 'unknown', tool: call?.tool ?? null, key: call?.key ?? null } as const;
  if (answer.kind === 'aborted')
    throw new CallError({
      ...facts,
      error: 'aborted',
      message: `approval '${id}': its signal was aborted`,
      cause: signal?.reason,
    });
  if (answer.kind !== 'answered')
    throw new CallError({
      ...facts,
      error: 'no_reply',
      message: `approval '${id}': ${answer.reason}`,
      cause: answer.cause,
    });
  const { code, words } = readProblem(answer.body);
  const hint = words === '' ? 'there is none, or it is not of this agent' : words;
  const said = code === null ? { error: 'no_reply' as const } : { error: 'turned_away' as const, code };
  throw new CallError({ ...facts, ...said, message: `approval '${id}' cannot be read: ${hint}` });
}
