/**
 * Lists the tools of all servers and writes recourse.lock, or compares with it. The lock is written whole or not at
 * all. Does not look at policy: rules that do not fit the old lock must not prevent a new one.
 */
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Config, configName } from '../../config/config.ts';
import { type Lock, lockName, maxLockChars, readLock, writeLock } from '../../config/lock.ts';
import { readConfig } from '../../config/read-config.ts';
import type { Pinned, PinOrder } from '../../doors/cli/commands/pin.ts';
import { declareHosted } from '../extensions/declare-hosted.ts';
import { type ExtensionSet, noExtensions } from '../extensions/extension-set.ts';
import { loadExtensions } from '../extensions/load-extensions.ts';
import { modelKindsOf } from '../extensions/use-extensions.ts';
import {
  listApi,
  type ListedServer,
  listHosted,
  listProvider,
  listServers,
  type ReachedServer,
} from './list-servers.ts';
import { loadApis } from '../project/load-apis.ts';
import { loadModels } from './load-models.ts';
import { inFolder } from '../project/load-project.ts';
import { readProjectFiles, readText, displayPath } from '../project/read-project-files.ts';
import { serversOf } from '../project/serve-options.ts';

const fewerTools = `at most ${maxLockChars} are read: name the operations of an OpenAPI document that are needed`;

export async function pinTools({ config, isCheck }: PinOrder): Promise<Pinned> {
  const cwd = process.cwd();
  const file = path.resolve(config ?? configName);
  const shown = displayPath(config, file, cwd);
  const text = await readText(file);
  if (!text.ok)
    return {
      kind: 'problems',
      problems: [
        { code: 'ShapeInvalid', file: shown, line: 1, column: 1, text: '', message: text.message, fix: text.fix },
      ],
    };
  const beside = await readProjectFiles(file, text.text, cwd);
  const read = readConfig(text.text, shown, { env: process.env, included: beside.included });
  const { apis } = await loadApis(read.config, cwd, read.tell);
  const extensions = await loadExtensions(read.config, cwd, read.tell);
  const hosted = declareHosted(read.config, extensions, read.tell);
  const { providers } = loadModels(read.config, modelKindsOf(extensions), read.tell);
  if (read.allProblems().length > 0) return { kind: 'problems', problems: read.allProblems() };
  const lockFile = path.join(path.dirname(file), lockName);
  const before = beside.lock === null ? null : readLock(beside.lock.text, lockName);
  const inPlace = inFolder(read.config, cwd, file);
  const listed = await listServers(serversOf(inPlace), inPlace.credentials, extensionsOf(inPlace, extensions));
  const away = listed.flatMap((server) => ('problem' in server ? [server] : []));
  const [wrong] = away.filter(({ because }) => because === 'configuration');
  if (wrong !== undefined) return { kind: 'refused', message: wrong.problem };
  if (away.length > 0) return { kind: 'unreachable', servers: away.map(reachProblem) };
  const { lock, leftOut } = lockOf(listed, [
    ...apis.map(listApi),
    ...providers.map(listProvider),
    ...read.config.hosted.map(({ name }) => listHosted(name, hosted)),
  ]);
  const next = writeLock(lock);
  const isSame = next === beside.lock?.text;
  if (!isCheck && !isSame) {
    const problem = await writeWhole(lockFile, next);
    if (problem !== null) return { kind: 'refused', message: problem };
  }
  const wasUnreadable = beside.lockProblem !== null || (before !== null && before.lock === null);
  return {
    kind: 'pinned',
    file: displayPath(config, lockFile, cwd),
    isSame,
    wasUnreadable,
    before: before?.lock ?? null,
    lock,
    leftOut,
  };
}

/** Only secrets are fetched to list tools: without any, no extension is started. */
const extensionsOf = ({ credentials }: Config, set: ExtensionSet): ExtensionSet =>
  credentials.some(({ source }) => source.provider === 'extension' || source.provider === 'vault') ? set : noExtensions;

function lockOf(listed: readonly ListedServer[], declared: readonly ReachedServer[]) {
  const there = [...listed.flatMap((server) => ('tools' in server ? [server] : [])), ...declared];
  const lock: Lock = { version: 1, servers: new Map(there.map(({ name, tools }) => [name, tools])) };
  return { lock, leftOut: there.flatMap((server) => server.leftOut) };
}

/** Writes to a temporary file and renames it, so that a reader finds the old lock or the new one, never a part. */
async function writeWhole(file: string, text: string): Promise<string | null> {
  if (text.length > maxLockChars) return `${lockName} would be too long; ${fewerTools}`;
  const fresh = `${file}-${process.pid}.new`;
  try {
    const handle = await open(fresh, 'w');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
    return null;
  } catch (error) {
    await rm(fresh, { force: true });
    return `'${file}' cannot be written (${(error as NodeJS.ErrnoException).code}): check its folder and mode`;
  }
}

/** With its last output, which is for the terminal. */
function reachProblem({ name, problem, said = [] }: Extract<ListedServer, { problem: string }>) {
  return { name, problem: said.length === 0 ? problem : `${problem}; it said: ${said.join(' | ')}` };
}
