/**
 * What every drawing needs: numbered states, the active ones, and which edges are arrows. An edge without a target
 * becomes a line of text in its state.
 */
import { readChart, stateAt, type Chart, type ChartEdge, type ChartState } from '../analyse/chart.ts';
import type { GraphState, WorkflowGraph } from '../graph.ts';
import { oneLine } from './edge-text.ts';

export interface DrawPlan {
  readonly chart: Chart;
  readonly states: readonly ChartState[];
  /** The given states and those around them. */
  readonly active: ReadonlySet<number>;
  readonly arrows: readonly ChartEdge[];
  readonly staying: readonly ChartEdge[];
  /** One line, never empty; the workflow's name for the root. */
  nameOf(state: number): string;
  drawnOf(state: number): GraphState | null;
}

export function planDrawing(graph: WorkflowGraph, active: readonly string[] = []): DrawPlan {
  const chart = readChart(graph);
  const byId = new Map(graph.states.map((state) => [state.id, state]));
  const given = new Set(active);
  const lit = new Set<number>();
  for (const { index, id } of chart.states) {
    if (index === 0 || !given.has(id)) continue;
    for (let up = index; up > 0; up = stateAt(chart, up).parent) lit.add(up);
  }
  const shown = chart.edges.filter(({ drawn }) => drawn.forbids !== true);
  const drawnOf = (index: number) => (index === 0 ? null : (byId.get(stateAt(chart, index).id) ?? null));
  return {
    chart,
    states: chart.states,
    active: lit,
    arrows: shown.filter(({ targets }) => targets.length > 0),
    staying: shown.filter(({ targets }) => targets.length === 0),
    nameOf: (index) => oneLine(drawnOf(index)?.name ?? graph.name) || '?',
    drawnOf,
  };
}

export function isComposite({ type }: ChartState): boolean {
  return type === 'compound' || type === 'parallel';
}
