/**
 * Describes why a module could not be loaded, with the file and line if they can be found. The module may have thrown
 * anything. Never throws and never shows a stack.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export interface ModuleError {
  /** In the module or in a file that it imports; null if unknown. */
  readonly place: string | null;
  readonly message: string;
  readonly fix: string | null;
}

export function describeModuleError(error: unknown, file: string): ModuleError {
  const { name, message, stack } = Object(error) as Record<string, unknown>;
  const said = firstWords(String(message ?? error));
  const target = wrongTarget(said, file);
  if (target !== null) return target;
  const place =
    missingImport(said) ??
    placeIn(typeof stack === 'string' ? stack : '', file) ??
    (name === 'SyntaxError' ? checked(file) : null);
  return { place, message: said, fix: null };
}

/** A message may have several lines; a stack follows them. */
function firstWords(message: string): string {
  const lines = message.split('\n');
  const end = lines.findIndex((line) => /^\s+at /.test(line));
  return lines
    .slice(0, end < 0 ? 3 : end)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}

/** The line in the module, or else in the first file of the author's in the stack. */
function placeIn(stack: string, file: string): string | null {
  const href = pathToFileURL(file).href;
  for (const own of [href, file]) {
    const line = stack.split(`${own}:`)[1]?.match(/^\d+/)?.[0];
    if (line !== undefined) return `${path.basename(file)}:${line}`;
  }
  const others = [...stack.matchAll(/file:\/\/([^\s()]+?):(\d+)/g)];
  const theirs = others.find(([, at = '']) => !at.includes('/node_modules/') && !isOurs(at));
  return theirs === undefined ? null : `${path.basename(decodeURIComponent(theirs[1] ?? ''))}:${theirs[2]}`;
}

const ourFolder = path.resolve(import.meta.dirname, '../..');
const isOurs = (file: string): boolean => file.startsWith(`${ourFolder}/`);

const checkTimeoutMs = 10_000;

/** For a syntax error in JavaScript, Node prints the line only on standard error. */
function checked(file: string): string | null {
  try {
    execFileSync(process.execPath, ['--check', file], { stdio: 'pipe', timeout: checkTimeoutMs });
    return null;
  } catch (failed) {
    return placeIn(String((failed as { stderr?: unknown }).stderr ?? ''), file);
  }
}

const ofXState =
  /^(?:Invalid transition definition for state node '([^']+)': )?Child state (?:node )?'([^']+)' does not exist on (?:machine )?'([^']+)'/;

/** XState names the state of a wrong transition, not the transition. It is searched in the text of the module. */
function wrongTarget(message: string, file: string): ModuleError | null {
  const [, from = '', target = '', parent = ''] = ofXState.exec(message) ?? [];
  if (target === '') return null;
  const found = edgeTo(target, file);
  const state = from.split('.').slice(1).join('.') || (from === '' ? (found?.state ?? '') : from);
  return {
    place: found === null ? null : `${path.basename(file)}:${found.line}`,
    message: `${found?.edge ?? 'an edge'}${state === '' ? '' : ` of state '${state}'`} leads to '${target}', which '${parent}' does not have`,
    fix: 'correct the target, or add the state',
  };
}

interface FoundEdge {
  readonly edge: string;
  readonly line: number;
  /** The names of the states around it; empty if unknown. */
  readonly state: string;
}

function edgeTo(target: string, file: string): FoundEdge | null {
  try {
    const text = readFileSync(file, 'utf8');
    const quoted = `['"\`][#.\\w-]*${target.replaceAll(/[^\w]/g, '\\$&')}['"\`]`;
    const edges = `['"]?([\\w.$-]+)['"]?\\s*:\\s*(?:\\[?\\s*\\{[^{}]*?target\\s*:\\s*\\[?\\s*)?\\[?\\s*${quoted}`;
    const found = new RegExp(edges).exec(text);
    if (found === null) return null;
    const [around, ...outer] = keysAround(text.slice(0, found.index));
    const states = outer.filter((_, at) => outer[at + 1] === 'states').toReversed();
    return {
      edge: around === 'after' ? `after ${found[1]}` : `edge '${found[1]}'`,
      line: text.slice(0, found.index + found[0].length).split('\n').length,
      state: states.join('.'),
    };
  } catch {
    return null;
  }
}

/** The keys of the objects that are open where a text ends, from the innermost out. */
function keysAround(text: string): readonly string[] {
  const keys: string[] = [];
  let closed = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === '}') closed++;
    else if (text[at] === '{' && closed > 0) closed--;
    else if (text[at] === '{')
      keys.push(/([\w.$-]+)['"]?\s*:\s*\[?\s*$/.exec(text.slice(Math.max(0, at - maxKeyChars), at))?.[1] ?? '');
  }
  return keys;
}

const maxKeyChars = 200;

const ofImport = /^Cannot find (?:module|package) '([^']+)' imported from (.+)$/;

/** For a missing import Node names the file; the line is searched in its text. */
function missingImport(message: string): string | null {
  const [, missing = '', from = ''] = ofImport.exec(message) ?? [];
  if (missing === '') return null;
  try {
    const names = (line: string) => [...line.matchAll(/['"`]([^'"`]+)['"`]/g)].map(([, name = '']) => name);
    const isIt = (name: string) =>
      name === missing || name.startsWith(`${missing}/`) || path.resolve(path.dirname(from), name) === missing;
    const at = readFileSync(from, 'utf8')
      .split('\n')
      .findIndex((line) => names(line).some(isIt));
    return at < 0 ? null : `${path.basename(from)}:${at + 1}`;
  } catch {
    return null;
  }
}
