/**
 * Checks that the files on the disk are still the store that was opened. SQLite goes on writing into a file that was
 * deleted, emptied or replaced. Looks at names and sizes only: closing a descriptor would drop the locks that this
 * process holds.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';

export interface Presence {
  /** What is wrong, in a few words; null if nothing is. */
  problem(): string | null;
  close(): void;
}

/** A database has a header; a log begins with four bytes that are never zero. */
const headerBytes = 100;
const emptyMagic = 0;

/** Call it once the file is open for writing and its log exists. */
export function createPresence(file: string): Presence {
  const log = `${file}-wal`;
  const known = [file, log, `${file}-lock`].flatMap((name) => {
    const found = statSync(name, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ name, dev: found.dev, ino: found.ino }];
  });
  // No lock of SQLite's is on the log, so it may be opened beside it.
  const descriptor = openSync(log, 'r');
  const magic = Buffer.alloc(4);
  return {
    problem() {
      for (const { name, dev, ino } of known) {
        const now = statSync(name, { throwIfNoEntry: false });
        if (now === undefined) return `'${name}' was deleted`;
        if (now.dev !== dev || now.ino !== ino) return `'${name}' was replaced`;
        if (name === file && now.size < headerBytes) return `'${file}' was emptied`;
      }
      // Writing after the log was emptied leaves zeros at its start. A log of length zero was folded into the file.
      if (readSync(descriptor, magic, 0, magic.length, 0) === magic.length && magic.readUInt32BE() === emptyMagic)
        return `'${log}' was emptied`;
      return null;
    },
    close: () => closeSync(descriptor),
  };
}

export const lostMessage = (problem: string): string =>
  `${problem} while the store was open, so nothing is recorded any more: stop every process of it, put the store back or restore a backup, then start again`;
