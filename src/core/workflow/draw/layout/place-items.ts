/**
 * Places the items of a composite: horizontally as straight below their neighbours as the row allows, and row below
 * row.
 */
import type { Item, Join, JointOf, Link } from './levels.ts';
import type { Rows } from './rows.ts';

export interface Placed {
  readonly left: ReadonlyMap<Item, number>;
  /** By row: its upper edge and its height. */
  readonly rows: readonly { readonly top: number; readonly height: number }[];
  readonly width: number;
  readonly height: number;
}

interface Neighbour {
  readonly item: Item;
  readonly link: Link | null;
  readonly side: 'above' | 'below';
}

type Neighbours = ReadonlyMap<Item, readonly Neighbour[]>;

const pad = 16;
const rowGap = 14;
/** A row of arrows that run far sideways gets this much more room, at most. */
const maxSlant = 30;
const sweeps = 24;
/** With more joins than this, fewer sweeps must do. */
const manyJoins = 4_000;

export function placeItems({ rows, joins }: Rows, jointOf: JointOf, minHeight: number): Placed {
  const left = new Map<Item, number>();
  for (const row of rows) placeSideBySide(row, left);
  const neighbours = neighboursOf(joins);
  const turns = joins.length > manyJoins ? 4 : sweeps;
  for (let turn = 0; turn < turns; turn++) {
    const look = turn >= turns - 2 ? 'both' : turn % 2 === 0 ? 'above' : 'below';
    const order = turn % 2 === 0 ? rows : rows.toReversed();
    for (const row of order) settle(row, neighbours, look, left, jointOf);
  }
  for (const row of rows) straighten(row, neighbours, 'above', left, jointOf);
  for (const row of rows.toReversed()) straighten(row, neighbours, 'below', left, jointOf);
  placeTitle(rows[0] ?? [], left);
  return measure(rows, joins, left, jointOf, minHeight);
}

/** As close as the gaps allow, around the middle. */
function placeSideBySide(row: readonly Item[], left: Map<Item, number>): void {
  let x = 0;
  for (const [at, item] of row.entries()) {
    x += gapBetween(row[at - 1], item);
    left.set(item, x);
  }
  const middle = (x + (row.at(-1)?.width ?? 0)) / 2;
  for (const item of row) left.set(item, (left.get(item) ?? 0) - middle);
}

function neighboursOf(joins: readonly Join[]): Neighbours {
  const found = new Map<Item, Neighbour[]>();
  const add = (item: Item, neighbour: Neighbour) => {
    const list = found.get(item);
    if (list === undefined) found.set(item, [neighbour]);
    else list.push(neighbour);
  };
  for (const { upper, lower, link } of joins) {
    add(lower, { item: upper, link, side: 'above' });
    add(upper, { item: lower, link, side: 'below' });
  }
  return found;
}

/** Where the item would stand for the arrow to its neighbour to be straight. */
function straightTo(item: Item, other: Neighbour, left: ReadonlyMap<Item, number>, jointOf: JointOf): number {
  return (left.get(other.item) ?? 0) + jointOf(other.item, other.link) - jointOf(item, other.link);
}

function settle(
  row: readonly Item[],
  neighbours: Neighbours,
  look: 'above' | 'below' | 'both',
  left: Map<Item, number>,
  jointOf: JointOf,
): void {
  const wishes = row.map((item, at) => {
    const seen = (neighbours.get(item) ?? []).filter(({ side }) => look === 'both' || side === look);
    const places = seen.map((other) => straightTo(item, other, left, jointOf));
    const gap = gapBetween(row[at - 1], item);
    if (places.length === 0) return { at: left.get(item) ?? 0, weight: 0.01, gap };
    // Arrows bend less when what they only pass gives way last.
    const weight = places.length * (item.kind === 'box' || item.kind === 'start' ? 1 : 8);
    return { at: places.reduce((sum, place) => sum + place, 0) / places.length, weight, gap };
  });
  for (const [at, x] of settleRow(wishes).entries()) {
    const item = row[at];
    if (item !== undefined) left.set(item, x);
  }
}

