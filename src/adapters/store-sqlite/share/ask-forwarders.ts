/**
 * Asks other processes, before a write without a key is recorded, whether the requester of an equal write has left.
 * Each answers once what it knows is on record; the transition's own condition then decides (ADR 0047).
 */
import type { IncarnationId } from '../../../core/call/call.ts';
import type { CommitResult } from '../../../ports/store.ts';
import type { WriteRequest } from '../write/batch.ts';
import { type Equal, equalTo, type EqualWrites } from './equal-writes.ts';
import type { Door } from './serve-forwarders.ts';

/** It was not recorded, and may be tried again. */
export const notKnown: CommitResult = {
  kind: 'unavailable',
  fault: 'overloaded',
  message: 'another process cannot record whether the requester of an equal call is still there: ask again later',
};

export type AskForwarders = ReturnType<typeof createAskForwarders>;

export type Departures = ReturnType<typeof createDepartures>;

export function createAskForwarders(writes: EqualWrites, departures: Departures, door: () => Door | null) {
  let own: (equal: Equal) => Promise<boolean> = () => Promise.resolve(true);

  const asksOf = (equal: Equal, by: IncarnationId | null): Promise<boolean>[] => {
    const links = door();
    const whom = writes.begunBy(equal, by) ?? (links?.forwarders() ?? []).filter((each) => each !== by);
    const asked = links === null ? [] : whom.map((each) => links.ask(each, equal));
    // Ignored: a requester that cannot be looked up counts as gone.
    return by === null ? asked : [own(equal).catch(() => false), ...asked];
  };

  return {
    listen: (callback: typeof own): void => void (own = callback),
    /**
     * `by` is the forwarder that writes, or null for the owner. Null if nobody has to be asked; false if somebody could
     * not record it.
     */
    ask(requests: readonly WriteRequest[], by: IncarnationId | null): Promise<boolean> | null {
      const asked = requests.flatMap((request) => {
        const equal = equalTo(request);
        return equal === null ? [] : [asksOf(equal, by)];
      });
      if (asked.length === 0 || (departures.areSettled() && asked.every(({ length }) => length === 0))) return null;
      return Promise.all(asked.flat()).then(async (known) => {
        // A forwarder that was asked and is gone has left calls behind: those count as given up.
        await departures.settled();
        return known.every(Boolean);
      });
    },
  };
}

/**
 * Tells listeners which forwarders are gone. Those that left before anybody listened are told to the first listener.
 */
export function createDepartures() {
  const listeners = new Set<(incarnation: IncarnationId) => unknown>();
  const untold: IncarnationId[] = [];
  const settling = new Set<Promise<unknown>>();
  const settle = (work: () => Promise<unknown>): Promise<unknown> => {
    // Ignored: the listener reports what fails while it settles.
    const settled = work().catch(() => undefined);
    settling.add(settled);
    return settled.then(() => settling.delete(settled));
  };
  return {
    /** Listeners hear it after `written`. Resolves when they have settled what it left. */
    tell(incarnation: IncarnationId, written: Promise<unknown>): Promise<unknown> {
      return settle(async () => {
        await written;
        if (listeners.size === 0) untold.push(incarnation);
        await Promise.all([...listeners].map((listener) => listener(incarnation)));
      });
    },
    listen(listener: (incarnation: IncarnationId) => unknown): () => void {
      listeners.add(listener);
      for (const incarnation of untold.splice(0)) void settle(async () => listener(incarnation));
      return () => listeners.delete(listener);
    },
    areSettled: () => settling.size === 0,
    /** Resolves once everything that they left is on record. */
    async settled(): Promise<void> {
      while (settling.size > 0) await Promise.all(settling);
    },
  };
}
