/** The paths of a store: its file, its lock and its socket. Every process must come to the same names. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Place {
  readonly file: string;
  readonly lock: string;
  readonly socket: string;
  /** A folder of our own for sockets whose path beside the file would be too long; null if it is not. */
  readonly socketFolder: string | null;
}

/** The shortest limit of the systems we know (macOS), with its closing zero. */
const maxSocketPath = 103;

/** Null if the folder does not exist. Links are resolved: one file, one lock, whatever it is called. */
export function placeOfStore(name: string, platform: string = process.platform): Place | null {
  const file = realFile(path.resolve(name));
  if (file === null) return null;
  const lock = `${file}-lock`;
  const digest = createHash('sha256').update(file).digest('hex').slice(0, 32);
  if (platform === 'win32') return { file, lock, socket: `\\\\.\\pipe\\recourse-${digest}`, socketFolder: null };
  const beside = `${file}-sock`;
  if (Buffer.byteLength(beside) <= maxSocketPath) return { file, lock, socket: beside, socketFolder: null };
  const folder = path.join(tmpdir(), `recourse-${process.getuid?.() ?? 0}`);
  return { file, lock, socket: path.join(folder, `${digest}.sock`), socketFolder: folder };
}

function realFile(file: string): string | null {
  try {
    return realpathSync(file);
  } catch {
    // Ignored: it does not exist yet; its folder must.
  }
  try {
    return path.join(realpathSync(path.dirname(file)), path.basename(file));
  } catch {
    return null;
  }
}

/** Makes the folder for sockets if it is missing. False if it belongs to another user, or others can read it. */
export function isPrivateFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
