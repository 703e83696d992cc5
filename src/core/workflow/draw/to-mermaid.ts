/**
 * Draws a workflow as a Mermaid state diagram. Ids are generated and labels are escaped, so that no name can inject
 * syntax. An edge between a state and its own child goes through a small extra state, because Mermaid cannot draw it
 * directly.
 */
import { isInside, stateAt, type ChartEdge } from '../analyse/chart.ts';
import type { WorkflowGraph } from '../graph.ts';
import { isComposite, planDrawing, type DrawPlan } from './draw-plan.ts';
import { edgeText, oneLine } from './edge-text.ts';

export function toMermaid(graph: WorkflowGraph, active: readonly string[] = []): string {
  const plan = planDrawing(graph, active);
  const lit = plan.states.filter((state) => plan.active.has(state.index) && !isComposite(state));
  // Mermaid parts regions within a state only, never at the top.
  const whole = graph.type === 'parallel' ? stateOf(plan, 0) : insideOf(plan, 0);
  return [
    'stateDiagram-v2',
    ...whole.map((line) => `  ${line}`),
    ...(lit.length === 0 ? [] : ['  classDef active stroke-width:4px,font-weight:bold']),
    ...lit.map(({ index }) => `  class ${idOf(index)} active`),
    '',
  ].join('\n');
}

const idOf = (index: number) => `s${index}`;
const anyOf = (index: number) => `s${index}_any`;
const againOf = (index: number) => `s${index}_again`;

/** The lines between the braces of a state. */
function insideOf(plan: DrawPlan, index: number): readonly string[] {
  const { type, initial, children } = stateAt(plan.chart, index);
  const declared = children.map((child) => stateOf(plan, child));
  const parts =
    type === 'parallel' ? declared.flatMap((lines, at) => (at === 0 ? lines : ['--', ...lines])) : declared.flat();
  const finals = type === 'parallel' ? [] : children.filter((child) => stateAt(plan.chart, child).type === 'final');
  const edges = [...plan.arrows, ...plan.staying].filter((edge) => homeOf(plan, edge) === index);
  const named = edges.flatMap((edge) => edgeLines(plan, edge, index));
  return [
    ...(initial < 0 ? [] : [`[*] --> ${idOf(initial)}`]),
    ...parts,
    ...(edges.some((edge) => fromInside(plan, edge, index)) ? [`state "in any state" as ${anyOf(index)}`] : []),
    ...(edges.some(({ source, targets }) => source !== index && targets.includes(index))
      ? [`state "to ${escaped(plan.nameOf(index))}" as ${againOf(index)}`]
      : []),
    ...named,
    ...finals.map((child) => `${idOf(child)} --> [*]`),
  ];
}

function stateOf(plan: DrawPlan, index: number): readonly string[] {
  const state = stateAt(plan.chart, index);
  const label = state.type === 'history' ? (state.deep ? 'H*' : 'H') : plan.nameOf(index);
  const line = `state "${escaped(label)}" as ${idOf(index)}`;
  if (!isComposite(state)) return [line];
  return [`${line} {`, ...insideOf(plan, index).map((inner) => `  ${inner}`), '}'];
}

/** Of a composite: the edge stays in it, so it is drawn inside. */
function fromInside({ chart }: DrawPlan, { source, targets }: ChartEdge, index: number): boolean {
  if (source !== index || !isComposite(stateAt(chart, index))) return false;
  return targets.every((target) => target === source || isInside(chart, target, source));
}

/** The smallest composite that holds all of the edge. */
function homeOf({ chart }: DrawPlan, { source, targets }: ChartEdge): number {
  const holds = (index: number) =>
    [source, ...targets].every((state) => state === index || isInside(chart, state, index)) &&
    isComposite(stateAt(chart, index));
  let home = source;
  while (home > 0 && !holds(home)) home = stateAt(chart, home).parent;
  return home;
}

function edgeLines(plan: DrawPlan, edge: ChartEdge, home: number): readonly string[] {
  const { source, targets, drawn } = edge;
  const from = fromInside(plan, edge, home) ? anyOf(home) : idOf(source);
  const stays = targets.length === 0 ? ' (stays)' : '';
  const label = escaped(`${edgeText(drawn)}${stays}`);
  const ends = targets.length === 0 ? [source] : targets;
  return ends.map((target) => {
    const to = target === home ? (source === home ? anyOf(home) : againOf(home)) : idOf(target);
    return `${from} --> ${to}${label === '' ? '' : ` : ${label}`}`;
  });
}

/**
 * Letters, digits and harmless signs stay; everything else is written as a Mermaid entity. A statement about directions
 * is recognised anywhere in a line, so its first letter is hidden too.
 */
function escaped(text: string): string {
  return oneLine(text)
    .replace(/[^\p{L}\p{M}\p{N} _.,()[\]/+=?!*-]/gu, (sign) => `#${sign.codePointAt(0) ?? 0};`)
    .replace(/direction/gi, (word) => `#${word.charCodeAt(0)};${word.slice(1)}`);
}
