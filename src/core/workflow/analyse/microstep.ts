/**
 * Applies a set of edges at once: exits, records history and enters states exactly as XState does. Knows no guards;
 * the caller has chosen the edges.
 */
import { isInside, stateAt, type Chart, type ChartEdge } from './chart.ts';

/** The active states by number, the root among them, in ascending order. */
export type Configuration = readonly number[];

/** By history state: what was active when its parent was last left. */
export type Remembered = ReadonlyMap<number, readonly number[]>;

export interface Landing {
  readonly configuration: Configuration;
  readonly remembered: Remembered;
  /** The states that became complete, in the order in which the machine is told. */
  readonly completed: readonly number[];
  /** The workflow itself is complete. */
  readonly done: boolean;
}

type Jump = Pick<ChartEdge, 'source' | 'targets'> & { readonly reenter: boolean };

const outside = -1;

export function begin(chart: Chart): Landing {
  const entered = new Set<number>();
  enterInside(chart, 0, new Map(), entered, new Set());
  return land(chart, [0], new Set([0, ...entered]), new Map());
}

export function microstep(
  chart: Chart,
  active: Configuration,
  remembered: Remembered,
  edges: readonly ChartEdge[],
): Landing {
  const jumps = edges.map(({ source, targets, drawn }) => ({ source, targets, reenter: drawn.reenter === true }));
  const left = new Set(jumps.flatMap((jump) => exitSet(chart, jump, active, remembered)));
  const nowRemembered = left.size === 0 ? remembered : remember(chart, active, left, remembered);
  const entered = new Set<number>();
  for (const jump of jumps) enterTargets(chart, jump, nowRemembered, entered);
  const staying = active.filter((state) => !left.has(state));
  return land(chart, staying, entered, nowRemembered);
}

/** The states an edge leaves. Two edges that would leave the same state cannot both be taken. */
export function exitSetOf(
  chart: Chart,
  { source, targets, drawn }: ChartEdge,
  active: Configuration,
  remembered: Remembered,
): readonly number[] {
  return exitSet(chart, { source, targets, reenter: drawn.reenter === true }, active, remembered);
}

function exitSet(chart: Chart, jump: Jump, active: Configuration, remembered: Remembered): readonly number[] {
  if (jump.targets.length === 0) return [];
  const domain = domainOf(chart, jump, remembered);
  const own = jump.reenter && jump.source === domain;
  return active.filter((state) => isInside(chart, state, domain) || (own && state === domain));
}

function properAncestors(chart: Chart, state: number, below: number): number[] {
  const found: number[] = [];
  if (state === below) return found;
  for (let up = stateAt(chart, state).parent; up >= 0 && up !== below; up = stateAt(chart, up).parent) found.push(up);
  return found;
}

/** What a target means now: history states stand for what they remember, or for their fallback. */
function effectiveTargets(
  chart: Chart,
  targets: readonly number[],
  remembered: Remembered,
  seen: ReadonlySet<number> = new Set(),
): readonly number[] {
  const found = targets.flatMap((target) => {
    if (stateAt(chart, target).type !== 'history') return [target];
    if (seen.has(target)) return [];
    const past = remembered.get(target);
    return past ?? effectiveTargets(chart, fallbackOf(chart, target), remembered, new Set([...seen, target]));
  });
  return [...new Set(found)];
}

function fallbackOf(chart: Chart, history: number): readonly number[] {
  const { fallback, parent } = stateAt(chart, history);
  if (fallback.length > 0 || parent < 0) return fallback;
  const around = stateAt(chart, parent);
  return around.type === 'compound' ? [around.initial] : [parent];
}

/** The smallest state that stays active around what the edge leaves and enters. */
function domainOf(chart: Chart, { source, targets, reenter }: Jump, remembered: Remembered): number {
  const effective = effectiveTargets(chart, targets, remembered);
  if (!reenter && effective.every((target) => target === source || isInside(chart, target, source))) return source;
  const [head = source, ...tail] = [...effective, source];
  const common = properAncestors(chart, head, outside).find((up) => tail.every((state) => isInside(chart, state, up)));
  return common ?? (reenter ? outside : 0);
}

function remember(chart: Chart, active: Configuration, left: ReadonlySet<number>, before: Remembered): Remembered {
  const changed = new Map(before);
  for (const history of chart.usedHistory) {
    const { parent, deep } = stateAt(chart, history);
    if (!left.has(parent)) continue;
    const isKept = (state: number) =>
      deep ? isLeaf(chart, state) && isInside(chart, state, parent) : stateAt(chart, state).parent === parent;
    changed.set(history, active.filter(isKept));
  }
  return changed;
}

export function isLeaf(chart: Chart, state: number): boolean {
  const { type } = stateAt(chart, state);
  return type === 'atomic' || type === 'final';
}

