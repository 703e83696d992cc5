/**
 * Checks whether a snapshot of an earlier version is still valid in this one, and finds the delays that run at a
 * state.
 */
import { laterType } from '../stage-rule.ts';
import { isObject, type Json } from '../../values/json.ts';
import { activeStates, isFinal } from '../active-states.ts';
import type { MachineDraft } from '../read/machine-draft.ts';
import type { Snapshot } from '../workflow.ts';
import { canonicalText } from '../../values/canonical.ts';

/** Null, or the first thing that does not. Reads it as what it may be: anything that was stored. */
export function checkSnapshot(draft: MachineDraft, snapshot: Snapshot): string | null {
  if (!isObject(snapshot)) return 'the snapshot is not an object';
  const { value, context, history, timers, done } = snapshot as { readonly [Key in keyof Snapshot]: unknown };
  const active = activeStates(draft.root, value);
  if (active === null) return `its state ${JSON.stringify(value)?.slice(0, 200)} does not exist here`;
  if (!isObject(context)) return 'its context is not an object';
  if (done !== isFinal(draft.root, active.states)) {
    return done === true ? 'it has ended, and its state is not final here' : 'it goes on, and its state is final here';
  }
  return problemOfHistory(draft, history) ?? problemOfTimers(draft, timers);
}

function problemOfHistory(draft: MachineDraft, history: unknown): string | null {
  if (!isObject(history)) return 'its history is not an object';
  for (const [id, remembered] of Object.entries(history)) {
    if (draft.byId.get(id)?.type !== 'history') return `it remembers '${id}', which is no history state here`;
    const lost = Array.isArray(remembered) ? remembered.find((state) => !draft.byId.has(state)) : 'nothing';
    if (lost !== undefined) return `history state '${id}' remembers '${String(lost)}', which does not exist here`;
  }
  return null;
}

function problemOfTimers(draft: MachineDraft, timers: unknown): string | null {
  if (!Array.isArray(timers)) return 'its timers are not a list';
  for (const timer of timers as readonly unknown[]) {
    const event = isObject(timer) ? timer['event'] : undefined;
    const type = isObject(event) ? event['type'] : undefined;
    if (typeof type !== 'string') return 'one of its timers has no event';
    if (!isHandled(draft, type)) return `one of its timers waits for '${type}', which nothing handles here`;
  }
  return null;
}

function isHandled({ states }: MachineDraft, type: string): boolean {
  if (type === laterType) return true;
  return states.some(
    ({ id, edges }) =>
      edges.some((edge) => edge.event === type) ||
      edges.some(({ kind, delay }) => kind === 'after' && type === afterEvent(delay, id)),
  );
}

interface RunningDelay {
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
function afterEvent(delay: number | string | null, id: string): string {
  return `xstate.after.${delay}.workflow${id === '' ? '' : `.${id}`}`;
}
