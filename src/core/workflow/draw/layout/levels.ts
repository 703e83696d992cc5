/**
 * Assigns arrows to composites. Each composite is laid out by itself as rows of boxes. An arrow that crosses borders
 * is cut into one link for each composite, joined at ports.
 */
import { isInside, stateAt, type Chart, type ChartEdge } from '../../analyse/chart.ts';
import { isComposite, type DrawPlan } from '../draw-plan.ts';
import { edgeText, oneLine } from '../edge-text.ts';
import { shorten } from './text-size.ts';

/** All edges between the same two states, as one arrow with a line for each. */
export interface Arrow {
  readonly index: number;
  readonly source: number;
  readonly target: number;
  /** Cut to what fits. */
  readonly lines: readonly string[];
  /** In full. */
  readonly title: string;
}

/** A child of the composite, or a port in its upper or lower border. */
export type End = number | 'top' | 'bottom';

export interface Link {
  readonly arrow: Arrow;
  readonly upper: End;
  readonly lower: End;
  readonly head: 'upper' | 'lower' | 'none';
  /** The arrow runs from the lower end to the upper one. */
  readonly upwards: boolean;
  /** Only one link of an arrow carries its lines. */
  readonly lines: readonly string[];
}

export interface Level {
  readonly state: number;
  readonly children: readonly number[];
  readonly ranks: ReadonlyMap<number, number>;
  readonly links: Link[];
  /** By child: the arrow from it to itself. */
  readonly loops: ReadonlyMap<number, Arrow>;
}

export interface Levels {
  readonly byState: ReadonlyMap<number, Level>;
  /** By state: the arrows that would run too far, as lines for its box. */
  readonly told: ReadonlyMap<number, readonly string[]>;
}

/**
 * Arrows pass at most this many rows, all together; beyond that the longest are not drawn, but told in words where they
 * begin. It bounds the work for any graph, and a picture with more would not be readable.
 */
const maxPassed = 4_000;
const maxLabel = 44;
const maxLines = 8;

export function planLevels({ chart, arrows: edges, nameOf }: DrawPlan): Levels {
  const arrows = mergeEdges(edges);
  const loops = new Map(arrows.filter(({ source, target }) => source === target).map((arrow) => [arrow.source, arrow]));
  const levels = new Map<number, Level>();
  for (const state of chart.states) {
    if (!isComposite(state) && state.index > 0) continue;
    const home = arrows.filter((arrow) => arrow.source !== arrow.target && homeOf(chart, arrow) === state.index);
    const between = home.flatMap(({ source, target }): [number, number][] =>
      source === state.index || target === state.index
        ? []
        : [[childTowards(chart, state.index, source), childTowards(chart, state.index, target)]],
    );
    const ranks = rankChildren(state.children, state.initial, between);
    levels.set(state.index, { state: state.index, children: state.children, ranks, links: [], loops });
  }
  const spans = new Map(
    arrows.map((arrow) => [arrow, arrow.source === arrow.target ? 0 : spanOf(chart, levels, arrow)]),
  );
  const told = new Map<number, string[]>();
  let passed = [...spans.values()].reduce((sum, span) => sum + span, 0);
  for (const [arrow, span] of [...spans].sort(([, a], [, b]) => b - a)) {
    if (passed <= maxPassed) break;
    passed -= span;
    spans.delete(arrow);
    const lines = arrow.lines.map((line) => `${line} → ${nameOf(arrow.target)}`);
    told.set(arrow.source, [...(told.get(arrow.source) ?? []), ...lines]);
  }
  for (const arrow of arrows) {
    const level = levels.get(homeOf(chart, arrow));
    if (level !== undefined && spans.has(arrow) && arrow.source !== arrow.target) addArrow(chart, levels, level, arrow);
  }
  return { byState: levels, told };
}

/** How many rows it passes, at most. */
function spanOf(chart: Chart, levels: ReadonlyMap<number, Level>, arrow: Arrow): number {
  const home = homeOf(chart, arrow);
  const rankOf = (level: Level | undefined, child: number) => level?.ranks.get(child) ?? 0;
  const deepest = (level: Level | undefined) =>
    [...(level?.ranks.values() ?? [])].reduce((max, rank) => Math.max(max, rank), 0);
  const outer = levels.get(home);
  const ends = [arrow.source, arrow.target].filter((end) => end !== home);
  const [one = 0, other = one] = ends.map((end) => rankOf(outer, childTowards(chart, home, end)));
  let rows = ends.length === 2 ? Math.abs(one - other) : deepest(outer);
  for (const end of ends) {
    for (let up = stateAt(chart, end).parent; up > home; up = stateAt(chart, up).parent)
      rows += deepest(levels.get(up)) + 1;
  }
  return 2 * rows;
}

function mergeEdges(edges: readonly ChartEdge[]): readonly Arrow[] {
  const merged = new Map<string, { source: number; target: number; texts: string[] }>();
  for (const { source, targets, drawn } of edges) {
    for (const target of targets) {
      const key = `${source} ${target}`;
      const entry = merged.get(key) ?? { source, target, texts: [] };
      entry.texts.push(oneLine(edgeText(drawn)));
      merged.set(key, entry);
    }
  }
  return [...merged.values()].map(({ source, target, texts }, index) => {
    const shown = texts
      .slice(0, texts.length > maxLines ? maxLines - 1 : maxLines)
      .map((text) => shorten(text, maxLabel));
    const lines = shown.length < texts.length ? [...shown, `and ${texts.length - shown.length} more`] : shown;
    return { index, source, target, lines, title: texts.join('\n') };
  });
}

