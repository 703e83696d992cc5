/**
 * Locates the state folder of a project: store, keys, token and socket if no path is configured. It belongs to the
 * user, lies outside the project and is named after the project's real path. Uses no folder that other users can
 * write.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
  closeSync,
  fsyncSync,
  openSync,
} from 'node:fs';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export const storeName = 'recourse.db';
/** The file in a state folder that names its project. */
const ownerName = 'project';
const hashChars = 12;
/** The path must stay short, because the socket is in the folder too. */
const maxNameChars = 32;
const maxLooked = 1_000;

/**
 * The folder that holds the state of every project. A relative path in XDG_STATE_HOME does not count, by its
 * specification.
 */
export function stateRoot(env: Environment, platform: string = process.platform): string {
  const { RECOURSE_STATE_DIR: own, XDG_STATE_HOME: shared, LOCALAPPDATA: local } = env;
  if (own) return path.resolve(own);
  if (shared && path.isAbsolute(shared)) return path.join(shared, 'recourse');
  if (platform === 'win32' && local) return path.join(local, 'recourse');
  // INVARIANT: never a relative path, because that would be inside the project.
  const home = [env['HOME'], homedir()].find((each) => each !== undefined && path.isAbsolute(each));
  return path.join(home ?? userInfo().homedir, '.local', 'state', 'recourse');
}

/** The folder of one project. Two projects never share one, whatever they are called. */
export function stateFolder(project: string, env: Environment): string {
  const real = realPath(project);
  const name =
    path
      .basename(real)
      .replaceAll(/[^\w.-]/g, '_')
      .slice(0, maxNameChars) || 'root';
  const hash = createHash('sha256').update(real).digest('hex').slice(0, hashChars);
  return path.join(stateRoot(env), `${name}-${hash}`);
}

export const defaultStore = (project: string, env: Environment): string =>
  path.join(stateFolder(project, env), storeName);

/** Creates the folder if it is missing; null, or why it cannot be used. */
export function makeStateFolder(project: string, env: Environment): string | null {
  const folder = stateFolder(project, env);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const problem = sharedRoot(path.dirname(folder)) ?? notOurs(folder);
    if (problem !== null) return problem;
    const owner = path.join(folder, ownerName);
    if (!existsSync(owner)) writeFileSync(owner, `${realPath(project)}\n`, { mode: 0o600 });
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return `the state folder '${folder}' cannot be made (${code}): set RECOURSE_STATE_DIR to a folder of yours, or name the store with runtime.store or --file`;
  }
}

/** A user who can write the parent folder could replace ours, unless the sticky bit forbids it. */
function sharedRoot(root: string): string | null {
  if (process.platform === 'win32') return null;
  const { mode } = statSync(root);
  return (mode & 0o022) === 0 || (mode & 0o1000) !== 0 ? null : openToOthers(root);
}

/** INVARIANT: nobody else can write the folder, because that would let them create any key. */
function notOurs(folder: string): string | null {
  if (process.platform === 'win32') return null;
  const { mode, uid } = statSync(folder);
  if (uid !== process.getuid?.())
    return `the state folder '${folder}' belongs to another user: set RECOURSE_STATE_DIR to a folder of yours`;
  if ((mode & 0o022) !== 0) return openToOthers(folder);
  if ((mode & 0o077) !== 0) chmodSync(folder, 0o700);
  return null;
}

const openToOthers = (folder: string): string =>
  `other users can write '${folder}', where keys would be kept: chmod 700 '${folder}' if nobody has been there, or set RECOURSE_STATE_DIR`;

/** State folders of deleted projects with the same name: perhaps this project before it was moved. */
export function strandedFolders(project: string, env: Environment): readonly { folder: string; project: string }[] {
  const own = stateFolder(project, env);
  const prefix = path.basename(own).slice(0, -hashChars);
  const root = path.dirname(own);
  return namesIn(root)
    .filter((name) => name.startsWith(prefix) && name.length === prefix.length + hashChars)
    .slice(0, maxLooked)
    .map((name) => path.join(root, name))
    .filter((folder) => folder !== own && existsSync(path.join(folder, storeName)))
    .flatMap((folder) => {
      const owner = ownerOf(folder);
      return owner === null || existsSync(owner) ? [] : [{ folder, project: owner }];
    });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function ownerOf(folder: string): string | null {
  try {
    return readFileSync(path.join(folder, ownerName), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** Resolves links as far as the path exists, so that a project has one folder under every name. */
export function realPath(name: string): string {
  const full = path.resolve(name);
  try {
    return realpathSync(full);
  } catch {
    const above = path.dirname(full);
    return above === full ? full : path.join(realPath(above), path.basename(full));
  }
}

export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
