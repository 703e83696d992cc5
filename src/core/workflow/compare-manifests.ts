/** What changed between the manifest that a session is pinned to and today's? In words that an operator can act on. */
import { canonicalText } from '../values/canonical.ts';
import { isObject, type Json } from '../values/json.ts';
import { compareMachines } from './compare-machines.ts';

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
