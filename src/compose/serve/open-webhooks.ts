/**
 * Starts the webhook senders of a store. One of the processes that serve a store sends, whether or not it owns the
 * store; when it dies, another takes over where it stopped. Never delays a call. A hook that cannot start is reported,
 * not fatal.
 */
import { startWebhooks, type Webhooks } from '../../adapters/notify-webhook/start-webhooks.ts';
import type { Webhook } from '../../adapters/notify-webhook/webhook.ts';
import { webhookLimits } from '../../adapters/notify-webhook/webhook-limits.ts';
import { takeLock } from '../../adapters/store-sqlite/share/lock.ts';
import { placeOfStore } from '../../adapters/store-sqlite/share/place.ts';
import { nodeClock } from '../../adapters/system-node/clock.ts';
import type { ApprovalId } from '../../core/approval/approval.ts';
import { viewOf } from '../../shell/approval/approval-service.ts';
import type { LastingGateway } from './keep-open.ts';

export interface WebhooksOrder {
  readonly hooks: readonly Webhook[];
  /** The store's file. */
  readonly store: string;
  readonly onTrouble: (problem: string) => void;
}

const lookEveryMs = 1_000;

/** Resolves when the start position of each hook is on disk, or when another process sends. */
export async function openWebhooks(
  { hooks, store, onTrouble }: WebhooksOrder,
  { current }: LastingGateway,
): Promise<Webhooks> {
  if (hooks.length === 0) return { close: async () => undefined };
  let started: Promise<Webhooks | null> = Promise.resolve(null);
  let told = '';
  const place = placeOfStore(store)?.file ?? store;
  const start = async (): Promise<Webhooks | null> => {
    // INVARIANT: only one process sends messages and writes the positions of the hooks.
    const lock = await takeLock(`${place}.hooks-lock`);
    if (lock.kind === 'taken') return null;
    try {
      if (lock.kind === 'refused') throw new Error(lock.message);
      const running = await startWebhooks(hooks, {
        store: () => current().shell.ports.store,
        async approval(id) {
          const { shell } = current();
          const found = await shell.ports.store.approval(id as ApprovalId);
          return found === null ? null : { tenant: found.tenant, view: await viewOf(found, shell) };
        },
        file: `${place}.hooks.json`,
        clock: nodeClock,
        random: Math.random,
        limits: webhookLimits,
        onTrouble,
      });
      return { close: () => running.close().finally(lock.free) };
    } catch (error) {
      if (lock.kind === 'held') lock.free();
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== told) onTrouble(`webhooks could not be started, and will be tried again: ${problem}`);
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
