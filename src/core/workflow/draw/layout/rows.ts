/**
 * Fills the rows of a composite with boxes, labels and a narrow gap wherever an arrow passes. Nothing overlaps. Then
 * sorts the rows to reduce crossings.
 */
import type { End, Item, Join, JointOf, Level, Link, Size } from './levels.ts';
import { sortRows } from './sort-rows.ts';
import { labelSize, lineHeight, textWidth } from './text-size.ts';

export interface Rows {
  readonly rows: Item[][];
  readonly joins: readonly Join[];
  /** By link: the items it runs through, from above. */
  readonly trails: ReadonlyMap<Link, readonly Item[]>;
}

const passWidth = 6;
const labelPad = 7;
const startSize = 12;

/** Row 0 is the header; boxes stand in even rows, labels and starts in odd ones; the last row is the lower border. */
const rowOf = (rank: number) => 2 * rank + 2;

export function fillRows(
  level: Level,
  sizes: ReadonlyMap<number, Size>,
  initial: number,
  header: Size,
  jointOf: JointOf,
): Rows {
  const deepest = Math.max(0, ...level.ranks.values());
  const bottom = rowOf(deepest) + 2;
  const rows: Item[][] = Array.from({ length: bottom + 1 }, () => []);
  const add = (item: Item): Item => {
    rows[item.row]?.push(item);
    return item;
  };
  const none = { state: -1, link: null };
  add({ ...none, kind: 'title', row: 0, ...header });
  const boxes = new Map<number, Item>();
  for (const child of level.children) {
    const size = sizes.get(child) ?? { width: 0, height: 0, joint: 0 };
    boxes.set(child, add({ ...none, kind: 'box', state: child, row: rowOf(level.ranks.get(child) ?? 0), ...size }));
  }
  const joins: Join[] = [];
  const first = boxes.get(initial);
  if (first !== undefined) {
    const size = { width: startSize, height: startSize, joint: startSize / 2 };
    joins.push({ upper: add({ ...none, kind: 'start', row: first.row - 1, ...size }), lower: first, link: null });
  }
  const trails = new Map<Link, readonly Item[]>();
  for (const link of level.links) {
    const port = (row: number): Item =>
      add({ ...none, kind: 'port', link, row, width: passWidth, height: 0, joint: passWidth / 2 });
    const endOf = (end: End) => (typeof end === 'number' ? boxes.get(end) : port(end === 'top' ? 0 : bottom));
    const upper = endOf(link.upper);
    const lower = endOf(link.lower);
    if (upper === undefined || lower === undefined) continue;
    // A label stands near where its arrow begins.
    const labelRow = link.upwards ? lower.row - 1 : upper.row + 1;
    const trail = [upper];
    for (let row = upper.row + 1; row < lower.row; row++) trail.push(add(passing(link, row, row === labelRow)));
    trail.push(lower);
    trails.set(link, trail);
    for (const [at, item] of trail.entries()) {
      const before = trail[at - 1];
      if (before !== undefined) joins.push({ upper: before, lower: item, link });
    }
  }
  sortRows(rows, joins, jointOf);
  return { rows, joins, trails };
}

function passing(link: Link, row: number, isLabel: boolean): Item {
  const base = { state: -1, link, row };
  if (!isLabel || link.lines.length === 0)
    return { ...base, kind: 'pass', width: passWidth, height: 0, joint: passWidth / 2 };
  const width = labelPad + Math.max(...link.lines.map((line) => textWidth(line, labelSize))) + labelPad;
  // The arrow runs down the left side of its label.
  return { ...base, kind: 'label', width, height: link.lines.length * lineHeight, joint: labelPad / 2 };
}
