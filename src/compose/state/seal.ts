/**
 * Signs the states that a gateway gives to clients, so that it recognises them later. The key is in a file beside the
 * store that only its owner can read, created on first use. Must not show the key, and uses no file that others can
 * read.
 */
import { createHmac, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { keyFilesOf } from './key-files.ts';

export type Seal = (text: string) => string | null;

const keyBytes = 32;
const keyText = /^[0-9a-f]{64}$/;
const maxFileBytes = 256;

/** Null while there is no key; the reason is reported once. */
export function createSeal(store: string, onTrouble: (problem: string) => void): Seal {
  let key: Buffer | null = null;
  let told = '';
  return (text) => {
    if (key === null) {
      const found = keyBeside(store);
      if ('problem' in found) {
        if (found.problem !== told) onTrouble(found.problem);
        told = found.problem;
        return null;
      }
      ({ key } = found);
    }
    return createHmac('sha256', key).update(text).digest('base64url');
  };
}

type Found = { readonly key: Buffer } | { readonly problem: string };

function keyBeside(store: string): Found {
  const file = keyFilesOf(store)?.seal ?? `${path.resolve(store)}.seal`;
  return readKey(file) ?? makeKey(file) ?? { problem: `'${file}' is gone again: let it be` };
}

/** Null if there is no such file. */
function readKey(file: string): Found | null {
  let descriptor: number;
  try {
    // Non-blocking, in case the file is a pipe.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? null : { problem: `'${file}' cannot be read (${code}): check its owner and mode` };
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) return { problem: `'${file}' is not a file: move it away` };
    // Checks the open file, not the name, so that it cannot be swapped in between.
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
      return { problem: `'${file}' can be read by other users: remove it, and another one is made` };
    const bytes = Buffer.alloc(maxFileBytes);
    const text = bytes.toString('utf8', 0, readSync(descriptor, bytes)).trim();
    return keyText.test(text)
      ? { key: Buffer.from(text, 'hex') }
      : { problem: `'${file}' holds no key: remove it, and another one is made` };
  } finally {
    closeSync(descriptor);
  }
}

/** Creates the file atomically. If several processes do this at once, all use the key of the first. */
function makeKey(file: string): Found | null {
  const fresh = `${file}-${randomBytes(6).toString('hex')}`;
  try {
    const descriptor = openSync(fresh, 'wx', 0o600);
    try {
      fchmodSync(descriptor, 0o600);
      writeSync(descriptor, `${randomBytes(keyBytes).toString('hex')}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    // INVARIANT: a link never replaces an existing file.
    linkSync(fresh, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') return { problem: `'${file}' cannot be written (${code}): check its folder and its disk` };
  } finally {
    rmSync(fresh, { force: true });
  }
  return readKey(file);
}
