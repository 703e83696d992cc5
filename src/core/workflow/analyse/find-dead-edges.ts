/** Which edges can never be taken because others on the same event from the same state always come first? Always proven. */
import type { Finding } from './analysis.ts';
import { stateAt, type Chart } from './chart.ts';
import { eventText } from '../draw/edge-text.ts';

export function findDeadEdges(chart: Chart): readonly Finding[] {
  return chart.on.flatMap((choices, source) =>
    [...choices.values()].flatMap(({ dead, takes }) =>
      dead.map(({ drawn }): Finding => {
        const from = stateAt(chart, source).id;
        const first = takes.some((edge) => edge.drawn.guard === null)
          ? 'one before it has no guard'
          : `the guards before it leave nothing for it (${takes.map((edge) => edge.drawn.guard ?? '').join('; ')})`;
        const to = drawn.to === null ? 'stays' : `leads to ${drawn.to.join(', ')}`;
        const guard = drawn.guard === null ? '' : ` [${drawn.guard}]`;
        const message = `${eventText(drawn)}${guard} in ${from === '' ? 'the whole workflow' : from}, which ${to}, can never be taken: ${first}; put it earlier or remove it.`;
        return { code: 'dead_edge', severity: 'error', where: from, message, counterexample: [], proven: true };
      }),
    ),
  );
}
