/** SQLite keeps the contract of stores, on real files. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';

import { openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import { spawnWorker } from '../../src/adapters/store-sqlite/write/writer-thread.ts';
import type { Store } from '../../src/ports/store.ts';
import { provesStore, type StoreHome } from './store.ts';

const home = async (): Promise<StoreHome> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-store-'));
  let passedMs = 0;
  let open: { store: Store; worker: Worker } | null = null;
  return {
    async open() {
      let worker: Worker | null = null;
      const opened = await openSqliteStore({
        // The contract says 'with some later commit'; here it is the very next one, so that no test has to wait.
        markEveryMs: 0,
        file: path.join(folder, 'store.db'),
        nowMs: () => 1_600_000_000_000,
        monotonicMs: () => passedMs,
        spawn: (options) => (worker = spawnWorker(options)),
      });
      if (opened.kind === 'refused') throw new Error(opened.message);
      open = { store: opened.store, worker: worker as unknown as Worker };
      return opened.store;
    },
    async crash() {
      // A dead worker closes no epoch; closing then only frees the lock, as the kernel does for a dead process.
      await open?.worker.terminate();
      await open?.store.close();
    },
    passes: (ms) => void (passedMs += ms),
    async remove() {
      await open?.store.close();
      rmSync(folder, { recursive: true });
    },
  };
};

provesStore('SQLite', home);
