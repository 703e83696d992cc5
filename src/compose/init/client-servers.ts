/**
 * Finds the MCP servers that clients on this machine use, by reading their configuration files. Entries that
 * recourse.yaml cannot express are reported with the reason. Starts nothing and passes on no secret.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { isObject } from '../../core/values/json.ts';
import { createHider, type Hider, type Variable } from './hide-secrets.ts';
import { readText } from '../project/read-project-files.ts';

export interface FoundServer {
  readonly name: string;
  /** For display. */
  readonly from: string;
  readonly connect:
    | {
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly cwd: string | null;
      }
    | { readonly url: string; readonly headers: Readonly<Record<string, string>> };
}

export interface SkippedServer {
  readonly name: string;
  readonly from: string;
  readonly reason: string;
}

export interface FoundServers {
  readonly servers: readonly FoundServer[];
  readonly skipped: readonly SkippedServer[];
  readonly variables: readonly Variable[];
  /** Files that exist and cannot be read, with the reason. */
  readonly unreadable: readonly string[];
}

export interface Surroundings {
  readonly cwd: string;
  readonly home: string;
  readonly appData: string | undefined;
}

/** ~/.claude.json also holds conversations, and grows. */
const maxFileBytes = 64 << 20;
const maxServers = 200;
const usable = /^[A-Za-z0-9_-]{1,64}$/;
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Files of this folder first: of two servers with the same name, the first keeps it. */
export function clientFiles({ cwd, home, appData }: Surroundings): readonly string[] {
  const inHome = (...parts: string[]) => path.join(home, ...parts);
  return [
    path.join(cwd, '.mcp.json'),
    path.join(cwd, '.cursor/mcp.json'),
    path.join(cwd, '.vscode/mcp.json'),
    inHome('.claude.json'),
    inHome('Library/Application Support/Claude/claude_desktop_config.json'),
    inHome('.config/Claude/claude_desktop_config.json'),
    inHome('.cursor/mcp.json'),
    inHome('Library/Application Support/Code/User/mcp.json'),
    inHome('.config/Code/User/mcp.json'),
    inHome('.codeium/windsurf/mcp_config.json'),
    ...(appData === undefined
      ? []
      : [path.join(appData, 'Claude/claude_desktop_config.json'), path.join(appData, 'Code/User/mcp.json')]),
  ];
}

export async function findServers(files: readonly string[], around: Surroundings): Promise<FoundServers> {
  const servers = new Map<string, FoundServer>();
  const skipped: SkippedServer[] = [];
  const unreadable: string[] = [];
  const variables = new Map<string, Variable & { readonly value: string }>();
  for (const file of new Set(files)) {
    const from = shown(file, around);
    const read = await readEntries(file, around.cwd);
    if ('problem' in read) {
      if (read.problem !== null) unreadable.push(`${from}: ${read.problem}`);
      continue;
    }
    for (const [written, entry] of read.entries) {
      if (servers.size >= maxServers) {
        skipped.push({ name: written, from, reason: `there are more than ${maxServers}` });
        continue;
      }
      const name = freeName(written, entry, servers, around, variables);
      if (name === null) continue;
      const hider = createHider({ server: name, folder: around.cwd, home: around.home, variables });
      const connect = readEntry(entry, hider);
      if (typeof connect === 'string') skipped.push({ name: written, from, reason: connect });
      else servers.set(name, { name, from, connect });
    }
  }
  const named = [...variables.values()].map(({ name, meaning }) => ({ name, meaning }));
  return { servers: [...servers.values()], skipped, variables: named, unreadable };
}

