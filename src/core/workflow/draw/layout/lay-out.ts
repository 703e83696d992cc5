/** Lays out the drawing of a workflow, inner composites first, because outer ones need their size. */
import { stateAt } from '../../analyse/chart.ts';
import { isComposite, type DrawPlan } from '../draw-plan.ts';
import { edgeText, oneLine } from '../edge-text.ts';
import { planLevels, type Arrow, type Level, type Levels, type Item, type Size } from './levels.ts';
import { placeItems } from './place-items.ts';
import { routeLinks } from './route-links.ts';
import { fillRows } from './rows.ts';
import { moved, type Shape, type Stroke } from './shapes.ts';
import { labelSize, lineHeight, shorten, textWidth, titleSize } from './text-size.ts';

export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** What is around comes before what is inside. */
  readonly shapes: readonly Shape[];
  readonly told: Levels['told'];
}

interface Laid extends Omit<Drawing, 'told'> {
  readonly ports: ReadonlyMap<number, number>;
}

const maxTitle = 36;
const maxLine = 44;
const headerPad = 10;
const boxHeight = 32;
const loopReach = 24;

/** The name, what the state does without leaving it, and where arrows lead that are not drawn. */
export function captionOf(
  plan: DrawPlan,
  told: Levels['told'],
  state: number,
): { readonly title: string; readonly lines: readonly string[] } {
  const { type, deep } = stateAt(plan.chart, state);
  if (type === 'history') return { title: deep ? 'H*' : 'H', lines: [] };
  const stays = plan.staying.filter(({ source }) => source === state);
  return {
    title: shorten(plan.nameOf(state), maxTitle),
    lines: [
      ...stays.map(({ drawn }) => `↻ ${shorten(oneLine(edgeText(drawn)), maxLine)}`),
      ...(told.get(state) ?? []).map((line) => shorten(line, maxLine)),
    ],
  };
}

export function layOut(plan: DrawPlan): Drawing {
  const { byState: levels, told } = planLevels(plan);
  const laid = new Map<number, Laid>();
  for (const state of plan.states.toReversed()) {
    const level = levels.get(state.index);
    if (level === undefined) continue;
    if (state.type === 'parallel') stretchRegions(plan, told, state.children, levels, laid);
    laid.set(state.index, layOutLevel(plan, told, level, laid, 0));
  }
  const { width, height, shapes } = laid.get(0) ?? { width: 0, height: 0, shapes: [] };
  return { width, height, shapes, told };
}

/** Regions that stand side by side are equally high. */
function stretchRegions(
  plan: DrawPlan,
  told: Levels['told'],
  regions: readonly number[],
  levels: ReadonlyMap<number, Level>,
  laid: Map<number, Laid>,
): void {
  const tallest = Math.max(0, ...regions.map((region) => laid.get(region)?.height ?? 0));
  for (const region of regions) {
    const level = levels.get(region);
    if (level !== undefined) laid.set(region, layOutLevel(plan, told, level, laid, tallest));
  }
}

function captionSize(plan: DrawPlan, told: Levels['told'], state: number): { width: number; height: number } {
  const { title, lines } = captionOf(plan, told, state);
  const widths = [textWidth(title, titleSize), ...lines.map((line) => textWidth(line, labelSize))];
  return { width: Math.max(...widths), height: lines.length * lineHeight };
}

function sizeOf(
  plan: DrawPlan,
  told: Levels['told'],
  state: number,
  inner: Laid | undefined,
  loop: Arrow | undefined,
): Size & { box: number; tall: number } {
  const { type } = stateAt(plan.chart, state);
  const caption = captionSize(plan, told, state);
  const small = type === 'history';
  const box = inner?.width ?? (small ? 26 : Math.max(60, caption.width + 28));
  const tall = inner?.height ?? (small ? 26 : boxHeight + caption.height);
  if (loop === undefined) return { width: box, height: tall, joint: box / 2, box, tall };
  const label = Math.max(...loop.lines.map((line) => textWidth(line, labelSize)));
  const height = Math.max(tall, loop.lines.length * lineHeight);
  return { width: box + loopReach + 6 + label, height, joint: box / 2, box, tall };
}

function layOutLevel(
  plan: DrawPlan,
  told: Levels['told'],
  level: Level,
  laid: ReadonlyMap<number, Laid>,
  minHeight: number,
): Laid {
  const { initial, type } = stateAt(plan.chart, level.state);
  const caption = captionSize(plan, told, level.state);
  const header: Size = { width: caption.width + headerPad, height: 26 + caption.height, joint: 0 };
  const sizes = new Map(
    level.children.map((child) => [child, sizeOf(plan, told, child, laid.get(child), level.loops.get(child))]),
  );
  const portAt = (item: Item, arrow: number | undefined) =>
    item.kind === 'box' && arrow !== undefined ? laid.get(item.state)?.ports.get(arrow) : undefined;
  const jointOf = (item: Item, link: { readonly arrow: Arrow } | null) => portAt(item, link?.arrow.index) ?? item.joint;
  const rows = fillRows(level, sizes, initial, header, jointOf);
  const placed = placeItems(rows, jointOf, minHeight);
  const boxOf = (item: Item) => {
    const { box = 0, tall = 0 } = sizes.get(item.state) ?? {};
    const { top = 0, height = 0 } = placed.rows[item.row] ?? {};
    // Regions begin on one line; other boxes stand in the middle of their row.
    return { top: type === 'parallel' ? top : Math.round(top + (height - tall) / 2), height: tall, width: box };
  };
  const isFixed = (item: Item, link: { readonly arrow: Arrow } | null) => portAt(item, link?.arrow.index) !== undefined;
  const routed = routeLinks({ rows, placed, jointOf, boxOf, isFixed });

  const boxes = rows.rows.flat().filter(({ kind }) => kind === 'box');
  const shapes = boxes.flatMap((item): readonly Shape[] => {
    const x = placed.left.get(item) ?? 0;
    const { top: y, width, height } = boxOf(item);
    const inside = (laid.get(item.state)?.shapes ?? []).map((shape) => moved(shape, x, y));
    const frame: Shape = { kind: 'box', state: item.state, x, y, width, height };
    // A composite brings its own frame.
    return [
      ...(inside.length === 0 ? [frame] : inside),
      ...loopShapes(level.loops.get(item.state), x + width, y + height / 2),
    ];
  });
  const own: Shape = { kind: 'box', state: level.state, x: 0, y: 0, width: placed.width, height: placed.height };
  return {
    width: placed.width,
    height: placed.height,
    shapes: [own, ...routed.shapes, ...shapes],
    ports: routed.ports,
  };
}

function loopShapes(loop: Arrow | undefined, right: number, middle: number): readonly Shape[] {
  if (loop === undefined) return [];
  const reach = right + loopReach;
  const strokes: Stroke[] = [
    ['M', right, middle - 7],
    ['C', reach, middle - 12, reach, middle + 12, right + 7, middle + 7],
  ];
  const y = middle - ((loop.lines.length - 1) * lineHeight) / 2 + 4;
  return [
    { kind: 'line', strokes, title: loop.title, of: loop },
    { kind: 'head', x: right, y: middle + 7, towards: 'left', of: loop },
    { kind: 'label', x: reach - 2, y, lines: loop.lines, title: loop.title, of: loop },
  ];
}

export function isFrame(plan: DrawPlan, state: number): boolean {
  return state === 0 || isComposite(stateAt(plan.chart, state));
}
