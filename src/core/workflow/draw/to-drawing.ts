/**
 * Writes the drawing of a workflow as plain JSON: every state with its place, every arrow with its path. For pages that
 * draw it themselves, with the same layout as `recourse render`.
 */
import { stateAt } from '../analyse/chart.ts';
import type { WorkflowGraph } from '../graph.ts';
import { type DrawPlan, planDrawing } from './draw-plan.ts';
import { captionOf, isFrame, layOut } from './layout/lay-out.ts';
import { type ArrowEnds, headPath, pathOf, rounded, type Shape } from './layout/shapes.ts';

export interface DrawnState {
  /** '' is the workflow itself. */
  readonly id: string;
  readonly title: string;
  /** What it does without being left, and where arrows lead that are not drawn. */
  readonly lines: readonly string[];
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** How many states are around it. */
  readonly depth: number;
  /** It is drawn around others. */
  readonly frame: boolean;
  readonly description: string | null;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** All edges between the same two states, as one arrow. */
export interface DrawnArrow {
  readonly from: string;
  readonly to: string;
  /** Each edge in full, a line each. */
  readonly title: string;
  /** The `d` of SVG paths: one for each border that it crosses, and the last. */
  readonly paths: readonly string[];
  readonly heads: readonly string[];
  /** The baseline of the first line begins at this place. */
  readonly labels: readonly { readonly x: number; readonly y: number; readonly lines: readonly string[] }[];
}

export interface WorkflowDrawing {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** What is around comes before what is inside. */
  readonly states: readonly DrawnState[];
  readonly arrows: readonly DrawnArrow[];
  /** Where composites begin. */
  readonly starts: {
    readonly dots: readonly { readonly x: number; readonly y: number }[];
    readonly paths: readonly string[];
    readonly heads: readonly string[];
  };
}

export function toDrawing(graph: WorkflowGraph): WorkflowDrawing {
  const plan = planDrawing(graph);
  const { width, height, shapes, told } = layOut(plan);
  const boxes = shapes.filter((shape): shape is Box => shape.kind === 'box');
  return {
    name: plan.nameOf(0),
    width: rounded(width),
    height: rounded(height),
    states: boxes.map((box) => drawState(plan, told, box)),
    arrows: drawArrows(plan, shapes),
    starts: {
      dots: shapes.flatMap((shape) => (shape.kind === 'start' ? [{ x: rounded(shape.x), y: rounded(shape.y) }] : [])),
      paths: shapes.flatMap((shape) => (shape.kind === 'line' && shape.of === null ? [pathOf(shape.strokes)] : [])),
      heads: shapes.flatMap((shape) => (shape.kind === 'head' && shape.of === null ? [headPath(shape)] : [])),
    },
  };
}

type Box = Extract<Shape, { kind: 'box' }>;

function drawState(plan: DrawPlan, told: ReadonlyMap<number, readonly string[]>, box: Box): DrawnState {
  const { state, x, y, width, height } = box;
  const { id, type } = stateAt(plan.chart, state);
  let depth = 0;
  for (let up = state; up > 0; up = stateAt(plan.chart, up).parent) depth++;
  return {
    id,
    ...captionOf(plan, told, state),
    type,
    depth,
    frame: isFrame(plan, state),
    description: plan.drawnOf(state)?.description ?? null,
    x: rounded(x),
    y: rounded(y),
    width: rounded(width),
    height: rounded(height),
  };
}

interface Growing extends DrawnArrow {
  readonly paths: string[];
  readonly heads: string[];
  readonly labels: DrawnArrow['labels'][number][];
}

function drawArrows(plan: DrawPlan, shapes: readonly Shape[]): readonly DrawnArrow[] {
  const arrows = new Map<string, Growing>();
  const arrowOf = ({ source, target }: ArrowEnds, title: string): Growing => {
    const key = `${source} ${target}`;
    const known = arrows.get(key);
    if (known !== undefined) return known;
    const [from, to] = [stateAt(plan.chart, source).id, stateAt(plan.chart, target).id];
    const arrow = { from, to, title, paths: [], heads: [], labels: [] };
    arrows.set(key, arrow);
    return arrow;
  };
  // Lines first: they bring the title that heads do not have.
  for (const shape of shapes)
    if (shape.kind === 'line' && shape.of !== null) arrowOf(shape.of, shape.title).paths.push(pathOf(shape.strokes));
  for (const shape of shapes) {
    if (shape.kind === 'head' && shape.of !== null) arrowOf(shape.of, '').heads.push(headPath(shape));
    if (shape.kind === 'label')
      arrowOf(shape.of, '').labels.push({ x: rounded(shape.x), y: rounded(shape.y), lines: shape.lines });
  }
  return [...arrows.values()];
}
