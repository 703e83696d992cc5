/** Which edges can never be taken, because others on the same event always come first or their guard never says yes? Always proven. */
import type { Finding } from './analysis.ts';
import { stateAt, type Chart, type ChartEdge } from './chart.ts';
import { questionOf } from './choice.ts';
import { canBeSo } from './guard-formula.ts';
import { eventText } from '../draw/edge-text.ts';

export function findDeadEdges(chart: Chart): readonly Finding[] {
  return chart.on.flatMap((choices, source) =>
    [...choices.values()].flatMap(({ dead, takes }) =>
      dead.map((edge): Finding => {
        const { drawn } = edge;
        const from = stateAt(chart, source).id;
        const to = drawn.to === null ? 'stays' : `leads to ${drawn.to.join(', ')}`;
        const guard = drawn.guard === null ? '' : ` [${drawn.guard}]`;
        const message = `${eventText(drawn)}${guard} in ${from === '' ? 'the whole workflow' : from}, which ${to}, can never be taken: ${reasonOf(edge, takes)} or remove it.`;
        return { code: 'dead_edge', severity: 'error', where: from, message, counterexample: [], proven: true };
      }),
    ),
  );
}

function reasonOf(edge: ChartEdge, takes: readonly ChartEdge[]): string {
  if (edge.drawn.guard !== null && !canBeSo([questionOf(edge)], [])) return 'its guard never says yes; give it another';
  const before = takes.filter(({ index }) => index < edge.index);
  const first = before.some(({ drawn }) => drawn.guard === null)
    ? 'one before it has no guard'
    : `the guards before it leave nothing for it (${before.map(({ drawn }) => drawn.guard ?? '').join('; ')})`;
  return `${first}; put it earlier`;
}
