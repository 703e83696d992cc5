/**
 * Checks the free space of the disk. Once a commit has failed on a full disk, nothing is written until there is space
 * again: a small commit that happens to fit would only let calls begin whose outcomes do not.
 */
import { statfsSync } from 'node:fs';
import path from 'node:path';

import type { CommitResult, StoreTrouble } from '../../../ports/store.ts';
import { fullDisk } from './refusal.ts';

/** Less than this counts as a full disk: a few calls need as much. */
const minFreeBytes = 128 << 10;

export interface FreeSpace {
  /** Null if there is space, or it cannot be found out. */
  check(): StoreTrouble | null;
  /** The same for a commit: the disk is asked only after a commit has found it full. */
  checkForCommit(): StoreTrouble | null;
  committed(results: readonly CommitResult[]): void;
}

export function createFreeSpace(file: string): FreeSpace {
  const folder = path.dirname(file);
  let wasFull = false;
  const check = (): StoreTrouble | null => {
    try {
      const { bavail, bfree, bsize } = statfsSync(folder);
      const blocks = process.getuid?.() === 0 ? bfree : bavail;
      return blocks * bsize < minFreeBytes ? fullDisk(file) : null;
    } catch {
      // A commit will say what is wrong with it.
      return null;
    }
  };
  return {
    check,
    checkForCommit: () => (wasFull ? check() : null),
    committed(results) {
      for (const result of results)
        if (result.kind === 'unavailable') wasFull ||= result.fault === 'disk_full';
        else if (result.kind === 'committed') wasFull = false;
    },
  };
}
