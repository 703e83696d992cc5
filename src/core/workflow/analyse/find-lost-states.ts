/** Where does an edge leave the machine in states that make no sense together? A fault of the machine, whatever follows. */
import type { Finding } from './analysis.ts';
import type { ChartEdge } from './chart.ts';
import type { Paths } from './paths.ts';
import type { Search } from './search.ts';

export function findLostStates({ lost }: Search, possible: Paths, certain: Paths): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const { from, edges, certain: sure } of lost) {
    const proven = sure && certain.reaches(from);
    const key = edges.map(({ index }) => index).join();
    if (found.get(key)?.proven === true || (found.has(key) && !proven)) continue;
    found.set(key, {
      code: 'lost_states',
      severity: proven ? 'error' : 'warning',
      where: edges.map(({ drawn }) => drawn.from).join(', '),
      message: `after ${edges.map(edgeName).join(' and ')} the machine lacks states or is in too many; lead to one state in each region, and not from inside a parallel state to its own memory.`,
      counterexample: (proven ? certain : possible).to(from),
      proven,
    });
  }
  return [...found.values()];
}

function edgeName({ drawn }: ChartEdge): string {
  return `the edge from ${drawn.from === '' ? 'the whole workflow' : drawn.from} to ${(drawn.to ?? []).join(', ')}`;
}
