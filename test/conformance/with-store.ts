/** One test, one store of its own, removed whatever happens. */
import { it } from 'node:test';

import type { Store } from '../../src/ports/store.ts';
import type { StoreHome } from './store-fixtures.ts';

export type Create = () => Promise<StoreHome>;

export function withStore(create: Create) {
  return (name: string, body: (store: Store, home: StoreHome) => Promise<void>): void => {
    it(name, async () => {
      const home = await create();
      try {
        await body(await home.open(), home);
      } finally {
        await home.remove();
      }
    });
  };
}
