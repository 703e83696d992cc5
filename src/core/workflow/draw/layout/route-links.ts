/**
 * Routes arrows: straight down within a row, in the column kept for them, and curved only between rows. At a box,
 * arrows stand side by side, each as near to its target as possible.
 */
import type { Item, Join, JointOf, Link } from './levels.ts';
import { type Placed, settleRow } from './place-items.ts';
import type { Rows } from './rows.ts';
import type { Shape, Stroke } from './shapes.ts';

const headLength = 7;
const margin = 12;
const maxApart = 16;

export interface Frame {
  readonly rows: Rows;
  readonly placed: Placed;
  readonly jointOf: JointOf;
  /** The upper edge and the height of a box inside its row. */
  readonly boxOf: (item: Item) => { readonly top: number; readonly height: number; readonly width: number };
  /** Whether the link must meet the box at its joint and nowhere else. */
  readonly isFixed: (item: Item, link: Link | null) => boolean;
}

export interface Routed {
  readonly shapes: readonly Shape[];
  /** By arrow: where it passes the border, from the left. */
  readonly ports: ReadonlyMap<number, number>;
}

export function routeLinks(frame: Frame): Routed {
  const { rows, placed } = frame;
  const places = placesAtBoxes(frame);
  const ports = new Map<number, number>();
  const shapes: Shape[] = [];
  for (const join of rows.joins) {
    if (join.link === null) shapes.push(...startShapes(frame, join, places));
  }
  for (const [link, trail] of rows.trails) {
    const xOf = (item: Item, side: 'upper' | 'lower') =>
      places.get(keyOf(item, link, side)) ?? (placed.left.get(item) ?? 0) + frame.jointOf(item, link);
    const strokes: Stroke[] = [];
    for (const [at, item] of trail.entries()) {
      const isFirst = at === 0;
      const isLast = at === trail.length - 1;
      const x = xOf(item, isFirst ? 'lower' : 'upper');
      const { top, bottom } = spanOf(frame, item, isFirst, isLast, link);
      if (isFirst) strokes.push(['M', x, top]);
      // A curve ends before its head begins.
      else strokes.push(curve(strokes.at(-1), x, isLast ? Math.min(bottom, rowTop(frame, item)) : rowTop(frame, item)));
      if (isLast && !isFirst) strokes.push(['L', x, bottom]);
      else strokes.push(['L', x, Math.max(isFirst ? top : 0, rowBottom(frame, item))]);
      if (item.kind === 'port') ports.set(link.arrow.index, x);
      if (item.kind === 'label') {
        const { arrow, lines } = link;
        shapes.push({
          kind: 'label',
          x: x + 6,
          y: rowTop(frame, item) + labelInset(frame, item),
          lines,
          title: arrow.title,
          of: arrow,
        });
      }
    }
    shapes.push({ kind: 'line', strokes, title: link.arrow.title, of: link.arrow });
    shapes.push(...headShapes(frame, link, trail, xOf));
  }
  return { shapes, ports };
}

/** The head of an arrow at the end of its line; none where it goes on inside a composite. */
function headShapes(
  frame: Frame,
  link: Link,
  trail: readonly Item[],
  xOf: (item: Item, side: 'upper' | 'lower') => number,
): readonly Shape[] {
  const item = link.head === 'lower' ? trail.at(-1) : trail[0];
  if (link.head === 'none' || item === undefined) return [];
  const isDown = link.head === 'lower';
  const of = link.arrow;
  const { top, bottom } = spanOf(frame, item, !isDown, isDown, { ...link, head: 'none' });
  return [
    isDown
      ? { kind: 'head', x: xOf(item, 'upper'), y: bottom, towards: 'down', of }
      : { kind: 'head', x: xOf(item, 'lower'), y: top, towards: 'up', of },
  ];
}

const rowTop = ({ placed }: Frame, { row }: Item) => placed.rows[row]?.top ?? 0;
const rowBottom = ({ placed }: Frame, { row }: Item) => (placed.rows[row]?.top ?? 0) + (placed.rows[row]?.height ?? 0);

/** Labels of several lines stand in the middle of their row. */
function labelInset({ placed }: Frame, { row, height }: Item): number {
  return ((placed.rows[row]?.height ?? 0) - height) / 2 + 11;
}

