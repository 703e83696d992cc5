/**
 * Keeps the cursors of all subscribers in memory and in one file. Writes one at a time; changes that wait share the next
 * write.
 */
import { type Cursors, writeCursors } from './cursor-file.ts';
import type { Cursor } from './subscriber.ts';

export interface CursorKeeper {
  of(name: string): Cursor;
  /** In memory only; the next write has it. */
  move(name: string, cursor: Cursor): void;
  /** Resolves when what is in memory now is in the file, or the failure was reported. */
  save(): Promise<void>;
}

export interface KeeperParts {
  readonly file: string;
  readonly storeTag: string;
  readonly cursors: Cursors;
  readonly onTrouble: (problem: string) => void;
}

export function keepCursors({ file, storeTag, cursors, onTrouble }: KeeperParts): CursorKeeper {
  const kept = new Map(cursors);
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  let reported = '';
  const write = async () => {
    try {
      await writeCursors(file, storeTag, kept);
      reported = '';
    } catch (error) {
      const { code = 'unwritable' } = error as NodeJS.ErrnoException;
      // Deliveries continue: a repeated one does less harm than a missing one.
      if (code !== reported) onTrouble(`'${file}' cannot be written (${code}): after a restart some is told again`);
      reported = code;
    }
  };
  return {
    of(name) {
      const cursor = kept.get(name);
      if (cursor === undefined) throw new Error(`bug: '${name}' has no cursor`);
      return cursor;
    },
    move: (name, cursor) => void kept.set(name, cursor),
    save() {
      next ??= current.then(() => {
        next = null;
        current = write();
        return current;
      });
      return next;
    },
  };
}
