/**
 * Which delays run while a session stands at this value? Those of every active state, of the states around it and of the root.
 * Reads a machine as manifests write it, so that one which nobody serves any more can be asked too. Must not run anything.
 */
import { canonicalText } from '../../values/canonical.ts';
import { isObject, type Json } from '../../values/json.ts';

export interface RunningDelay {
  /** Milliseconds, or the name of a delay. */
  readonly delay: number | string;
  /** What it says, as canonical text: a name may mean something else in another version. */
  readonly says: string;
}

/** By the name of their timer. Of a machine that cannot be read nothing is known: then there are none. */
export function delaysAt(machine: Json, value: Json): ReadonlyMap<string, RunningDelay> {
  const { root, delays } = isObject(machine) ? machine : {};
  const found = new Map<string, RunningDelay>();
  collect(root, '', value, isObject(delays) ? delays : {}, found);
  return found;
}

function collect(
  state: unknown,
  id: string,
  value: unknown,
  named: Readonly<Record<string, unknown>>,
  into: Map<string, RunningDelay>,
): void {
  if (!isObject(state)) return;
  for (const edge of listOf(state['edges'])) {
    const { kind, delay } = isObject(edge) ? edge : {};
    if (kind !== 'after' || (typeof delay !== 'number' && typeof delay !== 'string')) continue;
    const meant = typeof delay === 'number' ? delay : Object.hasOwn(named, delay) ? named[delay] : null;
    into.set(afterEvent(delay, id), { delay, says: canonicalText(meant as Json) });
  }
  for (const child of listOf(state['states'])) {
    const [name, inner] = listOf(child);
    if (typeof name !== 'string') continue;
    const path = id === '' ? name : `${id}.${name}`;
    if (value === name) collect(inner, path, {}, named, into);
    else if (isObject(value) && Object.hasOwn(value, name)) collect(inner, path, value[name], named, into);
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** As XState names the event of a delay, and its timer; the root of the machine that runs is called `workflow`. */
export function afterEvent(delay: number | string | null, id: string): string {
  return `xstate.after.${delay}.workflow${id === '' ? '' : `.${id}`}`;
}
