/**
 * Finds the sets of edges that an event can trigger, one for each combination of guard answers. Inner states come
 * before outer ones and regions are independent, as in XState.
 */
import { isInside, stateAt, type Chart, type ChartEdge, type EventKey } from './chart.ts';
import type { Choice } from './choice.ts';
import { exitSetOf, isLeaf, type Configuration, type Remembered } from './microstep.ts';

export type Selection = readonly ChartEdge[];

export interface Selections {
  readonly all: readonly Selection[];
  /** There were more ways than `maxSelections`, and some are missing. */
  readonly cut: boolean;
  /** Edges of different regions exclude each other, and which one wins depends on the order of the regions. */
  readonly raced: boolean;
}

/** How many ways the guards of one event may answer before the rest is given up. */
export const maxSelections = 1_024;
/** Up to this many edges that exclude each other are tried in every order. */
const maxReordered = 5;

export const nothing: Selections = { all: [[]], cut: false, raced: false };

export function selectOn(chart: Chart, active: Configuration, remembered: Remembered, event: EventKey): Selections {
  if (!active.some((state) => chart.on[state]?.has(event))) return nothing;
  return settle(chart, active, remembered, within(chart, 0, new Set(active), event));
}

function within(chart: Chart, index: number, active: ReadonlySet<number>, event: EventKey): Selections {
  let ways: Selections = nothing;
  for (const child of stateAt(chart, index).children) {
    if (active.has(child)) ways = combine(ways, within(chart, child, active, event));
  }
  const own = chart.on[index]?.get(event);
  if (own === undefined) return ways;
  const all = ways.all.flatMap((way): readonly Selection[] => (way.length > 0 ? [way] : answersOf(own)));
  return { ...ways, all };
}

function answersOf({ takes, mayFall }: Choice<ChartEdge>): readonly Selection[] {
  return [...takes.map((edge) => [edge]), ...(mayFall ? [[]] : [])];
}

function combine(left: Selections, right: Selections): Selections {
  if (left === nothing) return right;
  if (right === nothing) return left;
  const all = left.all.flatMap((a) => right.all.map((b) => [...a, ...b]));
  const cut = left.cut || right.cut || all.length > maxSelections;
  return { all: all.slice(0, maxSelections), cut, raced: false };
}

/** Without an event: each active leaf asks itself and then the states around it. */
export function selectAlways(chart: Chart, active: Configuration, remembered: Remembered): Selections {
  const asked = active.filter((state) => chart.always[state] !== null);
  if (asked.length === 0) return nothing;
  const leaves = active.filter((state) => isLeaf(chart, state));
  let answers: { readonly all: readonly ReadonlyMap<number, Selection>[]; readonly cut: boolean } = {
    all: [new Map()],
    cut: false,
  };
  for (const state of asked) {
    const choice = chart.always[state];
    if (choice === null || choice === undefined) continue;
    const all = answers.all.flatMap((truth) => answersOf(choice).map((answer) => new Map([...truth, [state, answer]])));
    answers = { all: all.slice(0, maxSelections), cut: answers.cut || all.length > maxSelections };
  }
  const all = answers.all.map((truth) => {
    const taken = new Set<ChartEdge>();
    for (const leaf of leaves) {
      for (let up = leaf; up >= 0; up = stateAt(chart, up).parent) {
        const [edge] = truth.get(up) ?? [];
        if (edge === undefined) continue;
        taken.add(edge);
        break;
      }
    }
    return [...taken];
  });
  return settle(chart, active, remembered, { all, cut: answers.cut, raced: false });
}

/**
 * Edges of different regions may exclude each other. Which of them wins depends on the order in which the machine
 * happens to hold its regions, so every order counts.
 */
function settle(chart: Chart, active: Configuration, remembered: Remembered, ways: Selections): Selections {
  const found = new Map<string, Selection>();
  let { cut, raced } = ways;
  for (const way of ways.all) {
    const exits = way.length < 2 ? [] : way.map((edge) => new Set(exitSetOf(chart, edge, active, remembered)));
    const clash = (a: number, b: number) => [...(exits[a] ?? [])].some((state) => exits[b]?.has(state));
    const places = way.map((_, place) => place);
    const unsettled = places.some((a) =>
      places.some((b) => a < b && clash(a, b) && !isNested(chart, way[a], way[b]) && !isNested(chart, way[b], way[a])),
    );
    raced ||= unsettled;
    cut ||= unsettled && way.length > maxReordered;
    const orders = unsettled && way.length <= maxReordered ? ordersOf(places) : [places];
    for (const order of orders) {
      const kept = withoutClashes(chart, way, order, clash);
      found.set(kept.map(({ index }) => index).join(), kept);
    }
  }
  return { all: [...found.values()], cut, raced };
}

function withoutClashes(
  chart: Chart,
  way: Selection,
  order: readonly number[],
  clash: (a: number, b: number) => boolean,
): Selection {
  let kept: number[] = [];
  for (const place of order) {
    const rivals = kept.filter((other) => clash(place, other));
    if (rivals.every((other) => isNested(chart, way[place], way[other]))) {
      kept = [...kept.filter((other) => !rivals.includes(other)), place];
    }
  }
  return way.filter((_, place) => kept.includes(place));
}

function isNested(chart: Chart, inner: ChartEdge | undefined, outer: ChartEdge | undefined): boolean {
  return inner !== undefined && outer !== undefined && isInside(chart, inner.source, outer.source);
}

function ordersOf(places: readonly number[]): readonly (readonly number[])[] {
  if (places.length < 2) return [places];
  return places.flatMap((first) => ordersOf(places.filter((place) => place !== first)).map((rest) => [first, ...rest]));
}
