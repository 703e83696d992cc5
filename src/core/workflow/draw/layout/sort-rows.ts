/**
 * Orders the items of each row to reduce crossings. Sweeps down and up by the median of the neighbours, then swaps
 * neighbours while that helps. Keeps the best order found.
 */
import type { Item, Join, JointOf, Link } from './levels.ts';

/** With more joins than this, fewer sweeps must do, and no neighbours change places. */
const manyJoins = 2_000;

interface Meeting {
  /** How far to the right on the item itself the arrow meets it, as a part of its width. */
  readonly own: number;
  readonly other: Item;
  readonly part: number;
}

type Meetings = ReadonlyMap<Item, readonly Meeting[]>;

function meetingsOf(joins: readonly Join[], jointOf: JointOf, look: 'above' | 'below'): Meetings {
  const partOf = (item: Item, link: Link | null) => (item.width === 0 ? 0 : jointOf(item, link) / item.width);
  const found = new Map<Item, Meeting[]>();
  for (const { upper, lower, link } of joins) {
    const [item, other] = look === 'above' ? [lower, upper] : [upper, lower];
    const list = found.get(item);
    const meeting = { own: partOf(item, link), other, part: partOf(other, link) };
    if (list === undefined) found.set(item, [meeting]);
    else list.push(meeting);
  }
  return found;
}

export function sortRows(rows: Item[][], joins: readonly Join[], jointOf: JointOf): void {
  const above = meetingsOf(joins, jointOf, 'above');
  const below = meetingsOf(joins, jointOf, 'below');
  const many = joins.length > manyJoins;
  const count = () => rows.reduce((sum, _, at) => sum + crossings(rows, at, below), 0);
  let best = rows.map((row) => [...row]);
  let fewest = count();
  for (let sweep = 0; sweep < (many ? 2 : 12) && fewest > 0; sweep++) {
    const down = sweep % 2 === 0;
    const order = down ? rows.keys() : [...rows.keys()].reverse();
    for (const at of order) sortRow(rows, at, down ? above : below, down ? at - 1 : at + 1);
    if (!many) for (const at of rows.keys()) swapNeighbours(rows, at, below);
    const now = count();
    if (now >= fewest) continue;
    fewest = now;
    best = rows.map((row) => [...row]);
  }
  for (const [at, row] of best.entries()) rows[at] = row;
}

function sortRow(rows: Item[][], at: number, meetings: Meetings, beside: number): void {
  const places = new Map((rows[beside] ?? []).map((item, place) => [item, place]));
  const wanted = (rows[at] ?? []).map((item, place) => {
    const known = (meetings.get(item) ?? []).map(({ other, part }) => (places.get(other) ?? 0) + part);
    const mean = known.length === 0 ? place : known.reduce((sum, each) => sum + each, 0) / known.length;
    // The title is first, or arrows would run through it.
    return { item, key: item.kind === 'title' ? -1 : mean };
  });
  rows[at] = wanted.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

function swapNeighbours(rows: Item[][], at: number, below: Meetings): void {
  const row = rows[at] ?? [];
  const around = () => crossings(rows, at - 1, below) + crossings(rows, at, below);
  let fewest = around();
  for (let place = 1; place < row.length && fewest > 0; place++) {
    const [left, right] = [row[place - 1], row[place]];
    if (left === undefined || right === undefined || left.kind === 'title') continue;
    row.splice(place - 1, 2, right, left);
    const now = around();
    if (now < fewest) fewest = now;
    else row.splice(place - 1, 2, left, right);
  }
}

/** Between a row and the next one: pairs of arrows whose ends stand in opposite order, counted by a tree of sums. */
function crossings(rows: readonly (readonly Item[])[], at: number, below: Meetings): number {
  const places = new Map((rows[at + 1] ?? []).map((item, place) => [item, place]));
  const ends = (rows[at] ?? []).flatMap((item, place) =>
    (below.get(item) ?? []).map(({ own, other, part }) => ({ from: place + own, to: (places.get(other) ?? 0) + part })),
  );
  ends.sort((a, b) => a.from - b.from || a.to - b.to);
  const order = [...new Set(ends.map(({ to }) => to))].sort((a, b) => a - b);
  const ranks = new Map(order.map((to, rank) => [to, rank + 1]));
  const sums = Array<number>(order.length + 1).fill(0);
  let count = 0;
  for (const [seen, { to }] of ends.entries()) {
    const rank = ranks.get(to) ?? 1;
    let notBeyond = 0;
    for (let node = rank; node > 0; node -= node & -node) notBeyond += sums[node] ?? 0;
    count += seen - notBeyond;
    for (let node = rank; node <= order.length; node += node & -node) sums[node] = (sums[node] ?? 0) + 1;
  }
  return count;
}
