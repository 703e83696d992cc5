/** Makes a project of a folder: writes its first recourse.yaml, and keeps its store out of git. Overwrites nothing. */
import { appendFile, open, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { configName } from '../config/config.ts';
import type { Initiated, InitOrder } from '../doors/cli/init.ts';
import { clientFiles, findServers, type Surroundings } from './client-servers.ts';
import { readText } from './read-project-files.ts';
import { firstAgent, starterFile } from './starter-file.ts';

const ignoredLine = 'recourse.db*';
const maxIgnoreBytes = 1 << 20;

export async function initProject({ config, from, isDry }: InitOrder): Promise<Initiated> {
  const { env } = process;
  const cwd = process.cwd();
  const file = path.resolve(config ?? configName);
  const around: Surroundings = {
    cwd,
    home: env['HOME'] || env['USERPROFILE'] || homedir(),
    appData: env['APPDATA'] || undefined,
  };
  const found = await findServers(from === undefined ? clientFiles(around) : [path.resolve(from)], around);
  if (from !== undefined && found.servers.length + found.skipped.length === 0)
    return refused(found.unreadable[0] ?? `'${from}' is not there, or names no server: look for mcpServers in it`);
  const text = starterFile(found);
  if (!isDry) {
    const problem = await writeNew(file, text);
    if (problem !== null) return refused(problem);
  }
  const ignored = isDry ? false : await ignoreStore(path.join(path.dirname(file), '.gitignore'));
  const variables = found.variables.map((each) => ({ ...each, isSet: env[each.name] !== undefined }));
  const servers = found.servers.map(({ name, from: origin }) => ({ name, from: origin }));
  const shown = path.relative(cwd, file) || file;
  const { skipped, unreadable } = found;
  return { kind: 'made', file: shown, text, agent: firstAgent, servers, skipped, unreadable, variables, ignored };
}

const refused = (message: string): Initiated => ({ kind: 'refused', message });

/** INVARIANT: a file that is there stays as it is, whoever made it in between. */
async function writeNew(file: string, text: string): Promise<string | null> {
  try {
    const handle = await open(file, 'wx');
    try {
      await handle.writeFile(text);
    } catch (error) {
      // Half of a policy is another policy, and an empty file lets everybody call everything.
      await rm(file, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      return `'${file}' is there already, and is never overwritten: move it away, or use --dry-run`;
    return `'${file}' cannot be written (${code}): check its folder, its mode and the disk`;
  }
}

/** True if the line was added. Where there is no .gitignore nobody asked for one. */
async function ignoreStore(file: string): Promise<boolean> {
  const read = await readText(file, maxIgnoreBytes);
  if (!read.ok || read.text.split(/\r?\n/).some((line) => line.trim().replace(/^\//, '') === ignoredLine)) return false;
  const start = read.text === '' || read.text.endsWith('\n') ? '' : '\n';
  try {
    await appendFile(file, `${start}${ignoredLine}\n`);
    return true;
  } catch {
    return false;
  }
}
