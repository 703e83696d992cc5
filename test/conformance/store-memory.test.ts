/** The model in memory keeps the contract of stores: what the simulation finds on it holds for the real ones. */
import { createMemoryState } from '../simulation/memory-state.ts';
import { openMemoryStore } from '../simulation/memory-store.ts';
import { createRandom } from '../simulation/random.ts';
import type { Store } from '../../src/ports/store.ts';
import { provesStore } from './store.ts';

provesStore('memory', async () => {
  const state = createMemoryState(createRandom(1, 'conformance'));
  let open: Store | null = null;
  let ageMs = 0;
  state.age = () => ageMs;
  return {
    open: async () => (open = openMemoryStore(state, 1_600_000_000_000)),
    // Nothing is lost but the incarnation itself: what was acknowledged is in the shared state.
    crash: async () => void (open = null),
    passes: (ms) => void (ageMs += ms),
    remove: async () => open?.close(),
  };
});
