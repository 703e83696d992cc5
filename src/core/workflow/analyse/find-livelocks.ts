/**
 * Finds cycles from which no path leads to an end, and cycles that the machine runs through without resting. What lies
 * behind a limit counts as a way out.
 */
import type { Finding } from './analysis.ts';
import { actionKey, stateAt, type Chart } from './chart.ts';
import { exitSetOf, leavesOf } from './microstep.ts';
import type { Paths } from './paths.ts';
import type { Place, Search, Step } from './search.ts';

/** How many states of a circle a message names. */
const maxNamed = 6;

export function findLivelocks(chart: Chart, { places }: Search, possible: Paths, certain: Paths): readonly Finding[] {
  if (!canEnd(chart, 0)) return [];
  const hopeful = leadingTo(places, ({ done, whole }) => done || !whole);
  const stepsOf = (index: number) => (places[index]?.steps ?? []).map(({ to }) => to);
  return components(places.length, stepsOf).flatMap((circle): Finding[] => {
    const inside = new Set(circle);
    const isTrap = circle.every((index) => !hopeful.has(index) && stepsOf(index).every((to) => inside.has(to)));
    const goesOn = circle.some((index) => places[index]?.steps.some(({ kind, wayOn }) => kind !== 'inner' && wayOn));
    if (!isTrap || !goesOn) return [];
    const { place, proven, path } = nearest(circle, possible, certain);
    const message = `the workflow can never end once it is in ${statesText(chart, places, circle)}; add a way to an end.`;
    const severity = proven ? 'error' : 'warning';
    return [
      { code: 'livelock', severity, where: whereOf(chart, places[place]), message, counterexample: path, proven },
    ];
  });
}

export function findRestless(chart: Chart, { places }: Search, possible: Paths, certain: Paths): readonly Finding[] {
  const innerOf = (index: number) => (places[index]?.steps ?? []).filter(({ kind }) => kind === 'inner');
  const targetsOf = (index: number) => innerOf(index).map(({ to }) => to);
  return components(places.length, targetsOf).flatMap((circle): Finding[] => {
    const inside = new Set(circle);
    const turning = circle.flatMap(innerOf).filter(({ from, to }) => inside.has(from) && inside.has(to));
    if (turning.length === 0) return [];
    const { place, proven: met, path } = nearest(circle, possible, certain);
    const stays = circle.every((index) => {
      const { steps = [], whole = false } = places[index] ?? {};
      return whole && steps.length === 1 && steps.every(({ certain: sure, to }) => sure && inside.has(to));
    });
    const proven = met && stays;
    const guarded = turning.some(({ edges }) => edges.some(({ drawn }) => drawn.guard !== null));
    const verb = proven ? 'never comes' : 'may never come';
    const message = `the machine ${verb} to rest in ${statesText(chart, places, circle)}: edges without an event lead in a circle; give one of them a guard that ends it.`;
    const severity = proven ? 'error' : guarded ? 'info' : 'warning';
    return [
      { code: 'restless', severity, where: whereOf(chart, places[place]), message, counterexample: path, proven },
    ];
  });
}

/** Circles of events that the machine raises itself: where the circle raises what it listens to. Never proven. */
export function findRaising(chart: Chart, { places }: Search, possible: Paths): readonly Finding[] {
  const raised = new Map((chart.graph.raises ?? []).map((name) => [actionKey(name), name]));
  if (raised.size === 0) return [];
  const stepsOf = (index: number) =>
    (places[index]?.steps ?? []).filter(({ kind, event }) => kind === 'inner' || raised.has(event));
  const targetsOf = (index: number) => stepsOf(index).map(({ to }) => to);
  return components(places.length, targetsOf).flatMap((circle): Finding[] => {
    const inside = new Set(circle);
    const turning = circle.flatMap(stepsOf).filter(({ to }) => inside.has(to));
    const raising = new Set(turning.flatMap((step) => raisedIn(chart, places, step)));
    const heard = new Set(turning.flatMap(({ event }) => raised.get(event) ?? []).filter((name) => raising.has(name)));
    if (heard.size === 0) return [];
    const { place, path } = nearest(circle, possible, possible);
    const guarded = turning.some(({ edges }) => edges.some(({ drawn }) => drawn.guard !== null));
    const message = `the machine may never come to rest in ${statesText(chart, places, circle)}: edges on what it raises itself (${[...heard].slice(0, maxNamed).join(', ')}) lead in a circle; give one of them a guard that ends it.`;
    const severity = guarded ? 'info' : 'warning';
    const where = whereOf(chart, places[place]);
    return [{ code: 'restless', severity, where, message, counterexample: path, proven: false }];
  });
}