/** The smallest composite that holds both ends, or is one of them. */
function homeOf(chart: Chart, { source, target }: Arrow): number {
  let home = source;
  while (home > 0 && home !== target && !isInside(chart, target, home)) home = stateAt(chart, home).parent;
  return home;
}

function childTowards(chart: Chart, from: number, inner: number): number {
  let child = inner;
  while (stateAt(chart, child).parent !== from) child = stateAt(chart, child).parent;
  return child;
}

function addArrow(chart: Chart, levels: ReadonlyMap<number, Level>, level: Level, arrow: Arrow): void {
  const { source, target, lines } = arrow;
  const from = source === level.state ? null : childTowards(chart, level.state, source);
  const to = target === level.state ? null : childTowards(chart, level.state, target);
  const down = from === null || to === null || (level.ranks.get(from) ?? 0) < (level.ranks.get(to) ?? 0);
  const [above, below] = down ? [from, to] : [to, from];
  const [headEnd, sourceSide, targetSide] = down
    ? (['lower', 'bottom', 'top'] as const)
    : (['upper', 'top', 'bottom'] as const);
  level.links.push({
    arrow,
    upper: above ?? 'top',
    lower: below ?? 'bottom',
    head: to === null || to === target ? headEnd : 'none',
    upwards: !down,
    lines,
  });
  if (from !== null) addPorts(chart, levels, arrow, { outermost: from, goal: source, side: sourceSide });
  if (to !== null) addPorts(chart, levels, arrow, { outermost: to, goal: target, side: targetSide, isTarget: true });
}

/** The part of an arrow from the border of a composite to the state inside it. */
interface InnerPart {
  readonly outermost: number;
  readonly goal: number;
  readonly side: 'top' | 'bottom';
  readonly isTarget?: boolean;
}

function addPorts(
  chart: Chart,
  levels: ReadonlyMap<number, Level>,
  arrow: Arrow,
  { outermost, goal, side, isTarget = false }: InnerPart,
): void {
  for (let around = outermost; around !== goal;) {
    const child = childTowards(chart, around, goal);
    const head = !isTarget || child !== goal ? 'none' : side === 'top' ? 'lower' : 'upper';
    const ends = side === 'top' ? { upper: 'top' as const, lower: child } : { upper: child, lower: 'bottom' as const };
    levels.get(around)?.links.push({ arrow, ...ends, head, upwards: isTarget === (side === 'bottom'), lines: [] });
    around = child;
  }
}

/** Edges turned so that none closes a circle, and the states in the order in which a walk in depth leaves them. */
interface Downwards {
  readonly down: ReadonlyMap<number, readonly number[]>;
  readonly finished: readonly number[];
}

/** The row of each child: one below the lowest of those that lead to it. */
function rankChildren(
  children: readonly number[],
  initial: number,
  between: readonly (readonly [number, number])[],
): ReadonlyMap<number, number> {
  const { down, finished } = breakCircles(children, initial, between);
  const ranks = new Map(children.map((child): [number, number] => [child, 0]));
  for (const state of finished.toReversed()) {
    for (const lower of down.get(state) ?? []) {
      ranks.set(lower, Math.max(ranks.get(lower) ?? 0, (ranks.get(state) ?? 0) + 1));
    }
  }
  return ranks;
}

function breakCircles(
  children: readonly number[],
  initial: number,
  between: readonly (readonly [number, number])[],
): Downwards {
  const next = new Map(children.map((child): [number, number[]] => [child, []]));
  for (const [from, to] of between) next.get(from)?.push(to);

  // A walk in depth; what leads to a state that is still being walked closes a circle.
  const down = new Map(children.map((child): [number, number[]] => [child, []]));
  const finished: number[] = [];
  const open = new Set<number>();
  const met = new Set<number>();
  for (const root of [initial, ...children]) {
    if (met.has(root) || !next.has(root)) continue;
    const trail = [{ state: root, at: 0 }];
    met.add(root);
    open.add(root);
    for (let here = trail.at(-1); here !== undefined; here = trail.at(-1)) {
      const to = next.get(here.state)?.[here.at++];
      if (to === undefined) {
        trail.pop();
        open.delete(here.state);
        finished.push(here.state);
      } else {
        const [upper, lower] = open.has(to) ? [to, here.state] : [here.state, to];
        down.get(upper)?.push(lower);
        if (!met.has(to)) {
          met.add(to);
          open.add(to);
          trail.push({ state: to, at: 0 });
        }
      }
    }
  }
  return { down, finished };
}

export interface Item {
  readonly kind: 'box' | 'label' | 'pass' | 'start' | 'title' | 'port';
  /** For a box: the child. */
  readonly state: number;
  readonly link: Link | null;
  readonly row: number;
  readonly width: number;
  readonly height: number;
  /** From its left edge: where arrows meet it, unless they have places of their own. */
  readonly joint: number;
}

/** Two items in neighbouring rows that an arrow connects. `link` is null for the arrow from the start. */
export interface Join {
  readonly upper: Item;
  readonly lower: Item;
  readonly link: Link | null;
}

/** Where on an item, from its left edge, a link meets it. */
export type JointOf = (item: Item, link: Link | null) => number;

export interface Size {
  readonly width: number;
  readonly height: number;
  /** From the left edge: the middle of the box without the loop beside it. */
  readonly joint: number;
}
