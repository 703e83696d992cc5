/**
 * Masks live keys in one stream: those that stand in one piece in a text, wherever that is cut, and those that stand in
 * one event, as in a result.
 */
import { findKeyIds } from '../../adapters/keyring-sqlite/find-keys.ts';
import type { LiveKeys } from '../../adapters/keyring-sqlite/key-search.ts';
import { mark } from '../../adapters/keyring-sqlite/key-pieces.ts';
import { seekKeys } from '../../adapters/keyring-sqlite/seek-keys.ts';
import { createHoldBack } from '../../core/model/hold-back.ts';
import type { StreamEvent } from '../../ports/upstream.ts';
import { dataOf, type EventFilter, withData } from './filter-relay.ts';

/** `liveOf`: which of these ids belong to keys; null if there are none. */
export function keysInStream(liveOf: (ids: readonly string[]) => Promise<LiveKeys | null>): EventFilter {
  const known = new Map<string, boolean>();
  const seeker = seekKeys((id) => known.get(id));
  const held = createHoldBack(seeker, mark);

  async function learn(): Promise<void> {
    const ids = [...seeker.unknown].filter((id) => !known.has(id));
    const live = await liveOf(ids);
    // INVARIANT: an id that cannot be checked counts as the id of a key.
    for (const id of ids) known.set(id, live !== null && (live.hashes.has(id) || live.unsure.has(id)));
  }
  const isUnsure = () => [...seeker.unknown].some((id) => !known.has(id));

  async function masked(event: StreamEvent): Promise<StreamEvent> {
    // Most events end here, before anything is parsed.
    const mayHide = event.data.includes('\\u') || findKeyIds(event.data) !== null;
    const found = mayHide ? findKeyIds(dataOf(event)) : null;
    const live = found && (await liveOf(found.ids));
    const shown = live && found.mask(live);
    return shown === null ? event : withData(event, shown.value);
  }
  const all = (events: readonly StreamEvent[]) => Promise.all(events.map(masked));

  return {
    async take(event) {
      const ready = [...held.take(event)];
      while (isUnsure()) {
        await learn();
        ready.push(...held.again());
      }
      return all(ready);
    },
    end: () => all(held.end()),
  };
}
