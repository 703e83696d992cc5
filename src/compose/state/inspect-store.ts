/** Opens a store for commands that only read it, and describes what prevents that. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { nodeHashing } from '../../adapters/store-sqlite/node-hashing.ts';
import { openSqliteReader } from '../../adapters/store-sqlite/read/open-reader.ts';
import { isEnvironmental, sqlite, sqliteCode, textOf } from '../../adapters/store-sqlite/file/refusal.ts';
import type { CliParts } from '../../doors/cli/run-command.ts';
import { createSessionInspection } from '../../shell/look/inspect-sessions.ts';
import { createInspection } from '../../shell/look/inspect.ts';

export async function openStore(file: string): ReturnType<CliParts['openStore']> {
  const problem = await problemOf(file);
  if (problem !== null) return { kind: 'refused', message: problem };
  const opened = await openSqliteReader(file);
  if (opened.kind === 'opened') {
    const { reader, close } = opened;
    const inspection = createInspection(reader, nodeHashing);
    return { kind: 'opened', inspection, sessions: createSessionInspection(reader), close };
  }
  // The adapter's message is about writing.
  if (opened.reason === 'not_writable') return refused(`'${file}' cannot be read: check its owner and mode`);
  return refused(opened.message);
}

const refused = (message: string) => ({ kind: 'refused', message }) as const;

/** The problem with the path itself; null if a file exists. */
export async function problemOf(file: string): Promise<string | null> {
  try {
    const found = await stat(file);
    if (found.isFile()) return null;
    if (found.isDirectory())
      return `'${file}' is a folder: name the file in it, such as '${path.join(file, 'recourse.db')}'`;
    return `'${file}' is not a file: name the store with --file or RECOURSE_FILE`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      return `'${file}' cannot be looked at (${code}): check the name and its rights`;
    return `there is no store at '${file}': name it with --file or RECOURSE_FILE, or start a gateway, which makes it`;
  }
}

export function explainFault(error: unknown, file: string): string | null {
  const code = sqliteCode(error);
  if (code === null || !isEnvironmental(error)) return null;
  if (code === sqlite.corrupt || code === sqlite.notADatabase)
    return `'${file}' is damaged (${textOf(error)}): keep a copy of it, and restore a backup`;
  return `'${file}' could not be read (${textOf(error)}): check the disk, then ask again`;
}
