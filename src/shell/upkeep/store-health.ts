/**
 * Who answers reads after a gateway was succeeded? The store of its successor: whoever still waits in the old one reads
 * on there,
 * and never from a file that was closed under them. Commits stay where they are. A read that fails is told as what it
 * is.
 */
import type { Store, StoreReader } from '../../ports/store.ts';
import { storeFailed, storeIsBack } from './commit.ts';
import type { Shell } from '../shell.ts';
import { bare } from '../ending/transition.ts';

/** They answer in pieces, and a store must not close between two of them. */
const listings: ReadonlySet<string> = new Set<keyof StoreReader>(['listCalls', 'listApprovals']);
const own: ReadonlySet<string> = new Set<keyof Store>([
  'incarnation',
  'highestTimeMs',
  'commit',
  'trouble',
  'answered',
  'erase',
]);

/** The store could not be read: no bug of ours, and never told as one. */
export class StoreUnreadable extends Error {
  override name = 'StoreUnreadable';
}

function unreadable(error: unknown): never {
  if (error instanceof StoreUnreadable) throw error;
  const said = error instanceof Error ? error.message : String(error);
  throw new StoreUnreadable(`the store could not be read (${said}): check the disk and the file`, { cause: error });
}

type Read = (...given: readonly unknown[]) => Promise<unknown>;

export function lastingReads(store: Store, successor: () => Store | null): Store {
  const underWay = new Set<Promise<unknown>>();
  const lasting = Object.entries(store).map(([name, value]): [string, unknown] => {
    if (own.has(name) || typeof value !== 'function') return [name, value];
    const read = ((...given) => {
      const asked: object = successor() ?? store;
      return (asked as Record<string, Read>)[name]?.(...given).catch(unreadable);
    }) as Read;
    if (!listings.has(name)) return [name, read];
    const counted: Read = (...given) => {
      const listing = read(...given);
      underWay.add(listing);
      const over = () => underWay.delete(listing);
      listing.then(over, over);
      return listing;
    };
    return [name, counted];
  });
  const close = async () => {
    await Promise.allSettled(underWay);
    await store.close();
  };
  return { ...(Object.fromEntries(lasting) as unknown as Store), close };
}

/** Returns how to stop it. */
export function watchStore(shell: Shell): () => void {
  let stopped = false;
  let takeBack = (): void => undefined;
  const next = () => {
    if (!stopped) takeBack = shell.ports.clock.background(shell.limits.sweepEveryMs, () => void look());
  };
  const look = async (): Promise<void> => {
    try {
      await lookAtStore(shell);
    } catch (error) {
      shell.ports.notify({ kind: 'suppressed', what: 'a look at the store', reason: String(error) });
    }
    next();
  };
  next();
  return () => {
    stopped = true;
    takeBack();
  };
}

export async function lookAtStore(shell: Shell): Promise<void> {
  const { live, ports } = shell;
  const trouble = await ports.store.trouble();
  if (live.closed || live.successor !== null) return;
  if (trouble !== null) return storeFailed(trouble, shell);
  if (live.storeTrouble === null) return;
  const [answer] = await ports.store.commit([bare(shell)]);
  if (answer?.kind === 'committed') storeIsBack(shell);
  else if (answer?.kind === 'unavailable') storeFailed(answer, shell);
}
