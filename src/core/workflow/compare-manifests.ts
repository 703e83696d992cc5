/**
 * Lists what changed between the manifest that a session is pinned to and the current one, in words for an operator.
 */
import { canonicalText } from '../values/canonical.ts';
import { isObject, type Json } from '../values/json.ts';

const maxNamed = 8;

export interface Comparison {
  /** The version that the old manifest names; null if it cannot be read. */
  readonly version: string | null;
  /** The machine as the old manifest writes it; null if it cannot be read. */
  readonly machine: Json;
  readonly changed: readonly string[];
}

export function compareManifests(before: string | null, after: string): Comparison {
  const old = read(before);
  if (old === null) return { version: null, machine: null, changed: ['the workflow it began with is not on record'] };
  const now = read(after) ?? {};
  const changed: string[] = [];
  const versions = [text(old['version']), text(now['version'])];
  if (versions[0] !== versions[1]) changed.push(`version '${versions[0]}' became '${versions[1]}'`);
  if (!same(old['machine'], now['machine'])) changed.push(...compareMachines(old['machine'], now['machine']));
  changed.push(...members('action', old['actions'], now['actions']), ...members('tool', old['tools'], now['tools']));
  const shown = changed.slice(0, maxNamed);
  const more = changed.length - shown.length;
  return {
    version: versions[0] ?? null,
    machine: (old['machine'] ?? null) as Json,
    changed: more > 0 ? [...shown, `and ${more} more`] : shown,
  };
}

function members(what: string, before: unknown, after: unknown): readonly string[] {
  const old = isObject(before) ? before : {};
  const now = isObject(after) ? after : {};
  const found: string[] = [];
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (!Object.hasOwn(now, name)) found.push(`${what} '${name}' is gone`);
    else if (!Object.hasOwn(old, name)) found.push(`${what} '${name}' is new`);
    else if (!same(old[name], now[name])) found.push(`${what} '${name}': ${parts(old[name], now[name])}`);
  }
  return found;
}

/** Which settings of one action or tool differ; of what a server lists of its tool, which parts of that. */
function parts(before: unknown, after: unknown): string {
  if (!isObject(before) || !isObject(after)) return 'changed';
  const [listed, now] = [before['tool'], after['tool']];
  const isListed = isObject(listed) && isObject(now);
  const settings = differing(before, after).filter((name) => !isListed || name !== 'tool');
  return [...settings, ...(isListed ? differing(listed, now) : [])].join(', ');
}

function differing(before: Record<string, unknown>, after: Record<string, unknown>): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => !same(before[name], after[name]));
}

const same = (a: unknown, b: unknown) => canonicalText((a ?? null) as Json) === canonicalText((b ?? null) as Json);

const text = (value: unknown) => (typeof value === 'string' ? value : '');

function read(manifest: string | null): Record<string, unknown> | null {
  if (manifest === null) return null;
  try {
    const value: unknown = JSON.parse(manifest);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Of machines that differ, so something is said. */
export function compareMachines(before: unknown, after: unknown): readonly string[] {
  if (!isObject(before) || !isObject(after)) return ['the machine'];
  const found = [
    ...(same(before['context'], after['context']) ? [] : ['the context it begins with']),
    ...namesThatDiffer(before['delays'], after['delays']).map((name) => `delay '${name}'`),
    ...statesThatDiffer(statesIn(before['root']), statesIn(after['root'])),
  ];
  return found.length > 0 ? found : ['the machine'];
}

function statesThatDiffer(old: ReadonlyMap<string, Fields>, now: ReadonlyMap<string, Fields>): readonly string[] {
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((id) => {
    const [was, is] = [old.get(id), now.get(id)];
    if (was !== undefined && is !== undefined) {
      const parts = namesThatDiffer(was, is);
      return parts.length === 0 ? [] : [`${id === '' ? 'the root' : `state '${id}'`}: ${parts.join(', ')}`];
    }
    // Where a whole state came or went, nobody needs to hear of each one inside it.
    const others = was === undefined ? old : now;
    return others.has(parentOf(id)) ? [`state '${id}' is ${was === undefined ? 'new' : 'gone'}`] : [];
  });
}

/** By path from the root, which is ''. The states inside are not part of a state; each of its edges is. */
function statesIn(root: unknown): ReadonlyMap<string, Fields> {
  const found = new Map<string, Fields>();
  const open: (readonly [id: string, state: unknown])[] = [['', root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [id, state] = next;
    if (!isObject(state)) continue;
    const { states, edges, ...rest } = state;
    found.set(id, { ...rest, ...edgesByName(edges) });
    for (const child of listOf(states).toReversed()) {
      const [name, inside] = listOf(child);
      open.push([id === '' ? String(name) : `${id}.${String(name)}`, inside]);
    }
  }
  return found;
}

/** Several that are tried in order for one event are one answer to it. */
function edgesByName(edges: unknown): Fields {
  const byName = new Map<string, unknown[]>();
  for (const edge of listOf(edges)) {
    const { kind, event, delay } = isObject(edge) ? edge : {};
    const name =
      kind === 'action' || kind === 'outcome' ? `edge '${String(event)}'` : [kind, delay].filter(Boolean).join(' ');
    byName.set(name, [...(byName.get(name) ?? []), edge]);
  }
  return Object.fromEntries(byName);
}

function namesThatDiffer(before: unknown, after: unknown): readonly string[] {
  const [old, now] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => !same(old[name], now[name]));
}

const parentOf = (id: string) => id.slice(0, Math.max(0, id.lastIndexOf('.')));

const listOf = (value: unknown) => (Array.isArray(value) ? (value as readonly unknown[]) : []);
