/**
 * Warns about servers that could read the gateway's own files. Looks at the arguments, working folder and environment
 * of each program, with links resolved, for a path to the store, its keys, the operator's key or the socket. Reads no
 * file and starts nothing.
 */
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isKeyText } from '../../adapters/keyring-sqlite/key-text.ts';
import { placeOfStore } from '../../adapters/store-sqlite/share/place.ts';
import type { StdioConnection } from '../../adapters/upstream-mcp/mcp-config.ts';
import type { ServerConfig } from '../../config/config.ts';
import type { Warn } from '../../config/problem.ts';
import { compileToolPattern, matchesTool } from '../../core/policy/tool-pattern.ts';
import { realPath } from '../state/state-folder.ts';

/** With its name for people. */
interface OwnFile {
  readonly what: string;
  readonly file: string;
}

/** `cwd` is where a program without a folder of its own is started. */
export function warnExposed(servers: readonly ServerConfig[], store: string, cwd: string, warn: Warn): void {
  const files = ownFiles(store);
  for (const { name, at, connect } of servers) {
    if (connect.kind !== 'stdio') continue;
    const found = exposureOf(connect, files, cwd);
    if (found !== null)
      warn(
        at,
        `the server '${name}' can reach ${found.what} ('${found.file}') through its ${found.through}: whoever calls it could read them`,
        'point it at a folder that does not hold them, or keep the store elsewhere: without runtime.store and --file it lies in the state folder',
      );
    const given = givenKey(connect);
    if (given !== null)
      warn(
        at,
        `the server '${name}' is given ${given}: it could act in the place of whoever it belongs to`,
        'leave it out: a program behind the gateway needs no key of the gateway',
      );
  }
}

function ownFiles(store: string): readonly OwnFile[] {
  const place = placeOfStore(store);
  const file = place?.file ?? realPath(store);
  return [
    { what: "the operator's key", file: `${file}.token` },
    { what: 'the keys', file: `${file}.keys` },
    { what: 'the store', file },
    ...(place === null || place.socket.startsWith('\\\\') ? [] : [{ what: 'the socket', file: place.socket }]),
  ];
}

function exposureOf({ args, cwd: own, env }: StdioConnection, files: readonly OwnFile[], cwd: string) {
  const folder = own ?? cwd;
  const named = [
    ...args.flatMap((arg, index) => pathsIn(arg).map((each) => [`argument ${index + 1}`, each] as const)),
    ...Object.entries(env).flatMap(([name, value]) => pathsIn(value).map((each) => [`env ${name}`, each] as const)),
    ['working folder', folder] as const,
  ];
  for (const [through, each] of named) {
    const real = realPath(path.resolve(folder, each));
    const found = files.find(({ file }) => holds(real, file) || leadsTo(each, folder, file));
    if (found !== undefined) return { through: `${through}, '${each}'`, ...found };
  }
  return null;
}

const looksLikePath = /^(?:~$|~?[\\/]\w|\.{1,2}[\\/])/;

/**
 * Possible paths in a text: the text itself, after an option or =, in a mount, in brackets, in a command line, in a
 * file URL.
 */
function pathsIn(text: string): readonly string[] {
  const parts = text.split(path.sep === '\\' ? /[\s=,;'"]+/ : /[\s=,;:'"]+/);
  // In a command line, single characters such as . are not paths.
  const named = /\s/.test(text) ? parts.filter((part) => looksLikePath.test(part)) : parts;
  const within = parts.flatMap(behindSigns).filter((part) => looksLikePath.test(part));
  return [...new Set([text, ...named, ...parts.flatMap(behindOption), ...within])]
    .filter((part) => part !== '')
    .map(asPath);
}

/** `-C/tmp`, `-isystem/usr`: any path after a one-letter option, a clear path after a longer one. */
function behindOption(part: string): readonly string[] {
  const [, short] = /^-\w(~|\.\.|(?:~|\.{1,2})?[\\/].*)$/.exec(part) ?? [];
  const [, long] = /^-\w[\w-]*?((?:~|\.{1,2})?[\\/]\w.*)$/.exec(part) ?? [];
  return [short, long].filter((each) => each !== undefined);
}

/** `@/tmp`, `[/tmp]`, `cat(/tmp)`: the parts between brackets and @ signs. */
const behindSigns = (part: string): readonly string[] => [
  ...part.split(/[()[\]{}<>@]+/).slice(1),
  part.replace(/[)\]}>]+$/, ''),
];

/** Whether a glob may match a file or a folder above it. Other wildcards count as `*`. */
function leadsTo(text: string, folder: string, file: string): boolean {
  const segments = path.resolve(folder, text).split(path.sep);
  const first = segments.findIndex((segment) => /[*?[{]/.test(segment));
  if (first < 0) return false;
  const fixed = realPath(segments.slice(0, first).join(path.sep) || path.sep);
  if (!holds(fixed, file)) return false;
  const rest = segments.slice(first).map((segment) => (segment === '**' ? segment : plainGlob(segment)));
  const compiled = compileToolPattern([...rest, '**'].join('/'));
  return compiled.ok && matchesTool(compiled.pattern, path.relative(fixed, file).split(path.sep).join('/'));
}

const plainGlob = (segment: string): string =>
  segment.replaceAll(/\[[^\]]*\]|\{[^}]*\}|[?\s]/g, '*').replaceAll(/\*+/g, '*');

function asPath(text: string): string {
  if (/^file:\/\//i.test(text)) {
    try {
      return fileURLToPath(text);
    } catch {
      return text;
    }
  }
  return /^~(?=$|[\\/])/.test(text) ? path.join(homedir(), text.slice(1)) : text;
}

function holds(folder: string, file: string): boolean {
  const inside = path.relative(folder, file);
  return !path.isAbsolute(inside) && inside !== '..' && !inside.startsWith(`..${path.sep}`);
}

/** Whether a program is given an API key as an argument or variable. */
function givenKey({ args, env }: StdioConnection): string | null {
  const words = [...args, ...Object.values(env)].flatMap((text) => text.split(/[\s=,;'"]+/));
  return words.some(isKeyText) ? 'a key of a gateway' : null;
}
