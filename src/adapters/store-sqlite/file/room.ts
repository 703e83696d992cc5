/**
 * Is there room on the disk? Once a commit has found none, nothing is written until there is some again: a small commit
 * that happens to fit would only let calls begin whose outcomes do not.
 */
import { statfsSync } from 'node:fs';
import path from 'node:path';

import type { CommitResult, StoreTrouble } from '../../../ports/store.ts';
import { fullDisk } from './refusal.ts';

/** Less than this is no room: a few calls need as much. */
const roomBytes = 128 << 10;

export interface Room {
  /** Null if there is some, or nobody can tell. */
  trouble(): StoreTrouble | null;
  /** The same, for a commit: asked of the disk only after one has failed for want of room. */
  refuses(): StoreTrouble | null;
  heard(results: readonly CommitResult[]): void;
}

export function createRoom(file: string): Room {
  const folder = path.dirname(file);
  let isFull = false;
  const trouble = (): StoreTrouble | null => {
    try {
      const { bavail, bfree, bsize } = statfsSync(folder);
      const blocks = process.getuid?.() === 0 ? bfree : bavail;
      return blocks * bsize < roomBytes ? fullDisk(file) : null;
    } catch {
      // A commit will say what is wrong with it.
      return null;
    }
  };
  return {
    trouble,
    refuses: () => (isFull ? trouble() : null),
    heard(results) {
      for (const result of results)
        if (result.kind === 'unavailable') isFull ||= result.fault === 'disk_full';
        else if (result.kind === 'committed') isFull = false;
    },
  };
}
