/**
 * Follows approvals: the pending ones first, then every change, reconnecting when the gateway restarts. Nothing is
 * missed: the stream is open before the list is read, and events wait until the list is delivered.
 */
import type { ApprovalEvent, ApprovalView } from '../../../core/approval/approval-view.ts';
import { maxPage } from '../../../core/http/http-routes.ts';
import { type Daemon, type DaemonAnswer, type FollowEnd, failureOf } from '../daemon.ts';
import { readApprovalEvent, readApprovals } from './read-approval.ts';
import type { Timer } from '../terminal.ts';

export interface ApprovalListener {
  readonly onPending: (pending: readonly ApprovalView[]) => void;
  readonly onChange: (event: ApprovalEvent) => void;
  readonly onLost: (sentence: string) => void;
}

/** Delays before reconnecting. */
const againMs = [250, 1_000, 2_000] as const;
/** More than any screen shows. */
const maxPages = 10;

/** Null when the signal is aborted; the gateway's answer if it refuses. */
export async function followApprovals(
  daemon: Daemon,
  listener: ApprovalListener,
  timer: Timer,
  signal: AbortSignal,
): Promise<DaemonAnswer | null> {
  let after: string | null = null;
  for (let tries = 0; !signal.aborted; tries++) {
    const stream = await followOnce(daemon, listener, after, signal);
    after = stream.last;
    if (signal.aborted) break;
    if (stream.wasLive) tries = 0;
    if (isFinal(stream.end)) return stream.end;
    listener.onLost(stream.end.kind === 'ended' ? 'the gateway closed the stream' : failureOf(stream.end, daemon)[0]);
    await pause(againMs[Math.min(tries, againMs.length - 1)] ?? 1_000, timer, signal);
  }
  return null;
}

/** A refused key stays refused; a gateway that is starting does not. */
const isFinal = (end: FollowEnd): end is DaemonAnswer & { kind: 'answered' } =>
  end.kind === 'answered' && end.status >= 400 && end.status < 500;

interface Followed {
  readonly end: FollowEnd;
  /** The position of the last delivered event. */
  readonly last: string | null;
  readonly wasLive: boolean;
}

async function followOnce(
  daemon: Daemon,
  { onPending, onChange }: ApprovalListener,
  after: string | null,
  signal: AbortSignal,
): Promise<Followed> {
  const stop = new AbortController();
  let last = after;
  let refusal: DaemonAnswer | null = null;
  /** Null once the list is delivered. */
  let waiting: ApprovalEvent[] | null = [];
  let listing: Promise<void> = Promise.resolve();
  const tell = (event: ApprovalEvent) => {
    onChange(event);
    last = event.position;
  };
  const end = await daemon.follow({
    path: '/v1/approvals/events',
    after,
    signal: AbortSignal.any([signal, stop.signal]),
    onOpen() {
      listing = pendingAt(daemon).then((pending) => {
        if ('kind' in pending) {
          refusal = pending;
          return stop.abort();
        }
        onPending(pending.pending);
        for (const event of waiting ?? []) tell(event);
        waiting = null;
      });
    },
    onEvent({ event, data }) {
      const read = event === 'approval' ? readApprovalEvent(data) : null;
      if (read === null) return;
      if (waiting === null) tell(read);
      else waiting.push(read);
    },
  });
  await listing;
  return { end: refusal ?? end, last, wasLive: waiting === null };
}

/** All that are pending, page by page. */
export async function pendingAt(daemon: Daemon): Promise<{ readonly pending: readonly ApprovalView[] } | DaemonAnswer> {
  const pending: ApprovalView[] = [];
  let before = '';
  for (let page = 0; page < maxPages; page++) {
    const more = before === '' ? '' : `&before=${encodeURIComponent(before)}`;
    const answer = await daemon.ask({ method: 'GET', path: `/v1/approvals?state=pending&limit=${maxPage}${more}` });
    const found = answer.kind === 'answered' ? readApprovals(answer.body) : null;
    if (found === null || answer.kind !== 'answered') return answer;
    pending.push(...found);
    if (typeof answer.body['next'] !== 'string') break;
    before = answer.body['next'];
  }
  return { pending };
}

function pause(ms: number, timer: Timer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      takeBack();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const takeBack = timer.schedule(ms, end);
    signal.addEventListener('abort', end);
  });
}
