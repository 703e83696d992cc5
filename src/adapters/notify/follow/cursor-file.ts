/**
 * Reads and writes the cursors of all subscribers: one file beside the store, replaced atomically, readable by its owner
 * only. It holds positions in the journal and counts; no message, address or secret.
 */
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { isObject } from '../../../core/values/json.ts';
import { isAt, isBefore, positionText, readPosition } from './positions.ts';
import type { Cursor, Failed, SentCount } from './subscriber.ts';

export type Cursors = ReadonlyMap<string, Cursor>;

export type ReadCursors =
  | { readonly kind: 'read'; readonly store: string; readonly cursors: Cursors }
  | { readonly kind: 'missing' }
  | { readonly kind: 'broken'; readonly problem: string };

const version = 1;

export async function readCursors(file: string, maxBytes: number): Promise<ReadCursors> {
  let text: string;
  try {
    if ((await stat(file)).size > maxBytes) return { kind: 'broken', problem: 'too large' };
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { kind: 'missing' } : { kind: 'broken', problem: code };
  }
  try {
    return cursorsIn(JSON.parse(text)) ?? { kind: 'broken', problem: 'not of this version' };
  } catch {
    return { kind: 'broken', problem: 'no JSON' };
  }
}

/** Rejects if the disk does; what was there before then still stands. */
export async function writeCursors(file: string, store: string, cursors: Cursors): Promise<void> {
  const fresh = `${file}-new`;
  await rm(fresh, { force: true });
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(`${JSON.stringify({ version, store, hooks: written(cursors) })}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}

const written = (cursors: Cursors) =>
  Object.fromEntries(
    [...cursors].map(([name, { after, head, aside, sent }]) => [
      name,
      {
        after: positionText(after),
        head: head === null ? null : writtenFailed(head),
        aside: aside.map(writtenFailed),
        ...(sent === null ? {} : { sent: { from_ms: sent.fromMs, count: sent.count } }),
      },
    ]),
  );

const writtenFailed = ({ at, through, tries, sinceMs }: Failed) => ({
  at: positionText(at),
  ...(isAt(at, through) ? {} : { through: positionText(through) }),
  tries,
  since_ms: sinceMs,
});

/** Null unless all of it is as it is written. */
function cursorsIn(value: unknown): ReadCursors | null {
  if (!isObject(value) || value['version'] !== version || !isObject(value['hooks'])) return null;
  const store = value['store'];
  if (typeof store !== 'string') return null;
  const cursors = new Map<string, Cursor>();
  for (const [name, each] of Object.entries(value['hooks'])) {
    const cursor = cursorIn(each);
    if (cursor === null) return null;
    cursors.set(name, cursor);
  }
  return { kind: 'read', store, cursors };
}

function cursorIn(value: unknown): Cursor | null {
  if (!isObject(value) || !Array.isArray(value['aside'])) return null;
  const after = readPosition(value['after']);
  const head = value['head'] === null ? null : failedIn(value['head']);
  const aside = value['aside'].map(failedIn);
  const sent = value['sent'] === undefined ? null : sentIn(value['sent']);
  if (after === null || head === undefined || aside.includes(undefined) || sent === undefined) return null;
  return { after, head, aside: aside as Failed[], sent };
}

function failedIn(value: unknown): Failed | undefined {
  if (!isObject(value)) return undefined;
  const { at: place, through: end, tries, since_ms: sinceMs } = value as Readonly<Record<string, unknown>>;
  const at = readPosition(place);
  const through = end === undefined ? at : readPosition(end);
  if (at === null || through === null || isBefore(through, at) || !isCount(tries) || !isCount(sinceMs))
    return undefined;
  return { at, through, tries, sinceMs };
}

function sentIn(value: unknown): SentCount | undefined {
  if (!isObject(value)) return undefined;
  const { from_ms: fromMs, count } = value as Readonly<Record<string, unknown>>;
  return isCount(fromMs) && isCount(count) ? { fromMs, count } : undefined;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