/** What a step raises: by its edges, and by the states that it leaves and enters. */
function raisedIn(chart: Chart, places: readonly Place[], { from, to, edges }: Step): readonly string[] {
  const { configuration: before = [], remembered = new Map() } = places[from] ?? {};
  const left = new Set(edges.flatMap((edge) => exitSetOf(chart, edge, before, remembered)));
  const kept = new Set(before.filter((state) => !left.has(state)));
  const entered = (places[to]?.configuration ?? []).filter((state) => !kept.has(state));
  const moved = new Set([...left, ...entered].map((state) => stateAt(chart, state).id));
  return [
    ...edges.flatMap(({ drawn }) => drawn.raises ?? []),
    ...chart.graph.states.flatMap(({ id, raises }) => (moved.has(id) ? (raises ?? []) : [])),
  ];
}

/** Whether the state has an end at all, reachable or not. */
function canEnd(chart: Chart, index: number): boolean {
  const { type, children } = stateAt(chart, index);
  const real = children.map((child) => stateAt(chart, child)).filter((child) => child.type !== 'history');
  if (type === 'compound') return real.some((child) => child.type === 'final');
  return type === 'final' || (type === 'parallel' && real.every((child) => canEnd(chart, child.index)));
}

/** All places from which some path leads to one that is wanted. */
function leadingTo(places: readonly Place[], wanted: (place: Place) => boolean): ReadonlySet<number> {
  const before = places.map((): number[] => []);
  for (const { steps } of places) for (const { from, to } of steps) before[to]?.push(from);
  const found = new Set(places.filter(wanted).map(({ index }) => index));
  // A set that grows while it is walked is walked to its end.
  for (const index of found) for (const earlier of before[index] ?? []) found.add(earlier);
  return found;
}

function nearest(circle: readonly number[], possible: Paths, certain: Paths) {
  const proven = circle.some((index) => certain.reaches(index));
  const paths = proven ? certain : possible;
  const [place = 0] = circle.toSorted((a, b) => paths.length(a) - paths.length(b) || a - b);
  return { place, proven, path: paths.to(place) };
}

function whereOf(chart: Chart, place: Place | undefined): string {
  return leavesOf(chart, place?.configuration ?? []).join(', ');
}

function statesText(chart: Chart, places: readonly Place[], circle: readonly number[]): string {
  const all = [
    ...new Set(
      circle.toSorted((a, b) => a - b).flatMap((index) => leavesOf(chart, places[index]?.configuration ?? [])),
    ),
  ];
  const more = all.length > maxNamed ? ` and ${all.length - maxNamed} more` : '';
  return `${all.slice(0, maxNamed).join(', ')}${more}`;
}

/** The strongly connected components, by Tarjan's algorithm, without recursion. */
function components(count: number, nextOf: (index: number) => readonly number[]): readonly (readonly number[])[] {
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const open: number[] = [];
  const isOpen = new Set<number>();
  const found: (readonly number[])[] = [];
  for (let root = 0; root < count; root++) {
    if (order.has(root)) continue;
    const trail = [{ index: root, next: nextOf(root), at: 0 }];
    for (let here = trail.at(-1); here !== undefined; here = trail.at(-1)) {
      const { index } = here;
      if (!order.has(index)) {
        order.set(index, order.size);
        low.set(index, order.size - 1);
        open.push(index);
        isOpen.add(index);
      }
      const next = here.next[here.at++];
      if (next !== undefined) {
        if (!order.has(next)) trail.push({ index: next, next: nextOf(next), at: 0 });
        else if (isOpen.has(next)) low.set(index, Math.min(low.get(index) ?? 0, order.get(next) ?? 0));
        continue;
      }
      trail.pop();
      const above = trail.at(-1);
      if (above !== undefined) low.set(above.index, Math.min(low.get(above.index) ?? 0, low.get(index) ?? 0));
      if (low.get(index) === order.get(index)) {
        const component = open.splice(open.indexOf(index));
        for (const each of component) isOpen.delete(each);
        found.push(component);
      }
    }
  }
  return found;
}