function enterTargets(chart: Chart, jump: Jump, remembered: Remembered, entered: Set<number>): void {
  const { source, targets, reenter } = jump;
  if (targets.length === 0) return;
  const domain = domainOf(chart, jump, remembered);
  for (const target of targets) {
    const isItself = target === source && domain === source && !reenter;
    if (stateAt(chart, target).type !== 'history' && !isItself) entered.add(target);
    enterInside(chart, target, remembered, entered, new Set());
  }
  for (const target of effectiveTargets(chart, targets, remembered)) {
    const around = properAncestors(chart, target, domain);
    if (domain >= 0 && stateAt(chart, domain).type === 'parallel') around.push(domain);
    enterAround(chart, around, source === 0 && reenter ? outside : domain, remembered, entered);
  }
}

/** `resolving` holds the history states under way, so that fallbacks that lead in a circle end. */
function enterInside(
  chart: Chart,
  index: number,
  remembered: Remembered,
  entered: Set<number>,
  resolving: ReadonlySet<number>,
): void {
  const state = stateAt(chart, index);
  if (state.type === 'history') {
    if (resolving.has(index)) return;
    const now = new Set([...resolving, index]);
    const into = remembered.get(index) ?? fallbackOf(chart, index);
    for (const each of into) {
      if (stateAt(chart, each).type !== 'history') entered.add(each);
      enterInside(chart, each, remembered, entered, now);
    }
    for (const each of into) {
      enterAround(chart, properAncestors(chart, each, state.parent), outside, remembered, entered);
    }
  } else if (state.type === 'compound') {
    if (stateAt(chart, state.initial).type !== 'history') entered.add(state.initial);
    enterInside(chart, state.initial, remembered, entered, resolving);
  } else if (state.type === 'parallel') {
    enterRegions(chart, index, remembered, entered);
  }
}

function enterAround(
  chart: Chart,
  around: readonly number[],
  domain: number,
  remembered: Remembered,
  entered: Set<number>,
): void {
  for (const up of around) {
    if (isInside(chart, up, domain)) entered.add(up);
    if (stateAt(chart, up).type === 'parallel') enterRegions(chart, up, remembered, entered);
  }
}

/** Whichever region nobody aimed at begins where it begins. */
function enterRegions(chart: Chart, parallel: number, remembered: Remembered, entered: Set<number>): void {
  for (const region of stateAt(chart, parallel).children) {
    if (stateAt(chart, region).type === 'history') continue;
    if ([...entered].some((state) => isInside(chart, state, region))) continue;
    entered.add(region);
    enterInside(chart, region, remembered, entered, new Set());
  }
}

function land(chart: Chart, staying: Configuration, entered: ReadonlySet<number>, remembered: Remembered): Landing {
  const active = new Set(staying);
  const completed: number[] = [];
  const told = new Set<number>();
  let done = false;
  for (const index of [...entered].sort((a, b) => a - b)) {
    active.add(index);
    const state = stateAt(chart, index);
    if (state.type !== 'final') continue;
    const parent = stateAt(chart, state.parent);
    if (parent.type === 'compound') completed.push(parent.index);
    let up = parent.type === 'parallel' ? parent.index : parent.parent;
    while (up >= 0 && stateAt(chart, up).type === 'parallel' && !told.has(up) && isComplete(chart, up, active)) {
      told.add(up);
      completed.push(up);
      up = stateAt(chart, up).parent;
    }
    if (up < 0) done = true;
  }
  return { configuration: [...active].sort((a, b) => a - b), remembered, completed, done };
}

/**
 * Whether every active state has the one around it, and the right number inside it. XState does not see to that: it
 * loses states when an edge leads from inside a parallel state to the memory of that state before it remembers
 * anything, and it enters two children of one state if an edge names both. What its machine does from there on follows
 * no rule.
 */
export function isWhole(chart: Chart, active: Configuration): boolean {
  const all = new Set(active);
  return active.every((index) => {
    const { type, parent, children } = stateAt(chart, index);
    const inside = children.filter((child) => all.has(child)).length;
    const real = children.filter((child) => stateAt(chart, child).type !== 'history').length;
    const wanted = type === 'parallel' ? real : type === 'compound' ? 1 : 0;
    return inside === wanted && (parent < 0 || all.has(parent));
  });
}

function isComplete(chart: Chart, index: number, active: ReadonlySet<number>): boolean {
  const { type, children } = stateAt(chart, index);
  const real = children.filter((child) => stateAt(chart, child).type !== 'history');
  if (type === 'compound') return real.some((child) => stateAt(chart, child).type === 'final' && active.has(child));
  if (type === 'parallel') return real.every((child) => isComplete(chart, child, active));
  return type === 'final';
}

export function leavesOf(chart: Chart, configuration: Configuration): readonly string[] {
  const leaves = configuration.filter((state) => isLeaf(chart, state) && state > 0);
  return leaves.map((state) => stateAt(chart, state).id);
}
