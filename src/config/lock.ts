/**
 * Reads and writes recourse.lock, the pinned definitions of tools. Pure: the caller computes hashes and reads files.
 * The same lock is always the same text, so that a diff shows real changes only.
 */
import { isObject, type Json, type JsonObject } from '../core/values/json.ts';
import type { ToolShape } from '../core/policy/policy.ts';
import { createProblemList, placeAt, type Place, type Problem, type Tell, type Warning } from './problem.ts';
import { readShape } from './shape/read-shape.ts';
import { named, type Shape, text } from './shape/shape.ts';
import { readYaml, type Tree, type TreeEntry } from './yaml/yaml-tree.ts';

export const lockName = 'recourse.lock';
const lockVersion = 1;
export const maxLockChars = 8 << 20;
/** Limits for finding places in a broken lock. */
const placedLimits = { maxChars: 1 << 20, maxNodes: 200_000, maxDepth: 256 };

export interface Lock {
  readonly version: typeof lockVersion;
  /** Tools by server and by their name there. */
  readonly servers: ReadonlyMap<string, ReadonlyMap<string, LockedTool>>;
}

export interface LockedTool {
  readonly description: string | null;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  readonly annotations: JsonObject | null;
  /** The hash of what the server listed, computed when it was pinned. */
  readonly sha256: string;
}

