/**
 * What changed between a machine as an earlier manifest wrote it and as it is written today, state by state? Must not guess:
 * where it cannot tell, it was the machine.
 */
import { canonicalText } from '../values/canonical.ts';
import { isObject, type Json } from '../values/json.ts';

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
    const name = kind === 'action' ? `edge '${String(event)}'` : [kind, delay].filter(Boolean).join(' ');
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

const same = (a: unknown, b: unknown) => canonicalText((a ?? null) as Json) === canonicalText((b ?? null) as Json);
