/**
 * Delivers occurrences to one hook in order, each until it is accepted or given up. While a delivery fails, later
 * ones wait. If the next one is accepted, only the failing one is the problem: it is set aside and retried beside the
 * others.
 */
import type { CursorKeeper } from './keep-cursors.ts';
import type { Page } from './follow-journal.ts';
import type { Occurrence } from './occurrence.ts';
import { isBefore, positionText } from './positions.ts';
import { type Posted, retryDelay } from './post-webhook.ts';
import type { Cursor, Failed, Webhook, WebhookParts } from './webhook.ts';

export interface HookParts extends Pick<WebhookParts, 'clock' | 'random' | 'limits'> {
  readonly hook: Pick<Webhook, 'name' | 'events'>;
  readonly keeper: CursorKeeper;
  readonly after: (position: Cursor['after']) => Promise<Page>;
  readonly at: (position: Cursor['after']) => Promise<Occurrence | null>;
  readonly deliver: (occurrence: Occurrence, signal: AbortSignal) => Promise<Posted>;
  /** Reports to the operator; the sentence begins with the hook. */
  readonly report: (text: string) => void;
}

export interface RunningHook {
  /** Lets a request under way end, for a moment. */
  close(): Promise<void>;
}

export function runHook(parts: HookParts): RunningHook {
  const { hook, keeper, clock, random, limits, report } = parts;
  const stop = new AbortController();
  let stopping = false;
  let endWait: () => void = () => undefined;
  /** When a failed delivery is due again; after a restart, at once. */
  const dueMs = new Map<string, number>();
  let failing = false;
  let lastProblem = '';
  let unsaved = 0;

  const cursor = () => keeper.of(hook.name);
  const move = (to: Partial<Cursor>) => keeper.move(hook.name, { ...cursor(), ...to });
  const isMine = ({ event }: Occurrence) => hook.events.includes(event);
  const isDue = ({ at }: Failed) => clock.monotonicMs() >= (dueMs.get(positionText(at)) ?? 0);
  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      const cancel = clock.background(ms, resolve);
      endWait = () => {
        cancel();
        resolve();
      };
    });

  const deliver = async (occurrence: Occurrence): Promise<Posted | null> => {
    const posted = await parts.deliver(occurrence, stop.signal);
    // A delivery that was cut off because we close says nothing about the receiver.
    if (posted.kind === 'failed' && stopping) return null;
    if (posted.kind === 'failed' && !failing) report(`did not take ${idOf(occurrence)} (${posted.problem}): ${kept}`);
    if (posted.kind === 'taken' && failing) report('takes deliveries again');
    failing = posted.kind === 'failed';
    return posted;
  };
  const scheduleRetry = (failed: Failed, { retryAfterMs }: Extract<Posted, { kind: 'failed' }>) => {
    const delayMs = retryDelay(failed.tries, retryAfterMs, random(), limits);
    dueMs.set(positionText(failed.at), clock.monotonicMs() + delayMs);
  };
  const isExpired = ({ tries, sinceMs }: Failed) =>
    tries >= limits.maxTries || clock.nowMs() - sinceMs >= limits.maxAgeMs;
  const giveUp = ({ at, tries }: Failed, problem: string) => {
    dueMs.delete(positionText(at));
    report(`was not told of ${positionText(at)}, given up after ${tries} tries (${problem}): recourse audit shows it`);
  };

  /** The next occurrence for this hook after a position, within a limit of pages. */
  const nextAfter = async (position: Cursor['after']): Promise<Occurrence | null> => {
    for (let from = position, pages = 0; pages < maxProbePages && !stopping; pages++) {
      const { found, last } = await parts.after(from);
      const mine = found.find(isMine);
      if (mine !== undefined) return mine;
      if (!isBefore(from, last)) return null;
      from = last;
      await wait(0);
    }
    return null;
  };
  /**
   * INVARIANT: a delivery is set aside only when the next one was accepted, so order is kept while the receiver is
   * down.
   */
  const skipHead = async (head: Failed): Promise<boolean> => {
    const behind = await nextAfter(head.at);
    if (behind === null || (await deliver(behind))?.kind !== 'taken') return false;
    const [oldest, ...others] = cursor().aside;
    const isFull = cursor().aside.length >= limits.maxAside && oldest !== undefined;
    if (isFull) giveUp(oldest, 'too many others failed since');
    move({ after: behind.at, head: null, aside: [...(isFull ? others : cursor().aside), head] });
    return true;
  };
  const failHead = async (first: Occurrence, posted: Extract<Posted, { kind: 'failed' }>) => {
    const { tries, sinceMs } = cursor().head ?? { tries: 0, sinceMs: clock.nowMs() };
    const head = { at: first.at, tries: tries + 1, sinceMs };
    scheduleRetry(head, posted);
    if (isExpired(head)) {
      giveUp(head, posted.problem);
      move({ after: first.at, head: null });
    } else if (head.tries < limits.triesBeforeSkip || posted.retryAfterMs !== null || !(await skipHead(head))) {
      move({ head });
    }
  };

  /** True if there may be more to do at once. */
  const deliverNext = async (): Promise<boolean> => {
    const { after, head } = cursor();
    if (head !== null && !isDue(head)) return false;
    const { found, last } = await parts.after(after);
    const first = found.find(isMine);
    if (first === undefined) {
      if (!isBefore(after, last)) return false;
      move({ after: last });
      if (++unsaved < limits.saveEveryPages) return true;
    } else {
      const posted = await deliver(first);
      if (posted === null) return false;
      if (posted.kind === 'taken') {
        dueMs.delete(positionText(first.at));
        move({ after: first.at, head: null });
      } else await failHead(first, posted);
    }
    unsaved = 0;
    await keeper.save();
    return true;
  };
  /** One at a time, so that dead deliveries do not delay the others. */
  const retryAside = async (): Promise<void> => {
    const failed = cursor().aside.find(isDue);
    if (failed === undefined) return;
    const replaceBy = (by: readonly Failed[]) =>
      move({ aside: cursor().aside.flatMap((each) => (each === failed ? by : [each])) });
    const occurrence = await parts.at(failed.at);
    const posted = occurrence === null ? ({ kind: 'taken' } as const) : await deliver(occurrence);
    if (posted === null) return;
    if (posted.kind === 'taken') {
      dueMs.delete(positionText(failed.at));
      replaceBy([]);
    } else {
      const once = { ...failed, tries: failed.tries + 1 };
      scheduleRetry(once, posted);
      if (isExpired(once)) giveUp(once, posted.problem);
      replaceBy(isExpired(once) ? [] : [once]);
    }
    await keeper.save();
  };

  const loop = async () => {
    while (!stopping) {
      let hasMore = false;
      try {
        hasMore = await deliverNext();
        if (!stopping) await retryAside();
        lastProblem = '';
      } catch (error) {
        // The store cannot be read at the moment. Nothing was counted and nothing is lost.
        const problem = error instanceof Error ? error.message : String(error);
        if (problem !== lastProblem) report(`cannot be told at the moment: ${problem}`);
        lastProblem = problem;
      }
      if (!stopping) await wait(hasMore ? 0 : limits.pollMs);
    }
  };
  const running = loop();
  return {
    async close() {
      stopping = true;
      endWait();
      const cancel = clock.background(limits.closeGraceMs, () => stop.abort());
      await running;
      cancel();
    },
  };
}

const maxProbePages = 200;
const kept = 'it is kept and tried again';
const idOf = ({ at, kind }: Occurrence): string => `${kind} ${positionText(at)}`;
