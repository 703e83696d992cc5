/** The shapes of a drawing with their positions in pixels, without colours. */

export type Stroke =
  | readonly ['M' | 'L', number, number]
  | readonly ['C', number, number, number, number, number, number];

/** Which arrow a shape is part of, by the numbers of the states at its ends; null for the one from the start. */
export interface ArrowEnds {
  readonly source: number;
  readonly target: number;
}

export type Shape =
  | {
      readonly kind: 'box';
      readonly state: number;
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
    }
  | {
      readonly kind: 'line';
      readonly strokes: readonly Stroke[];
      readonly title: string;
      readonly of: ArrowEnds | null;
    }
  /** A triangle with its tip at this point. */
  | {
      readonly kind: 'head';
      readonly x: number;
      readonly y: number;
      readonly towards: 'up' | 'down' | 'left';
      readonly of: ArrowEnds | null;
    }
  /** The first line's baseline begins at this point. */
  | {
      readonly kind: 'label';
      readonly x: number;
      readonly y: number;
      readonly lines: readonly string[];
      readonly title: string;
      readonly of: ArrowEnds;
    }
  | { readonly kind: 'start'; readonly x: number; readonly y: number };

export function moved(shape: Shape, dx: number, dy: number): Shape {
  if (shape.kind !== 'line') return { ...shape, x: shape.x + dx, y: shape.y + dy };
  const strokes = shape.strokes.map((stroke): Stroke => {
    if (stroke[0] !== 'C') return [stroke[0], stroke[1] + dx, stroke[2] + dy];
    const [, ax, ay, bx, by, x, y] = stroke;
    return ['C', ax + dx, ay + dy, bx + dx, by + dy, x + dx, y + dy];
  });
  return { ...shape, strokes };
}

/** The strokes as the `d` of an SVG path. */
export function pathOf(strokes: readonly Stroke[]): string {
  return strokes.map(([letter, ...places]) => `${letter}${places.map(written).join(' ')}`).join('');
}

/** The head of an arrow as the `d` of an SVG path. */
export function headPath({ x, y, towards }: Extract<Shape, { kind: 'head' }>): string {
  const at = (dx: number, dy: number) => `${written(x + dx)} ${written(y + dy)}`;
  if (towards === 'left') return `M${at(0, 0)}L${at(9, -4)}L${at(9, 4)}Z`;
  const back = towards === 'down' ? -9 : 9;
  return `M${at(0, 0)}L${at(-4, back)}L${at(4, back)}Z`;
}

/** With at most one decimal. */
export const rounded = (value: number): number => Math.round(value * 10) / 10;
const written = (value: number): string => String(rounded(value));
