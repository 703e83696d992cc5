/**
 * Draws a workflow as SVG: boxes in rows, composites around their children, regions side by side. No scripts and no
 * external resources; the same graph gives the same bytes. Colours follow the light or dark scheme.
 */
import { stateAt } from '../analyse/chart.ts';
import type { WorkflowGraph } from '../graph.ts';
import { unreachable } from '../../values/unreachable.ts';
import { planDrawing, type DrawPlan } from './draw-plan.ts';
import { captionOf, isFrame, layOut } from './layout/lay-out.ts';
import { headPath, pathOf, rounded, type Shape } from './layout/shapes.ts';
import { labelSize, lineHeight, titleSize } from './layout/text-size.ts';

const margin = 8;

export function toSvg(graph: WorkflowGraph, active: readonly string[] = []): string {
  const plan = planDrawing(graph, active);
  const { width, height, shapes, told } = layOut(plan);
  const page = { plan, told };
  const size = `${width + 2 * margin} ${height + 2 * margin}`;
  const [wide, tall] = size.split(' ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="recourse-workflow" role="img" aria-label="${escaped(plan.nameOf(0))}"`,
    `  width="${wide}" height="${tall}" viewBox="${-margin} ${-margin} ${size}">`,
    `<title>${escaped(plan.nameOf(0))}</title>`,
    `<style>${style}</style>`,
    `<rect class="paper" x="${-margin}" y="${-margin}" width="${wide}" height="${tall}"/>`,
    // Arrows run over frames and under nothing: no box stands where one passes.
    ...shapes.filter(({ kind }) => kind === 'box').map((shape) => paint(page, shape)),
    ...shapes.filter(({ kind }) => kind !== 'box').map((shape) => paint(page, shape)),
    '</svg>',
    '',
  ].join('\n');
}

const light = {
  paper: '#ffffff',
  frame: '#f6f8fa',
  inner: '#eef1f4',
  box: '#ffffff',
  line: '#57606a',
  ink: '#1f2328',
  quiet: '#424a53',
  lit: '#fff4d6',
  glow: '#bf6a02',
};
const dark = {
  paper: '#0d1117',
  frame: '#151b23',
  inner: '#1c232c',
  box: '#0d1117',
  line: '#9198a1',
  ink: '#f0f6fc',
  quiet: '#c4ccd4',
  lit: '#3a2a07',
  glow: '#e3a63b',
};

/** Written out for each scheme: not every reader of SVG knows variables. */
function coloured(colour: typeof light): string {
  const rules = [
    `.paper{fill:${colour.paper}}`,
    `.frame{fill:${colour.frame};stroke:${colour.line}}`,
    `.frame.odd{fill:${colour.inner}}`,
    `.box{fill:${colour.box};stroke:${colour.line}}`,
    `.ring{fill:none;stroke:${colour.line}}`,
    `.line{fill:none;stroke:${colour.line}}`,
    `.head,.start{fill:${colour.line}}`,
    `.title{fill:${colour.ink}}`,
    `.label{fill:${colour.quiet}}`,
    `.box.active{fill:${colour.lit}}`,
    `.active{stroke:${colour.glow};stroke-width:2.5}`,
  ];
  return rules.map((rule) => rule.replaceAll(/(^|,)\./g, '$1.recourse-workflow .')).join('');
}

const style = [
  '.recourse-workflow text{font-family:ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif}',
  `.recourse-workflow .title{font-size:${titleSize}px;font-weight:600}`,
  `.recourse-workflow .label{font-size:${labelSize}px}`,
  '.recourse-workflow .line,.recourse-workflow .box,.recourse-workflow .frame,.recourse-workflow .ring{stroke-width:1.3}',
  '.recourse-workflow .region{stroke-dasharray:5 4}',
  coloured(light),
  `@media (prefers-color-scheme:dark){${coloured(dark)}}`,
].join('');

interface Page {
  readonly plan: DrawPlan;
  readonly told: ReadonlyMap<number, readonly string[]>;
}