/** What an arrow only passes stands straight below or above the last thing it passed, if its neighbours leave room. */
function straighten(
  row: readonly Item[],
  neighbours: Neighbours,
  look: 'above' | 'below',
  left: Map<Item, number>,
  jointOf: JointOf,
): void {
  for (const [at, item] of row.entries()) {
    if (item.kind !== 'pass' && item.kind !== 'label' && item.kind !== 'port') continue;
    const other = neighbours.get(item)?.find(({ side }) => side === look);
    if (other === undefined || other.item.kind === 'box') continue;
    const wish = straightTo(item, other, left, jointOf);
    const before = row[at - 1];
    const after = row[at + 1];
    const least = before === undefined ? -Infinity : (left.get(before) ?? 0) + gapBetween(before, item);
    const most = after === undefined ? Infinity : (left.get(after) ?? 0) - gapBetween(item, after);
    left.set(item, Math.max(least, Math.min(most, wish)));
  }
}

/** At the left, before everything else in its row. */
function placeTitle([title, second]: readonly Item[], left: Map<Item, number>): void {
  if (title === undefined) return;
  let x = second === undefined ? Infinity : (left.get(second) ?? 0) - gapBetween(title, second);
  for (const [item, at] of left) if (item !== title) x = Math.min(x, at);
  left.set(title, Number.isFinite(x) ? x : 0);
}

function measure(
  rows: readonly (readonly Item[])[],
  joins: readonly Join[],
  left: Map<Item, number>,
  jointOf: JointOf,
  minHeight: number,
): Placed {
  let leftmost = Infinity;
  for (const x of left.values()) leftmost = Math.min(leftmost, x);
  let rightmost = 0;
  for (const [item, x] of left) {
    const at = Math.round(x - leftmost + pad);
    left.set(item, at);
    rightmost = Math.max(rightmost, at + item.width);
  }
  const slants = rows.map(() => 0);
  for (const { upper, lower, link } of joins) {
    const slant = Math.abs(
      straightTo(lower, { item: upper, link, side: 'above' }, left, jointOf) - (left.get(lower) ?? 0),
    );
    slants[lower.row] = Math.max(slants[lower.row] ?? 0, slant);
  }
  const tops: { top: number; height: number }[] = [];
  let y = 0;
  for (const [at, row] of rows.entries()) {
    const height = row.reduce((tallest, item) => Math.max(tallest, item.height), 0);
    y += at === 0 || row.length === 0 ? 0 : rowGap + Math.min(maxSlant, (slants[at] ?? 0) / 8);
    tops.push({ top: Math.round(y), height });
    y = Math.round(y) + height;
  }
  // Without an arrow to the lower border, the last row is only a margin.
  const height = Math.max(minHeight, rows.at(-1)?.length === 0 ? y + pad : y);
  return { left, rows: tops, width: rightmost + pad, height };
}

function gapBetween(before: Item | undefined, item: Item): number {
  if (before === undefined) return 0;
  const thin = (each: Item) => each.kind === 'pass' || each.kind === 'port';
  const room = thin(before) && thin(item) ? 6 : thin(before) || thin(item) ? 12 : before.kind === 'box' ? 28 : 10;
  return before.width + room;
}

export interface Wish {
  readonly at: number;
  readonly weight: number;
  /** How far it must stay from the one before it. */
  readonly gap: number;
}

export function settleRow(wishes: readonly Wish[]): readonly number[] {
  // Shifted by the gaps before it, every wish becomes one for a row that must only not go backwards.
  const shifts: number[] = [];
  let shift = 0;
  for (const [index, { gap }] of wishes.entries()) {
    shift += index === 0 ? 0 : gap;
    shifts.push(shift);
  }
  const pools: { sum: number; weight: number; count: number }[] = [];
  for (const [index, { at, weight }] of wishes.entries()) {
    let pool = { sum: (at - (shifts[index] ?? 0)) * weight, weight, count: 1 };
    for (let before = pools.at(-1); before !== undefined; before = pools.at(-1)) {
      if (before.sum / before.weight <= pool.sum / pool.weight) break;
      pools.pop();
      pool = { sum: before.sum + pool.sum, weight: before.weight + pool.weight, count: before.count + pool.count };
    }
    pools.push(pool);
  }
  return pools
    .flatMap(({ sum, weight, count }) => Array<number>(count).fill(sum / weight))
    .map((at, index) => at + (shifts[index] ?? 0));
}
