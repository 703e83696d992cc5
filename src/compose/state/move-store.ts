/**
 * Moves a store that an earlier version left in the project's folder, with its keys, to another folder. Only if no
 * process has it open. A mark exists from before the first file moves until after the last, so an interrupted move is
 * continued and nobody starts with an empty store beside a full one.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { movedHead } from '../../adapters/store-sqlite/file/head-file.ts';
import { takeLock } from '../../adapters/store-sqlite/share/lock.ts';
import { openForReading } from '../../adapters/store-sqlite/read/open-reader.ts';
import { sqlite, sqliteCode } from '../../adapters/store-sqlite/file/refusal.ts';
import { syncFolder } from './state-folder.ts';

export type Moved =
  | { readonly kind: 'moved'; readonly from: string }
  /** There is nothing to move. */
  | { readonly kind: 'nothing' }
  /** A process has it open, so it is used where it is. */
  | { readonly kind: 'in_use'; readonly from: string }
  | { readonly kind: 'refused'; readonly message: string };

/** The database files of a store. Their logs are written back before a move. */
const databases = ['', '.keys'];
const parts = [...databases, '.head', '.seal', '.hooks.json', '.token'];
/** Files that commands create beside a store, and programs do not. */
const ofCommands = ['.keys', '.token'];
/** Files of a process that died; they are empty once the logs are written back. */
const remains = ['-wal', '-shm', '.keys-wal', '.keys-shm', '-sock'];
const markName = 'moving';
const waitForMoverMs = 60_000;
const waitForReaderMs = 2_000;
const lookEveryMs = 50;

/** Whether any file of a store exists. A move leaves only the head. */
export const hasStore = (file: string): boolean =>
  parts.some((part) => part !== '.head' && existsSync(`${file}${part}`));

/** INVARIANT: a store used only by a program is never moved: the program would create another one. */
export const hasStoreOfCommands = (file: string): boolean => ofCommands.some((part) => existsSync(`${file}${part}`));

/** `from` are the possible places; the first with a store counts. */
export async function moveStore(from: readonly string[], to: string): Promise<Moved> {
  // The mark is checked last: whoever sees files of a running move then sees its mark too.
  const isThere = hasStore(to);
  if (!existsSync(markOf(to)) && (isThere || !from.some(hasStoreOfCommands))) return { kind: 'nothing' };
  const lock = await lockPatiently(path.join(path.dirname(to), 'moving-lock'));
  if (lock === null) return refused(`another process is moving a store to '${to}': wait for it, then start again`);
  try {
    return await moveAlone(from, to);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return refused(
      `the store could not be moved to '${path.dirname(to)}' (${code ?? message}): nothing is lost, and the next start goes on with it; or name it with runtime.store or --file`,
    );
  } finally {
    lock.free();
  }
}

const refused = (message: string): Moved => ({ kind: 'refused', message });
const markOf = (to: string): string => path.join(path.dirname(to), markName);

async function lockPatiently(file: string) {
  const until = performance.now() + waitForMoverMs;
  for (;;) {
    const lock = await takeLock(file);
    if (lock.kind === 'held') return lock;
    if (lock.kind === 'refused' || performance.now() >= until) return null;
    await pause(lookEveryMs);
  }
}

async function moveAlone(from: readonly string[], to: string): Promise<Moved> {
  const mark = markOf(to);
  const begun = existsSync(mark) ? readFileSync(mark, 'utf8').trim() : null;
  const source = begun ?? (hasStore(to) ? undefined : from.find(hasStoreOfCommands));
  if (source === undefined) return { kind: 'nothing' };
  const inUse: Moved = begun === null ? { kind: 'in_use', from: source } : refused(takenAgain(source, to));
  const owner = await takeLock(`${source}-lock`);
  if (owner.kind === 'taken') return inUse;
  if (owner.kind === 'refused') return refused(owner.message);
  try {
    const looked = await openForReading(source);
    if (looked.kind === 'opened') looked.database.close();
    else if (looked.reason !== 'missing') return refused(looked.message);
    for (const each of databases) if (!(await writeBack(`${source}${each}`))) return inUse;
    if (begun === null) keep(mark, `${source}\n`);
    const problem = moveFiles(source, to);
    if (problem !== null) return refused(problem);
    rmSync(mark);
    return { kind: 'moved', from: source };
  } finally {
    owner.free();
  }
}

/** Every file of a store whose logs are written back; null, or what stands in the way. */
function moveFiles(source: string, to: string): string | null {
  for (const part of parts) {
    const problem = moveFile(`${source}${part}`, `${to}${part}`);
    if (problem !== null) return problem;
  }
  for (const each of remains) rmSync(`${source}${each}`, { force: true });
  // A program that opens the old path is told where the store is, instead of creating another one.
  keep(`${source}.head`, movedHead(to));
  syncFolder(path.dirname(to));
  return null;
}

const takenAgain = (source: string, to: string): string =>
  `a move from '${source}' to '${to}' was cut short, and another process uses '${source}' now: stop it, then start again`;

/** Writes the log into the database file. False if another process has the file open. */
async function writeBack(file: string): Promise<boolean> {
  if (!existsSync(file) || statSync(file).size === 0) return true;
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { timeout: waitForReaderMs });
  try {
    // Only the single user of a file can leave WAL mode; the next opening sets it again.
    const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = DELETE').get() as { journal_mode: string };
    return mode === 'delete';
  } catch (error) {
    if (sqliteCode(error) === sqlite.busy) return false;
    throw error;
  } finally {
    database.close();
  }
}

/** INVARIANT: the file is complete in its new place before the old one is removed. */
function moveFile(from: string, to: string): string | null {
  if (!existsSync(from)) return null;
  if (existsSync(to)) {
    // Equal files are an interrupted move; others are kept.
    if (!areEqual(from, to))
      return `'${from}' and '${to}' are both there and differ: move one of them away, then start again`;
    rmSync(from);
    return null;
  }
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyAcross(from, to);
    rmSync(from);
  }
  return null;
}

/** To another file system. */
function copyAcross(from: string, to: string): void {
  const fresh = `${to}-new`;
  copyFileSync(from, fresh);
  syncFile(fresh);
  renameSync(fresh, to);
  syncFolder(path.dirname(to));
}

function areEqual(one: string, other: string): boolean {
  if (statSync(one).size !== statSync(other).size) return false;
  const [a, b] = [openSync(one, 'r'), openSync(other, 'r')];
  const [left, right] = [Buffer.alloc(1 << 20), Buffer.alloc(1 << 20)];
  try {
    for (;;) {
      const [read, also] = [readSync(a, left), readSync(b, right)];
      if (read !== also || !left.subarray(0, read).equals(right.subarray(0, also))) return false;
      if (read === 0) return true;
    }
  } finally {
    closeSync(a);
    closeSync(b);
  }
}

function keep(file: string, text: string): void {
  writeFileSync(`${file}-new`, text, { mode: 0o600, flush: true });
  renameSync(`${file}-new`, file);
  syncFolder(path.dirname(file));
}

function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
