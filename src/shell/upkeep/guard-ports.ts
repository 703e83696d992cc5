/**
 * The ports as the shell uses them: wall time that never goes back, reads that go to the successor of a gateway that
 * was replaced, and a store that is watched. Commits stay where they are. A read that fails says so.
 */
import type { Store, StoreReader } from '../../ports/store.ts';
import { storeFailed, storeIsBack } from './commit.ts';
import type { Shell } from '../shell.ts';
import { bare } from '../ending/transition.ts';
import type { Clock } from '../../ports/clock.ts';
import { suppressed } from '../../core/values/suppressed.ts';

/** Reads that run in several parts; the store must not close between two of them. */
const listings: ReadonlySet<string> = new Set<keyof StoreReader>(['listCalls', 'listApprovals']);
const ownMethods: ReadonlySet<string> = new Set<keyof Store>([
  'incarnation',
  'highestTimeMs',
  'commit',
  'trouble',
  'answered',
  'erase',
]);

/** The store could not be read: a fault of the outside world, never reported as a bug. */
export class StoreUnreadable extends Error {
  override name = 'StoreUnreadable';
}

function unreadable(error: unknown): never {
  if (error instanceof StoreUnreadable) throw error;
  const said = error instanceof Error ? error.message : String(error);
  throw new StoreUnreadable(`the store could not be read (${said}): check the disk and the file`, { cause: error });
}

type Read = (...given: readonly unknown[]) => Promise<unknown>;

export function readFromSuccessor(store: Store, successor: () => Store | null): Store {
  const underWay = new Set<Promise<unknown>>();
  const methods = Object.entries(store).map(([name, value]): [string, unknown] => {
    if (ownMethods.has(name) || typeof value !== 'function') return [name, value];
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
  return { ...(Object.fromEntries(methods) as unknown as Store), close };
}

/** Checks the store at every interval of the sweeper. Returns a function that stops it. */
export function watchStore(shell: Shell): () => void {
  let stopped = false;
  let takeBack = (): void => undefined;
  const next = () => {
    if (!stopped) takeBack = shell.ports.clock.background(shell.limits.sweepEveryMs, () => void check());
  };
  const check = async (): Promise<void> => {
    try {
      await checkStore(shell);
    } catch (error) {
      shell.ports.notify(suppressed('a look at the store', error));
    }
    next();
  };
  next();
  return () => {
    stopped = true;
    takeBack();
  };
}

/** Clears the reported trouble once an empty commit succeeds. */
export async function checkStore(shell: Shell): Promise<void> {
  const { live, ports } = shell;
  const trouble = await ports.store.trouble();
  if (live.closed || live.successor !== null) return;
  if (trouble !== null) return storeFailed(trouble, shell);
  if (live.storeTrouble === null) return;
  const [answer] = await ports.store.commit([bare(shell)]);
  if (answer?.kind === 'committed') storeIsBack(shell);
  else if (answer?.kind === 'unavailable') storeFailed(answer, shell);
}

/** Smaller corrections are not reported. */
const noticedMs = 1_000;

export function steadyClock(clock: Clock, floorMs: number, onHeld: (behindMs: number) => void): Clock {
  let highest = floorMs;
  let held = false;
  return {
    ...clock,
    nowMs() {
      const now = clock.nowMs();
      if (now >= highest) {
        highest = now;
        held = false;
        return now;
      }
      if (!held && highest - now > noticedMs) {
        held = true;
        onHeld(highest - now);
      }
      return highest;
    },
  };
}
