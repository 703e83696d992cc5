/** The shapes of a drawing with their positions in pixels, without colours. */

export type Stroke =
  | readonly ['M' | 'L', number, number]
  | readonly ['C', number, number, number, number, number, number];

export type Shape =
  | {
      readonly kind: 'box';
      readonly state: number;
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
    }
  | { readonly kind: 'line'; readonly strokes: readonly Stroke[]; readonly title: string }
  /** A triangle with its tip at this point. */
  | { readonly kind: 'head'; readonly x: number; readonly y: number; readonly towards: 'up' | 'down' | 'left' }
  /** The first line's baseline begins at this point. */
  | {
      readonly kind: 'label';
      readonly x: number;
      readonly y: number;
      readonly lines: readonly string[];
      readonly title: string;
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