/** Null if the same server was found before. */
function freeName(
  written: string,
  entry: unknown,
  taken: ReadonlyMap<string, FoundServer>,
  { cwd, home }: Surroundings,
  known: ReadonlyMap<string, Variable & { readonly value: string }>,
): string | null {
  const base = usable.test(written)
    ? written
    : written
        .replaceAll(/[^A-Za-z0-9_]+/g, '-')
        .replaceAll(/^-|-$/g, '')
        .slice(0, 60) || 'server';
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base.slice(0, 60)}-${number}`;
    const before = taken.get(name);
    if (before === undefined) return name;
    // Converted under the other's name and variables: only an equal server gives an equal result.
    const hider = createHider({ server: name, folder: cwd, home, variables: new Map(known) });
    if (JSON.stringify(readEntry(entry, hider)) === JSON.stringify(before.connect)) return null;
  }
}

type Entries = { readonly entries: readonly (readonly [string, unknown])[] };

/** A null problem means that the file does not exist. */
async function readEntries(file: string, cwd: string): Promise<Entries | { readonly problem: string | null }> {
  try {
    if (!(await stat(file)).isFile()) return { problem: 'this is no file' };
  } catch {
    return { problem: null };
  }
  const read = await readText(file, maxFileBytes);
  if (!read.ok) return { problem: read.message };
  const value = readJsonc(read.text);
  if (!isObject(value)) return { problem: 'this is not a JSON object' };
  // Claude Code keeps servers for everybody, and some for one folder; VS Code calls them servers.
  const project = isObject(value['projects']) ? value['projects'][cwd] : undefined;
  const maps = [value['mcpServers'], value['servers'], isObject(project) ? project['mcpServers'] : undefined];
  return { entries: maps.flatMap((each) => (isObject(each) ? Object.entries(each) : [])) };
}

/** The connection, or why there is none. */
function readEntry(entry: unknown, hider: Hider): FoundServer['connect'] | string {
  if (!isObject(entry)) return 'it is no object';
  const { type, command, url = entry['serverUrl'], disabled, envFile } = entry;
  if (disabled === true) return 'it is disabled there';
  if (envFile !== undefined) return 'envFile is not known here: write its variables under env';
  if (typeof command === 'string' && command !== '') return readCommand(entry, command, hider);
  if (typeof url !== 'string' || url === '') return 'it has neither a command nor an address';
  if (type === 'sse') return 'it speaks the old HTTP+SSE, and only Streamable HTTP is supported';
  if (!/^https?:\/\//.test(url)) return 'its address is neither http nor https';
  if (isOurUrl(url)) return 'it is recourse itself';
  const address = hider.url(url);
  if (address === null) return 'its address holds a login, or a variable that is not known here';
  const headers = hideEach(
    entry['headers'],
    (name, value) => hider.header(name, value),
    /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/,
  );
  return headers === null ? 'its headers cannot be expressed here' : { url: address, headers };
}

function readCommand(
  entry: Readonly<Record<string, unknown>>,
  command: string,
  hider: Hider,
): FoundServer['connect'] | string {
  const { args: given = [], cwd } = entry;
  if (!Array.isArray(given) || !given.every((each) => typeof each === 'string')) return 'its args are no list of texts';
  if (isOurCommand(command, given)) return 'it is recourse itself';
  const [program, args] = [hider.plain(command), hider.args(given)];
  const folder = typeof cwd === 'string' && cwd !== '' ? hider.plain(cwd) : null;
  if (program === null || args === null || (typeof cwd === 'string' && cwd !== '' && folder === null))
    return 'it uses a variable that is not known here';
  const env = hideEach(entry['env'], (name, value) => hider.env(name, value), variableName);
  return env === null ? 'its env cannot be expressed here' : { command: program, args, env, cwd: folder };
}

function hideEach(
  given: unknown,
  hide: (name: string, value: string) => string | null,
  usableName: RegExp,
): Readonly<Record<string, string>> | null {
  const out: [string, string][] = [];
  for (const [name, value] of Object.entries(isObject(given) ? given : {})) {
    if (value === null || typeof value === 'object' || !usableName.test(name)) return null;
    const written = hide(name, String(value));
    if (written === null || /\p{Cc}/u.test(written)) return null;
    out.push([name, written]);
  }
  return Object.fromEntries(out);
}

const isOurCommand = (command: string, args: readonly string[]): boolean =>
  [command, ...args.slice(0, 3)].some(
    (word) => /^recourse(?:\.js|\.cmd)?$/.test(path.basename(word)) || word === 'recourse-gateway',
  );

const isOurUrl = (url: string): boolean => /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):7411(?:\/|$)/.test(url);

function shown(file: string, { cwd, home }: Surroundings): string {
  const near = path.relative(cwd, file);
  if (!near.startsWith('..') && !path.isAbsolute(near)) return near;
  return file.startsWith(`${home}${path.sep}`) ? `~${file.slice(home.length)}` : file;
}

export function readJsonc(text: string): unknown {
  return parsed(text) ?? parsed(withoutExtras(text));
}

const token = /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*[}\]])/g;

/** Leaves strings unchanged. */
const withoutExtras = (text: string): string => text.replaceAll(token, (found) => (found.startsWith('"') ? found : ''));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch {
    return undefined;
  }
}
