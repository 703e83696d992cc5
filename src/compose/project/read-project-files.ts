/**
 * Reads the files of a project: the configuration, the files that it includes, and the lock beside it. Reads no more
 * of a file than its limit allows. Must not check what is written in them.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { LockText } from '../../config/read-config.ts';
import { lockName, maxLockChars } from '../../config/lock.ts';
import { type IncludedFile, type IncludedFiles, includesIn } from '../../config/yaml/merge-files.ts';
import { yamlLimits } from '../../config/yaml/yaml-tree.ts';

export interface ReadRefusal {
  readonly ok: false;
  readonly isMissing: boolean;
  readonly message: string;
  readonly fix: string;
}

export type ReadText = { readonly ok: true; readonly text: string } | ReadRefusal;

/** The files beside a configuration: includes and lock. `files` lists all that were read. */
export interface ProjectFiles {
  readonly included: IncludedFiles;
  readonly lock: LockText | null;
  readonly lockProblem: ReadRefusal | null;
  readonly files: readonly string[];
}

/** A character takes at most four bytes. */
const maxConfigBytes = yamlLimits.maxChars * 4;
const maxLockBytes = maxLockChars * 4;
/** For all includes together, so that many small files cannot exceed the limit of one. */
const maxIncludedChars = 4 << 20;

export async function readText(file: string, maxBytes = maxConfigBytes): Promise<ReadText> {
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of createReadStream(file)) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > maxBytes) return refused(`the file is longer than ${maxBytes} bytes`, 'split it');
    }
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch (error) {
    return whyNot(error);
  }
}

function whyNot(error: unknown): ReadRefusal {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return {
      ...refused('this file does not exist', 'write one, or name another; a module of a workflow works too'),
      isMissing: true,
    };
  if (code === 'EISDIR') return refused('this is a folder', 'name the file in it, such as recourse.yaml');
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return refused('this is not UTF-8', 'save it as UTF-8');
  return refused(`it cannot be read (${code})`, 'check its owner and mode');
}

/** The path of a file for display: relative to `cwd`, or absolute if it was named so. */
export const displayPath = (named: string | undefined, file: string, cwd: string): string =>
  path.isAbsolute(named ?? '') ? file : path.relative(cwd, file) || file;

/** Names in problems are relative to `cwd`. */
export async function readProjectFiles(file: string, text: string, cwd: string): Promise<ProjectFiles> {
  const folder = path.dirname(file);
  const show = (name: string) => path.relative(cwd, name) || name;
  const included = new Map<string, IncludedFile>();
  const files = [file];
  let charsLeft = maxIncludedChars;
  for (const written of includesIn(text)) {
    const name = path.resolve(folder, written);
    const read = await readIncluded(written, name, show(name));
    if (read.ok) charsLeft -= read.text.length;
    included.set(
      written,
      charsLeft >= 0
        ? read
        : refused(`the files have more than ${maxIncludedChars} characters together`, 'include fewer'),
    );
    files.push(name);
  }
  const lockFile = path.join(folder, lockName);
  const lock = await readText(lockFile, maxLockBytes);
  files.push(lockFile);
  return {
    included,
    lock: lock.ok ? { file: show(lockFile), text: lock.text } : null,
    lockProblem: lock.ok || lock.isMissing ? null : lock,
    files,
  };
}

/** A pipe or a device may never end; only a plain file is included. */
async function readIncluded(written: string, file: string, shown: string): Promise<IncludedFile> {
  try {
    const found = await stat(file);
    if (!found.isFile()) return refused(`'${written}' is no plain file`, 'name a file');
  } catch {
    return refused(`there is no file '${written}'`, 'correct the path; it is read from the folder of this file');
  }
  const read = await readText(file);
  return read.ok ? { ...read, file: shown } : refused(`'${written}': ${read.message}`, read.fix);
}

function refused(message: string, fix: string): ReadRefusal {
  return { ok: false, isMissing: false, message, fix };
}
