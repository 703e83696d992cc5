/** Draws a workflow as a Graphviz graph. Composites are clusters, and arrows at a composite end at its border. */
import { isInside, stateAt, type ChartEdge } from '../analyse/chart.ts';
import type { WorkflowGraph } from '../graph.ts';
import { isComposite, planDrawing, type DrawPlan } from './draw-plan.ts';
import { edgeText, oneLine } from './edge-text.ts';

export function toDot(graph: WorkflowGraph, active: readonly string[] = []): string {
  const plan = planDrawing(graph, active);
  return [
    'digraph workflow {',
    '  compound=true; rankdir=TB; fontname="Helvetica"; labeljust=l;',
    '  node [shape=box, style="rounded,filled", fillcolor="white", fontname="Helvetica"];',
    '  edge [fontname="Helvetica", fontsize=11];',
    ...stateLines(plan, 0).map((line) => `  ${line}`),
    ...plan.arrows.flatMap((edge) => edgeLines(plan, edge)).map((line) => `  ${line}`),
    '}',
    '',
  ].join('\n');
}

const idOf = (index: number) => `s${index}`;
const clusterOf = (index: number) => `cluster_s${index}`;
/** A cluster is no node: what leads to or from one is tied to this point inside it. */
const anchorOf = (index: number) => `s${index}_at`;

function stateLines(plan: DrawPlan, index: number): readonly string[] {
  const state = stateAt(plan.chart, index);
  const lit = plan.active.has(index) ? ', color="#b45309", penwidth=2.5' : '';
  if (!isComposite(state) && index > 0) {
    const shape = { final: ', peripheries=2', history: ', shape=circle', atomic: '' }[
      state.type as 'final' | 'history' | 'atomic'
    ];
    const label = state.type === 'history' ? quoted(state.deep ? 'H*' : 'H') : labelOf(plan, index);
    return [`${idOf(index)} [label=${label}${shape}${lit}];`];
  }
  const region = state.parent >= 0 && stateAt(plan.chart, state.parent).type === 'parallel';
  const begins =
    state.initial < 0 ? [] : [`${idOf(index)}_start [shape=circle, label="", width=0.15, fillcolor="black"];`];
  return [
    `subgraph ${clusterOf(index)} {`,
    `  label=${labelOf(plan, index)}; style="rounded${region ? ',dashed' : ''}"${lit.replace(', color', '; color').replace(',', ';')};`,
    `  ${anchorOf(index)} [shape=point, style=invis, width=0];`,
    ...begins.map((line) => `  ${line}`),
    ...state.children.flatMap((child) => stateLines(plan, child)).map((line) => `  ${line}`),
    '}',
    ...(state.initial < 0 ? [] : [arrow(plan, `${idOf(index)}_start`, null, state.initial, '')]),
  ];
}

function edgeLines(plan: DrawPlan, { source, targets, drawn }: ChartEdge): readonly string[] {
  const from = isComposite(stateAt(plan.chart, source)) || source === 0 ? anchorOf(source) : idOf(source);
  return targets.map((target) => arrow(plan, from, source, target, edgeText(drawn)));
}

function arrow(plan: DrawPlan, from: string, source: number | null, target: number, text: string): string {
  const { chart } = plan;
  const isCluster = (index: number) => index === 0 || isComposite(stateAt(chart, index));
  const apart = (cluster: number, other: number | null) =>
    other === null || (other !== cluster && !isInside(chart, other, cluster));
  // Graphviz cannot cut an arrow at the border of a cluster that holds both of its ends.
  const tail = source !== null && isCluster(source) && apart(source, target) ? `ltail=${clusterOf(source)}` : '';
  const head = isCluster(target) && apart(target, source) ? `lhead=${clusterOf(target)}` : '';
  const label = text === '' ? '' : `label=${quoted(text)}`;
  const attributes = [label, tail, head].filter((part) => part !== '').join(', ');
  return `${from} -> ${isCluster(target) ? anchorOf(target) : idOf(target)}${attributes === '' ? '' : ` [${attributes}]`};`;
}

/** The name, and below it what the state does without leaving. */
function labelOf(plan: DrawPlan, index: number): string {
  const stays = plan.staying.filter(({ source }) => source === index).map(({ drawn }) => `↻ ${edgeText(drawn)}`);
  return `"${[plan.nameOf(index), ...stays].map((line) => bare(line)).join('\\n')}"`;
}

function bare(text: string): string {
  return oneLine(text).replace(/[\\"]/g, (sign) => `\\${sign}`);
}

function quoted(text: string): string {
  return `"${bare(text)}"`;
}
