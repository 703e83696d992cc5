/** Reads the files of the project, and the subjects of its commits as if they were a file. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Tree } from './read-source.ts';

const root = path.join(import.meta.dirname, '../..');
const notOurs = new Set(
  ['.git', '.recourse', 'console/dist', 'coverage', 'dist', 'node_modules'].map((name) => path.join(root, name)),
);

/** One subject a line. Not there where there is no history, as in a package or a shallow clone. */
export const subjectsFile = '.git/subjects';
/** The last commit before subjects had a limit. */
const lastWithoutLimit = '8ac24ed';

export function readTree(): Tree {
  const tree = new Map(readFolder(root));
  const log = spawnSync('git', ['log', '--no-merges', '--format=%s', `${lastWithoutLimit}..HEAD`], {
    cwd: root,
    encoding: 'utf8',
  });
  if (log.status === 0) tree.set(subjectsFile, log.stdout);
  return tree;
}

function readFolder(folder: string): [string, string][] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): [string, string][] => {
    const full = path.join(folder, entry.name);
    if (notOurs.has(full) || entry.name === 'node_modules') return [];
    if (entry.isDirectory()) return readFolder(full);
    if (!entry.isFile()) return [];
    const text = readFileSync(full, 'utf8');
    return [[path.relative(root, full).split(path.sep).join('/'), text.includes('\0') ? '' : text]];
  });
}