/** Where a line begins at its first item, and where it ends at its last. */
function spanOf(
  frame: Frame,
  item: Item,
  isFirst: boolean,
  isLast: boolean,
  link: Link,
): { top: number; bottom: number } {
  const headed = { top: link.head === 'upper' ? headLength : 0, bottom: link.head === 'lower' ? headLength : 0 };
  if (item.kind === 'port') return { top: 0 + headed.top, bottom: frame.placed.height - headed.bottom };
  if (item.kind !== 'box') return { top: rowTop(frame, item), bottom: rowBottom(frame, item) };
  const box = frame.boxOf(item);
  return {
    top: isFirst ? box.top + box.height + headed.top : box.top,
    bottom: isLast ? box.top - headed.bottom : box.top,
  };
}

function curve(from: Stroke | undefined, x: number, y: number): Stroke {
  const [fromX, fromY] = from === undefined || from[0] === 'C' ? [x, y] : [from[1], from[2]];
  if (Math.abs(fromX - x) < 0.5) return ['L', x, y];
  const middle = (fromY + y) / 2;
  return ['C', fromX, middle, x, middle, x, y];
}

function startShapes(frame: Frame, { upper, lower }: Join, places: ReadonlyMap<string, number>): readonly Shape[] {
  const x = (frame.placed.left.get(upper) ?? 0) + upper.joint;
  const bottom = rowBottom(frame, upper);
  const to = places.get(keyOf(lower, null, 'upper')) ?? x;
  const { top } = lower.kind === 'box' ? frame.boxOf(lower) : { top: rowTop(frame, lower) };
  const begin: Stroke = ['M', x, bottom];
  const strokes: Stroke[] = [
    begin,
    curve(begin, to, Math.min(top - headLength, rowTop(frame, lower))),
    ['L', to, top - headLength],
  ];
  return [
    { kind: 'start', x, y: bottom - upper.height / 2 },
    { kind: 'line', strokes, title: '', of: null },
    { kind: 'head', x: to, y: top, towards: 'down', of: null },
  ];
}

function keyOf(item: Item, link: Link | null, side: 'upper' | 'lower'): string {
  return `${item.state} ${side} ${link === null ? 'start' : link.arrow.index}`;
}

/** By box, side and arrow: where on the border the arrow meets it. */
function placesAtBoxes({ rows, placed, jointOf, boxOf, isFixed }: Frame): ReadonlyMap<string, number> {
  const sides = new Map<
    string,
    { item: Item; side: 'upper' | 'lower'; ends: { link: Link | null; towards: number }[] }
  >();
  const xOf = (item: Item, link: Link | null) => (placed.left.get(item) ?? 0) + jointOf(item, link);
  for (const { upper, lower, link } of rows.joins) {
    for (const [item, side, other] of [[upper, 'lower', lower] as const, [lower, 'upper', upper] as const]) {
      if (item.kind !== 'box') continue;
      const key = `${item.state} ${side}`;
      const entry = sides.get(key) ?? { item, side, ends: [] };
      entry.ends.push({ link, towards: xOf(other, link) });
      sides.set(key, entry);
    }
  }
  const found = new Map<string, number>();
  for (const { item, side, ends } of sides.values()) {
    const left = placed.left.get(item) ?? 0;
    const { width } = boxOf(item);
    const apart = Math.min(maxApart, (width - 2 * margin) / Math.max(1, ends.length - 1));
    const wished = ends
      .map(({ link, towards }) => {
        const fixed = isFixed(item, link);
        const near = Math.min(left + width - margin, Math.max(left + margin, towards));
        return { link, fixed, at: fixed ? left + jointOf(item, link) : near, order: towards };
      })
      .sort((a, b) => a.at - b.at || a.order - b.order);
    const settled = settleRow(wished.map(({ at, fixed }) => ({ at, weight: fixed ? 1e6 : 1, gap: apart })));
    for (const [at, { link, fixed, at: wish }] of wished.entries()) {
      // What was pushed over an edge comes back, and keeps its distance from the others that were.
      const least = left + margin + at * apart;
      const most = left + width - margin - (wished.length - 1 - at) * apart;
      const x = fixed ? wish : Math.min(most, Math.max(least, settled[at] ?? wish));
      found.set(keyOf(item, link, side), Math.round(x));
    }
  }
  return found;
}
