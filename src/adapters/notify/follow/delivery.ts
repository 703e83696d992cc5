/**
 * Delivers messages to one subscriber in order, each until it is accepted or given up. While one fails, later ones
 * wait. If the next event is accepted, only the failing message is the problem: it is set aside and retried beside the
 * others.
 */
import type { Batch } from './batch.ts';
import type { Chooser } from './choose-batch.ts';
import type { CursorKeeper } from './keep-cursors.ts';
import { countSent, isLimited } from './message-limit.ts';
import type { NoticeLimits } from './notice-limits.ts';
import { isAt, isBefore } from './positions.ts';
import type { Retries } from './retries.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Delivered } from '../../../ports/notice.ts';
import type { Cursor, Failed, Subscriber } from './subscriber.ts';

export interface OrderParts {
  readonly subscriber: Subscriber;
  readonly keeper: CursorKeeper;
  readonly chooser: Chooser;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly limits: NoticeLimits;
  /** Null if it was cut off because the gateway closes. */
  readonly deliver: (batch: Batch) => Promise<Delivered | null>;
}

export interface Delivery {
  /** True if there may be more to do at once. */
  deliverNext(): Promise<boolean>;
  /** One at a time, so that dead messages do not delay the others. */
  retryAside(): Promise<void>;
}

type Failure = Extract<Delivered, { kind: 'failed' }>;

export function createDelivery(parts: OrderParts): Delivery {
  const { subscriber, keeper, chooser, retries, clock, limits, deliver } = parts;
  const cursor = () => keeper.of(subscriber.name);
  const move = (to: Partial<Cursor>) => keeper.move(subscriber.name, { ...cursor(), ...to });
  const counted = () => ({ sent: countSent(cursor().sent, subscriber.limit, clock.nowMs()) });
  const mayNotSend = () => isLimited(cursor().sent, subscriber.limit, clock.nowMs());
  let unsaved = 0;

  /**
   * INVARIANT: a message is set aside only when the next event was accepted, so order is kept while the receiver is
   * down.
   */
  const skipHead = async (head: Failed): Promise<boolean> => {
    const behind = mayNotSend() ? null : await chooser.behind(head.through);
    if (behind === null || (await deliver(behind))?.kind !== 'taken') return false;
    const [oldest, ...others] = cursor().aside;
    const isFull = cursor().aside.length >= limits.maxAside && oldest !== undefined;
    if (isFull) retries.giveUp(oldest, 'too many others failed since');
    const aside = [...(isFull ? others : cursor().aside), head];
    move({ after: behind.through, head: null, aside, ...counted() });
    return true;
  };
  const failHead = async (failed: Failed, { problem, retryAfterMs }: Failure) => {
    const head = { ...failed, tries: failed.tries + 1 };
    retries.schedule(head, retryAfterMs);
    if (retries.isExpired(head)) {
      retries.giveUp(head, problem);
      move({ after: head.through, head: null });
    } else if (head.tries < limits.triesBeforeSkip || retryAfterMs !== null || !(await skipHead(head))) {
      move({ head });
    }
  };
  const endHead = async (head: Failed, delivered: Delivered) => {
    if (delivered.kind === 'failed') return failHead(head, delivered);
    if (delivered.kind === 'refused') retries.giveUp({ ...head, tries: head.tries + 1 }, delivered.problem);
    retries.forget(head);
    move({ after: head.through, head: null, ...(delivered.kind === 'taken' ? counted() : {}) });
  };

  /** The message that is due, with its extent; a boolean if there is none, whether there may be more at once. */
  const nextMessage = async (): Promise<{ readonly head: Failed; readonly batch: Batch } | boolean> => {
    const known = cursor().head;
    if (known !== null) {
      if (!retries.isDue(known) || mayNotSend()) return false;
      const batch = await chooser.again(known);
      if (batch !== null) return { head: known, batch };
      move({ after: known.through, head: null });
      return true;
    }
    const choice = await chooser.next(cursor());
    if (choice.kind === 'later') return false;
    if (choice.kind === 'batch') {
      const { at, through } = choice.batch;
      return { head: { at, through, tries: 0, sinceMs: clock.nowMs() }, batch: choice.batch };
    }
    if (!isBefore(cursor().after, choice.last)) return false;
    move({ after: choice.last });
    if (++unsaved >= limits.saveEveryPages) await save();
    return true;
  };
  const save = () => {
    unsaved = 0;
    return keeper.save();
  };

  return {
    async deliverNext() {
      const message = await nextMessage();
      if (typeof message === 'boolean') return message;
      const { head, batch } = message;
      if (head.tries === 0 && !isAt(head.at, head.through)) {
        // INVARIANT: the extent of a batch is on disk before it is sent, so that it is the same after a crash.
        move({ head });
        await save();
      }
      const delivered = await deliver(batch);
      if (delivered === null) return false;
      await endHead(head, delivered);
      await save();
      return true;
    },
    async retryAside() {
      const failed = cursor().aside.find((each) => retries.isDue(each));
      if (failed === undefined || mayNotSend()) return;
      const replaceBy = (by: readonly Failed[], more: Partial<Cursor> = {}) =>
        move({ aside: cursor().aside.flatMap((each) => (each === failed ? by : [each])), ...more });
      const batch = await chooser.again(failed);
      const delivered: Delivered | null = batch === null ? { kind: 'taken' } : await deliver(batch);
      if (delivered === null) return;
      const once = { ...failed, tries: failed.tries + 1 };
      if (delivered.kind === 'taken') {
        retries.forget(failed);
        replaceBy([], batch === null ? {} : counted());
      } else if (delivered.kind === 'refused' || retries.isExpired(once)) {
        retries.giveUp(once, delivered.problem);
        replaceBy([]);
      } else {
        retries.schedule(once, delivered.retryAfterMs);
        replaceBy([once]);
      }
      await save();
    },
  };
}
