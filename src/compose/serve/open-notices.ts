/**
 * Starts telling webhooks and people what happens in a store. One of the processes that serve it does, whether or not
 * it owns the store; when it dies, another takes over where it stopped. Never delays a call. A failed start is
 * reported, not fatal.
 */
import type { NoticeParts } from '../../adapters/notify/follow/subscriber.ts';
import { noticeLimits } from '../../adapters/notify/follow/notice-limits.ts';
import { type AnySubscriber, type Notices, startNotices } from '../../adapters/notify/start-notices.ts';
import { takeLock } from '../../adapters/store-sqlite/share/lock.ts';
import { placeOfStore } from '../../adapters/store-sqlite/share/place.ts';
import { nodeClock } from '../../adapters/system-node/clock.ts';
import type { ApprovalId } from '../../core/approval/approval.ts';
import { viewOf } from '../../shell/approval/approval-service.ts';
import { recordSuppressed } from '../../shell/upkeep/record-suppressed.ts';
import type { LastingGateway } from './keep-open.ts';

export interface NoticesOrder {
  readonly subscribers: readonly AnySubscriber[];
  /** The store's file. */
  readonly store: string;
  readonly onTrouble: (problem: string) => void;
  /** Makes the notifier of a kind that an extension adds. */
  readonly notifierOf: NoticeParts['notifierOf'];
}

const lookEveryMs = 1_000;

/** Resolves when the start position of each subscriber is on disk, or when another process sends. */
export async function openNotices(
  { subscribers, store, onTrouble, notifierOf }: NoticesOrder,
  { current }: LastingGateway,
): Promise<Notices> {
  if (subscribers.length === 0) return { close: async () => undefined };
  let started: Promise<Notices | null> = Promise.resolve(null);
  let told = '';
  const place = placeOfStore(store)?.file ?? store;
  const start = async (): Promise<Notices | null> => {
    // INVARIANT: only one process sends messages and writes the positions of the subscribers.
    const lock = await takeLock(`${place}.hooks-lock`);
    if (lock.kind === 'taken') return null;
    try {
      if (lock.kind === 'refused') throw new Error(lock.message);
      const running = await startNotices(subscribers, {
        store: () => current().shell.ports.store,
        async approval(id) {
          const { shell } = current();
          const found = await shell.ports.store.approval(id as ApprovalId);
          return found === null ? null : { tenant: found.tenant, view: await viewOf(found, shell) };
        },
        file: `${place}.hooks.json`,
        clock: nodeClock,
        random: Math.random,
        limits: noticeLimits,
        onTrouble,
        notifierOf,
        onGivenUp: (what, reason) => recordSuppressed({ kind: 'suppressed', what, reason }, current().shell),
      });
      return { close: () => running.close().finally(lock.free) };
    } catch (error) {
      if (lock.kind === 'held') lock.free();
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== told) onTrouble(`webhooks and mail could not be started, and will be tried again: ${problem}`);
      told = problem;
      return null;
    }
  };
  const look = () => {
    started = started.then((running) => running ?? start());
  };
  look();
  await started;
  const timer = setInterval(look, lookEveryMs).unref();
  return {
    async close() {
      clearInterval(timer);
      await (await started)?.close();
    },
  };
}
