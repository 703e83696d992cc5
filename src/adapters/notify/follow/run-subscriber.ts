/** Runs one subscriber until it is closed: delivers what is next, retries what was set aside, rests, and begins again. */
import { type Batch, nameOfBatch } from './batch.ts';
import { chooseBatches } from './choose-batch.ts';
import { createDelivery } from './delivery.ts';
import type { Page } from './follow-journal.ts';
import type { CursorKeeper } from './keep-cursors.ts';
import { trackRetries } from './retries.ts';
import type { Delivered } from '../../../ports/notice.ts';
import type { Cursor, Deliver, NoticeParts, Subscriber } from './subscriber.ts';

export interface SubscriberParts extends Pick<NoticeParts, 'clock' | 'random' | 'limits' | 'onGivenUp'> {
  readonly subscriber: Subscriber;
  readonly keeper: CursorKeeper;
  readonly after: (position: Cursor['after']) => Promise<Page>;
  readonly deliver: Deliver;
  /** Reports to the operator; the sentence begins with the subscriber. */
  readonly report: (text: string) => void;
}

export interface RunningSubscriber {
  /** Lets a message under way end, for a moment. */
  close(): Promise<void>;
}

export function runSubscriber(parts: SubscriberParts): RunningSubscriber {
  const { subscriber, keeper, after, clock, random, limits, report, onGivenUp } = parts;
  const stop = new AbortController();
  let stopping = false;
  let endWait: () => void = () => undefined;
  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      const cancel = clock.background(ms, resolve);
      endWait = () => {
        cancel();
        resolve();
      };
    });
  const pause = async () => {
    if (!stopping) await wait(0);
    // INVARIANT: a batch that was read in part is not sent.
    if (stopping) throw new Stopped();
  };
  const announce = announcer(report, onGivenUp);
  const deliver = async (batch: Batch): Promise<Delivered | null> => {
    const delivered = await parts.deliver(batch, stop.signal);
    // A delivery that was cut off because we close says nothing about the receiver.
    if (delivered.kind === 'failed' && stopping) return null;
    announce(batch, delivered);
    return delivered;
  };
  const chooser = chooseBatches({ subscriber, after, clock, limits, pause });
  const retries = trackRetries({ clock, random, limits, report, onGivenUp });
  const delivery = createDelivery({ subscriber, keeper, chooser, retries, clock, limits, deliver });

  let lastProblem = '';
  const loop = async () => {
    while (!stopping) {
      let hasMore = false;
      try {
        hasMore = await delivery.deliverNext();
        if (!stopping) await delivery.retryAside();
        lastProblem = '';
      } catch (error) {
        if (error instanceof Stopped) return;
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

class Stopped extends Error {}

/** Reports the first failure, the end of the failures, and everybody who will never be told. */
function announcer(report: SubscriberParts['report'], onGivenUp: SubscriberParts['onGivenUp']) {
  let failing = false;
  return (batch: Batch, delivered: Delivered): void => {
    const what = nameOfBatch(batch);
    if (delivered.kind === 'failed' && !failing)
      report(`did not take ${what} (${delivered.problem}): it is kept and tried again`);
    if (delivered.kind === 'taken' && failing) report('takes deliveries again');
    failing = delivered.kind === 'failed';
    if (delivered.kind !== 'taken' || delivered.butNot === undefined) return;
    report(`was told of ${what} only in part: ${delivered.butNot}`);
    onGivenUp(`a part of the message about ${what}`, delivered.butNot);
  };
}