function paint(page: Page, shape: Shape): string {
  switch (shape.kind) {
    case 'box':
      return isFrame(page.plan, shape.state) ? paintFrame(page, shape) : paintState(page, shape);
    case 'line':
      return `<path class="line" d="${pathOf(shape.strokes)}">${hint(shape.title)}</path>`;
    case 'head':
      return `<path class="head" d="${headPath(shape)}"/>`;
    case 'label':
      return textLines('label', shape, 'start', shape.lines, shape.title);
    case 'start':
      return `<circle class="start" cx="${number(shape.x)}" cy="${number(shape.y)}" r="5.5"/>`;
    default:
      return unreachable(shape);
  }
}

type Box = Extract<Shape, { kind: 'box' }>;

function rectangle(name: string, { x, y, width, height }: Omit<Box, 'kind' | 'state'>, radius: number): string {
  return `<rect class="${name}" x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}" rx="${number(radius)}"/>`;
}

function paintFrame({ plan, told }: Page, box: Box): string {
  const { state, x, y } = box;
  const { parent } = stateAt(plan.chart, state);
  let depth = 0;
  for (let up = state; up > 0; up = stateAt(plan.chart, up).parent) depth++;
  const region = parent >= 0 && stateAt(plan.chart, parent).type === 'parallel' ? ' region' : '';
  const caption = captionOf(plan, told, state);
  return [
    `<g>${hint(plan.drawnOf(state)?.description ?? '')}`,
    rectangle(`frame${depth % 2 === 1 ? ' odd' : ''}${region}${lit(plan, state)}`, box, 10),
    textLines('title', { x: x + 12, y: y + 18 }, 'start', [caption.title]),
    caption.lines.length === 0 ? '' : textLines('label', { x: x + 12, y: y + 34 }, 'start', caption.lines),
    '</g>',
  ].join('');
}

function paintState({ plan, told }: Page, box: Box): string {
  const { state, x, y, width, height } = box;
  const { type, parent } = stateAt(plan.chart, state);
  const caption = captionOf(plan, told, state);
  const round = type === 'final' || type === 'history';
  const region = type !== 'history' && stateAt(plan.chart, parent).type === 'parallel' ? ' region' : '';
  const middle = x + width / 2;
  const ring = { x: x + 3, y: y + 3, width: width - 6, height: height - 6 };
  return [
    `<g>${hint(plan.drawnOf(state)?.description ?? '')}`,
    rectangle(`box${region}${lit(plan, state)}`, box, round ? Math.min(16, height / 2) : 8),
    type === 'final' ? rectangle('ring', ring, Math.min(13, ring.height / 2)) : '',
    textLines('title', { x: middle, y: y + (type === 'history' ? 18 : 21) }, 'middle', [caption.title]),
    caption.lines.length === 0 ? '' : textLines('label', { x: middle, y: y + 38 }, 'middle', caption.lines),
    '</g>',
  ].join('');
}

function lit(plan: DrawPlan, state: number): string {
  return plan.active.has(state) ? ' active' : '';
}

function textLines(
  name: string,
  { x, y }: { readonly x: number; readonly y: number },
  anchor: 'start' | 'middle',
  lines: readonly string[],
  title = '',
): string {
  const spans = lines.map(
    (line, at) => `<tspan x="${number(x)}" y="${number(y + at * lineHeight)}">${escaped(line)}</tspan>`,
  );
  const side = anchor === 'middle' ? ' text-anchor="middle"' : '';
  return `<text class="${name}"${side}>${hint(title)}${spans.join('')}</text>`;
}

/** What shows when the pointer rests on it. */
function hint(text: string): string {
  return text === '' ? '' : `<title>${escaped(text)}</title>`;
}

function number(value: number): string {
  return String(rounded(value));
}

/** Safe in text and in attributes; signs that XML does not allow are left out. */
function escaped(text: string): string {
  const known: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text
    .toWellFormed()
    .replace(/[^\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (sign) => known[sign] ?? '');
}