export interface ReadLock {
  readonly ok: boolean;
  /** Null if it cannot be used, and the problems say why. */
  readonly lock: Lock | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

const pinAgain = 'run recourse pin again';
const toolName = ['^[^\\u0000-\\u001f]{1,256}$', 'the name of a tool'] as const;
const anyMap = (says: string): Shape => ({ kind: 'json', says, sort: 'map' });

const lockShape: Shape = {
  kind: 'fields',
  says: 'the tools as they were pinned',
  fields: {
    version: { shape: { kind: 'count', says: 'the version of this file', least: 1, most: 1 }, required: true },
    servers: {
      required: true,
      shape: named('servers by name', {
        kind: 'fields',
        says: 'a server',
        fields: {
          tools: {
            required: true,
            shape: named(
              'tools by name',
              {
                kind: 'fields',
                says: 'a tool',
                fields: {
                  description: { shape: { kind: 'json', says: 'its description', sort: 'text' } },
                  inputSchema: { shape: anyMap('JSON Schema of its arguments'), required: true },
                  outputSchema: { shape: anyMap('JSON Schema of its results') },
                  annotations: { shape: anyMap('as its server lists them') },
                  sha256: { shape: text('a hash', { pattern: ['^[0-9a-f]{64}$', '64 digits'] }), required: true },
                },
              },
              toolName,
            ),
          },
        },
      }),
    },
  },
};

/** Total: any text gives a lock or its problems. */
export function readLock(source: string, file: string): ReadLock {
  const list = createProblemList(file, source);
  const value = parseJson(source, file, list.tell);
  const lock = value === undefined || !isUsable(value, source, file, list.tell) ? null : lockOf(value as JsonObject);
  if (lock !== null && writeLock(lock) !== source.replaceAll('\r\n', '\n'))
    list.warn(
      placeOfChange(writeLock(lock), source, file),
      'this is not as recourse pin writes it: it was changed by hand, or badly merged',
      pinAgain,
    );
  return { ok: lock !== null, lock, problems: list.problems(), warnings: list.warnings() };
}

function parseJson(source: string, file: string, tell: Tell): unknown {
  if (source.length > maxLockChars) {
    tell(placeAt(file), `the lock is longer than ${maxLockChars} characters`, 'use fewer servers', 'ShapeInvalid');
    return undefined;
  }
  try {
    return JSON.parse(source) as unknown;
  } catch (error) {
    tell(placeOfSlip(error, source, file), 'this is not JSON', pinAgain, 'ShapeInvalid');
    return undefined;
  }
}

/** Most errors of the JSON parser end with their place. Otherwise the YAML reader finds it: YAML contains JSON. */
function placeOfSlip(error: unknown, source: string, file: string): Place {
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(String(error)) ?? [];
  if (line !== undefined && column !== undefined) return placeAt(file, Number(line), Number(column));
  let place: Place | null = null;
  readYaml(source, file, (at) => void (place ??= at), placedLimits);
  return place ?? placeAt(file);
}

function isUsable(value: unknown, source: string, file: string, tell: Tell): boolean {
  const version = isObject(value) ? value['version'] : undefined;
  if (typeof version === 'number' && version !== lockVersion) {
    const line = source.split('\n').findIndex((each) => each.includes('"version"'));
    const says = `this lock has version ${version}, and version ${lockVersion} is read here`;
    tell(placeAt(file, Math.max(line, 0) + 1), says, pinAgain, 'ContractVersionMismatch');
    return false;
  }
  const unplaced: Parameters<Tell>[] = [];
  const tree = treeOfJson(value, placeAt(file), placedLimits.maxDepth);
  if (tree === null) {
    tell(placeAt(file), 'the lock is nested too deeply, or has a number that cannot be held', pinAgain, 'ShapeInvalid');
    return false;
  }
  readShape(tree, lockShape, { tell: (...problem) => void unplaced.push(problem), env: undefined });
  if (unplaced.length === 0) return true;
  let placed = 0;
  const count: Tell = (place, message, _, code) => {
    placed += 1;
    tell(place, message, pinAgain, code);
  };
  const where = readYaml(source, file, count, placedLimits);
  if (where !== null) readShape(where, lockShape, { tell: count, env: undefined });
  if (placed === 0) for (const [place, message] of unplaced) tell(place, message, pinAgain);
  return false;
}

function lockOf(value: JsonObject): Lock {
  const servers = Object.entries(value['servers'] as JsonObject).map(([server, each]) => {
    const tools = Object.entries((each as JsonObject)['tools'] as JsonObject);
    return [server, new Map(tools.map(([name, tool]) => [name, toolOf(tool as JsonObject)]))] as const;
  });
  return { version: lockVersion, servers: new Map(servers) };
}

function toolOf(tool: JsonObject): LockedTool {
  return {
    description: (tool['description'] ?? null) as string | null,
    inputSchema: tool['inputSchema'] as JsonObject,
    outputSchema: (tool['outputSchema'] ?? null) as JsonObject | null,
    annotations: (tool['annotations'] ?? null) as JsonObject | null,
    sha256: tool['sha256'] as string,
  };
}

export function writeLock({ version, servers }: Lock): string {
  const written = [...servers].map(([server, tools]) => {
    const each = [...tools].map(([name, tool]) => [name, Object.fromEntries(givenIn(tool))] as const);
    return [server, { tools: Object.fromEntries(each) }] as const;
  });
  return `${JSON.stringify(sorted({ version, servers: Object.fromEntries(written) }), null, 2)}\n`;
}

const givenIn = (tool: LockedTool): readonly (readonly [string, Json])[] =>
  Object.entries(tool).filter(([, value]) => value !== null);

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

/** What is known about the tools of these servers. */
export function shapesOf({ servers }: Lock, wanted: readonly string[]): readonly ToolShape[] {
  return wanted.flatMap((server) =>
    [...(servers.get(server) ?? [])].map(([name, { inputSchema }]) => ({ name: `${server}/${name}`, inputSchema })),
  );
}

function placeOfChange(expected: string, source: string, file: string): Place {
  const lines = source.split(/\r?\n/);
  const at = expected.split('\n').findIndex((line, index) => line !== lines[index]);
  return placeAt(file, Math.min(at < 0 ? lines.length : at + 1, lines.length));
}

/** Where a server stands in the text of a lock. */
export function placeOfServer(source: string, file: string, server: string): Place {
  const line = source.split('\n').findIndex((each) => each.startsWith(`    ${JSON.stringify(server)}: `));
  return placeAt(file, Math.max(line, 0) + 1);
}

export function treeOfJson(value: unknown, at: Place, maxDepth: number): Tree | null {
  const inside = () => at;
  if (value === null || typeof value === 'string' || typeof value === 'boolean')
    return { kind: 'scalar', at, value, inside };
  if (typeof value === 'number') return Number.isFinite(value) ? { kind: 'scalar', at, value, inside } : null;
  if (maxDepth === 0 || typeof value !== 'object') return null;
  if (Array.isArray(value)) {
    const items = value.map((each) => treeOfJson(each, at, maxDepth - 1));
    return items.includes(null) ? null : { kind: 'list', at, items: items as Tree[] };
  }
  const entries = new Map<string, TreeEntry>();
  for (const [key, each] of Object.entries(isObject(value) ? value : {})) {
    const tree = treeOfJson(each, at, maxDepth - 1);
    if (tree === null) return null;
    entries.set(key, { keyAt: at, value: tree });
  }
  return { kind: 'map', at, entries };
}
