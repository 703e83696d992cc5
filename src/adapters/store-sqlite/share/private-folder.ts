/** Is this folder ours alone? The place for sockets in the temporary folder, where anybody may write. */
import { lstatSync, mkdirSync } from 'node:fs';

/** Makes the folder if it is missing. False if somebody else made it, or could look into it. */
export function isPrivateFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
