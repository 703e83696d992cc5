/**
 * Creates a project: writes the first recourse.yaml and recourse.lock. Starts each server that it found to list its
 * tools, then stops it. Overwrites nothing.
 */
import { lstat, open, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { configName } from '../../config/config.ts';
import { lockName, writeLock } from '../../config/lock.ts';
import { readConfig } from '../../config/read-config.ts';
import type { Initiated, InitOrder } from '../../doors/cli/commands/init.ts';
import { clientFiles, findServers, type FoundServer, type Surroundings } from './client-servers.ts';
import { declareTools } from './declare-tools.ts';
import { clientSnippets, placesIn, startedBy } from './client-snippet.ts';
import { type ListedServer, listServers } from '../upstreams/list-servers.ts';
import { inFolder } from '../project/load-project.ts';
import { readText } from '../project/read-project-files.ts';
import { serversOf } from '../project/serve-options.ts';
import { realPath } from '../state/state-folder.ts';
import { firstAgent, starterFile, type StarterServer } from './starter-file.ts';

export async function initProject({ config, from, isDry, onStarting }: InitOrder): Promise<Initiated> {
  const { env } = process;
  const cwd = process.cwd();
  const file = path.resolve(config ?? configName);
  const around = surroundings(cwd, env);
  // Before any server is started.
  if (!isDry && (await isTaken(file))) return refused(isThere(file));
  const found = await findServers(from === undefined ? clientFiles(around) : [path.resolve(from)], around);
  if (from !== undefined && found.servers.length + found.skipped.length === 0)
    return refused(found.unreadable[0] ?? `'${from}' is not there, or names no server: look for mcpServers in it`);
  if (found.servers.length > 0) onStarting(found.servers.map(({ name }) => name));
  const listed = await Promise.all(found.servers.map((server) => listFound(server, file)));
  const servers = found.servers.map((server, at) => starterServer(server, listed[at]));
  const text = starterFile({ servers, skipped: found.skipped });
  if (!isDry) {
    const problem = await writeNew(file, text);
    if (problem !== null) return refused(problem);
  }
  const lock = isDry ? null : await writeFirstLock(path.join(path.dirname(file), lockName), listed);
  const variables = found.variables.map((each) => ({ ...each, isSet: env[each.name] !== undefined }));
  const shown = path.relative(cwd, file) || file;
  const { skipped, unreadable } = found;
  const snippets = clientSnippets({
    files: found.servers.map((server) => server.from),
    config: file,
    agent: firstAgent,
    variables: variables.map(({ name }) => name),
    start: startedBy(process.execPath, process.argv[1] === undefined ? '' : realPath(process.argv[1])),
    places: placesIn(env),
  });
  return {
    kind: 'made',
    file: shown,
    text,
    agent: firstAgent,
    servers,
    lock,
    skipped,
    unreadable,
    variables,
    snippets,
  };
}

const surroundings = (cwd: string, env: NodeJS.ProcessEnv): Surroundings => ({
  cwd,
  home: env['HOME'] || env['USERPROFILE'] || homedir(),
  appData: env['APPDATA'] || undefined,
});

const refused = (message: string): Initiated => ({ kind: 'refused', message });
const isThere = (file: string) =>
  `'${file}' is there already, and is never overwritten: move it away, or use --dry-run`;

const isTaken = (file: string) =>
  lstat(file).then(
    () => true,
    () => false,
  );

/** Starts the server as recourse up would, from the generated text. */
async function listFound(server: FoundServer, file: string): Promise<ListedServer> {
  const { name } = server;
  const draft = starterFile({ servers: [starterServer(server, undefined)], skipped: [] });
  const { config, problems } = readConfig(draft, file, { env: process.env });
  const [wrong] = problems;
  if (wrong !== undefined) return { name, problem: `${wrong.message}; ${wrong.fix}`, because: 'configuration' };
  const [listed] = await listServers(serversOf(inFolder(config, process.cwd(), file)));
  return listed ?? { name, problem: 'it was not started', because: 'configuration' };
}

function starterServer(server: FoundServer, listed: ListedServer | undefined): StarterServer {
  if (listed !== undefined && 'tools' in listed)
    return { ...server, ...declareTools(server, listed.tools), problem: null, leftOut: listed.leftOut };
  return { ...server, tools: [], unnamed: [], problem: listed?.problem ?? 'it was not started', leftOut: [] };
}

/** An existing lock is kept: recourse pin renews it and shows what changed. */
async function writeFirstLock(file: string, listed: readonly ListedServer[]): Promise<Lock> {
  const there = listed.flatMap((server) => ('tools' in server ? [[server.name, server.tools] as const] : []));
  const shown = path.relative(process.cwd(), file) || file;
  if (there.length === 0) return null;
  const text = writeLock({ version: 1, servers: new Map(there) });
  const isWritten = (await writeNew(file, text)) === null;
  const before = isWritten ? null : await readText(file, text.length * 4);
  return { file: shown, isWritten: isWritten || (before?.ok === true && before.text === text) };
}

type Lock = Extract<Initiated, { kind: 'made' }>['lock'];

/** INVARIANT: an existing file is never overwritten, even one created in the meantime. */
async function writeNew(file: string, text: string): Promise<string | null> {
  try {
    const handle = await open(file, 'wx');
    try {
      await handle.writeFile(text);
    } catch (error) {
      // Part of a policy is another policy, and an empty file permits everything.
      await rm(file, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return isThere(file);
    return `'${file}' cannot be written (${code}): check its folder, its mode and the disk`;
  }
}
