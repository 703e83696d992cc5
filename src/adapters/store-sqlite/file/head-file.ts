/**
 * Reads and writes `<store>.head`, a small file that names the store and its last record. With it an opening notices a
 * store that is missing, empty, replaced or an older copy. It is not synced: it may be a second behind, never ahead.
 */
import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';

import { isObject } from '../../../core/values/json.ts';
import type { Position } from '../../../core/journal/record.ts';
import type { CommitResult } from '../../../ports/store.ts';
import { readTail, readTag } from './epoch.ts';
import { refuse, type Refused } from './refusal.ts';

/** Whether a store may be made: where there was none, whatever was there, or not at all. */
export type Begin = 'if_none' | 'anew' | 'never';

interface Head extends Position {
  readonly store: string;
}

/** Left where a store was that has been moved. */
interface MovedHead {
  readonly movedTo: string;
}

export const movedHead = (to: string): string => `${JSON.stringify({ moved_to: to })}\n`;

const nameOf = (file: string): string => `${file}.head`;
const writeEveryMs = 1_000;
/** The file of the operator's key is made after the store: where it exists, there was a store. */
const madeAfter = '.token';

const anew = 'start with --new-store (newStore in createGateway)';

/**
 * Why the file must not be used as the store that was here; null if it may. `database` is null where there is no store.
 */
export function checkHead(
  file: string,
  database: DatabaseSync | null,
  begin: Begin,
): Refused<'store_missing' | 'store_replaced'> | null {
  const head = begin === 'anew' ? null : readHead(file);
  if (database === null) return checkMissing(file, head, begin);
  return head === null || 'movedTo' in head ? null : checkSame(file, database, head);
}

function checkMissing(file: string, head: Head | MovedHead | null, begin: Begin): Refused<'store_missing'> | null {
  if (head === null && begin !== 'never' && (begin === 'anew' || !existsSync(`${file}${madeAfter}`))) return null;
  if (head !== null && 'movedTo' in head)
    return refuse('store_missing', `the store '${file}' was moved to '${head.movedTo}': name that one, or ${anew}`);
  const message = `there was a store at '${file}', and it is missing or empty: put it back, or restore a backup. to begin with a new one, which knows no earlier key and call, ${anew}`;
  return refuse('store_missing', message);
}

function checkSame(file: string, database: DatabaseSync, head: Head): Refused<'store_replaced'> | null {
  const last = readTail(database).head;
  const isSame = readTag(database) === head.store;
  if (isSame && last !== null && (last.epoch > head.epoch || (last.epoch === head.epoch && last.seq >= head.seq)))
    return null;
  const found = isSame
    ? `'${file}' ends at record ${last?.epoch ?? 0}/${last?.seq ?? 0}, but had record ${head.epoch}/${head.seq}: it is an older copy, or its log was deleted`
    : `'${file}' is another store than the one that was here`;
  const message = `${found}. put back what was here; to go on with this one, which knows nothing of what came later, ${anew}`;
  return refuse('store_replaced', message);
}

/** Null if the head file is missing or cannot be parsed. */
function readHead(file: string): Head | MovedHead | null {
  let text: string;
  try {
    text = readFileSync(nameOf(file), 'utf8');
  } catch {
    return null;
  }
  try {
    const read: unknown = JSON.parse(text);
    if (isObject(read) && typeof read['moved_to'] === 'string') return { movedTo: read['moved_to'] };
    if (isObject(read) && Number.isSafeInteger(read['epoch']) && Number.isSafeInteger(read['seq']))
      return { store: String(read['store']), epoch: Number(read['epoch']), seq: Number(read['seq']) };
  } catch {
    // Ignored: it was cut short by a power failure.
  }
  return null;
}

interface HeadWriter {
  committed(results: readonly CommitResult[]): void;
  close(): Promise<void>;
}

/**
 * Writes the head every second while it moves, and when closed. Resolves after the first write. `isThere`: whether the
 * store still is at its name.
 */
export async function startHeadWriter(file: string, first: Head, isThere: () => boolean): Promise<HeadWriter> {
  const name = nameOf(file);
  let head: Position = first;
  let written: Position | null = null;
  let writing: Promise<void> = Promise.resolve();
  const save = async ({ epoch, seq }: Position): Promise<void> => {
    try {
      await writeFile(`${name}-new`, `${JSON.stringify({ store: first.store, epoch, seq })}\n`, { mode: 0o600 });
      await rename(`${name}-new`, name);
    } catch {
      // On a full disk the older head stays, which is still true.
      written = null;
    }
  };
  const write = () => {
    if (written === head || !isThere()) return;
    written = head;
    const next = head;
    writing = writing.then(() => save(next));
  };
  write();
  await writing;
  const timer = setInterval(write, writeEveryMs).unref();
  return {
    committed(results) {
      for (const result of results) if (result.kind === 'committed' && result.position !== null) head = result.position;
    },
    async close() {
      clearInterval(timer);
      write();
      await writing;
    },
  };
}
