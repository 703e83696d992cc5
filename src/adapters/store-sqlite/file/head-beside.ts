/**
 * Was there a store here, and how far was it? A small file beside it says so, written every second while it grows and when it closes: a store that is
 * missing, empty, another one or an older copy is noticed when it is opened. Not synced: it may be a second behind, and never ahead.
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

/** What stands where a store was that has been moved. */
interface MovedHead {
  readonly movedTo: string;
}

export const movedHead = (to: string): string => `${JSON.stringify({ moved_to: to })}\n`;

const nameOf = (file: string): string => `${file}.head`;
const writeEveryMs = 1_000;
/** The operator's key is made once a gateway has opened its store: where it is, a store was. */
const madeAfter = '.token';

/** Why the file must not be used as the store that was here; null if it may. `database` is null where there is no store. */
export function judgeHead(
  file: string,
  database: DatabaseSync | null,
  begin: Begin,
): Refused<'store_missing' | 'store_replaced'> | null {
  const head = begin === 'anew' ? null : readHead(file);
  const anew = 'start with --new-store (newStore in createGateway)';
  if (database === null) {
    if (head === null && begin !== 'never' && (begin === 'anew' || !existsSync(`${file}${madeAfter}`))) return null;
    if (head !== null && 'movedTo' in head)
      return refuse('store_missing', `the store '${file}' was moved to '${head.movedTo}': name that one, or ${anew}`);
    const message = `there was a store at '${file}', and it is missing or empty: put it back, or restore a backup. to begin with a new one, which knows no earlier key and call, ${anew}`;
    return refuse('store_missing', message);
  }
  if (head === null || 'movedTo' in head) return null;
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

/** Null if there never was a store. A file that cannot be read still says that there was one. */
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
    // It was cut short by a power failure: what it said is not known.
  }
  return null;
}

export interface HeadKeeper {
  committed(results: readonly CommitResult[]): void;
  close(): Promise<void>;
}

/** Resolves when it is written down that there is a store. `isThere`: whether it still is what stands at its name. */
export async function keepHead(file: string, first: Head, isThere: () => boolean): Promise<HeadKeeper> {
  const name = nameOf(file);
  let head: Position = first;
  let written: Position | null = null;
  let writing: Promise<void> = Promise.resolve();
  const save = async ({ epoch, seq }: Position): Promise<void> => {
    try {
      await writeFile(`${name}-new`, `${JSON.stringify({ store: first.store, epoch, seq })}\n`, { mode: 0o600 });
      await rename(`${name}-new`, name);
    } catch {
      // A disk that is full keeps the older one, which is right, too.
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
