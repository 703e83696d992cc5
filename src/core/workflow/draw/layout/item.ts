/** What stands in the rows of a composite, and what connects it. */
import type { Link } from './levels.ts';

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
