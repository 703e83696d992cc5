/**
 * Finds edges that can never be taken and states that can never be entered or finished. Reports only what a complete
 * search or the structure proves.
 */
import type { Finding } from './analysis.ts';
import { stateAt, type Chart } from './chart.ts';
import type { Search } from './search.ts';

export interface Unreachable {
  readonly findings: readonly Finding[];
  readonly undecided: readonly string[];
}

export function findUnreachable(chart: Chart, { places, complete }: Search): Unreachable {
  const met = new Set(places.flatMap(({ configuration }) => configuration));
  const taken = new Set(places.flatMap(({ steps }) => steps.flatMap(({ edges }) => edges.map(({ index }) => index))));
  // The coarse answer is a proof too, and the only one left when the search had to stop.
  const possible = complete ? met : mayBeActive(chart);
  const states = chart.states.filter(({ index, type }) => index > 0 && type !== 'history');

  const isHopeless = (action: string) =>
    chart.edges.every(
      ({ index, source, drawn }) =>
        (drawn.kind !== 'action' && drawn.kind !== 'outcome') ||
        drawn.action !== action ||
        (complete ? !taken.has(index) : !possible.has(source) || isDead(chart, source, index)),
    );
  const hopeless = [...chart.actions, ...chart.outcomes].filter(isHopeless);
  const never = states.filter(({ index }) => !possible.has(index));
  // Of a state that is never entered, what is inside goes without saying.
  const outermost = never.filter(({ parent }) => possible.has(parent));

  const notMet = complete ? [] : states.filter(({ index }) => possible.has(index) && !met.has(index));
  return {
    findings: [
      ...hopeless.map((action) => finding('unreachable_action', action, `action ${action} can never be taken`)),
      ...outermost.map(({ index, id, type, last }) => {
        const inside = last - index;
        const more = inside === 0 ? '' : `, nor what is in it (${inside} ${inside === 1 ? 'state' : 'states'})`;
        return type === 'final'
          ? finding('unreachable_final', id, `the workflow can never end in ${id}`)
          : finding('unreachable_state', id, `state ${id} can never be entered${more}`);
      }),
    ],
    undecided:
      notMet.length === 0
        ? []
        : [`${notMet.length} states were not met before the search stopped, such as ${notMet[0]?.id ?? ''}.`],
  };
}

function isDead(chart: Chart, source: number, edge: number): boolean {
  return [...(chart.on[stateAt(chart, source).index]?.values() ?? [])].some(({ dead }) =>
    dead.some(({ index }) => index === edge),
  );
}

function finding(code: Finding['code'], where: string, claim: string): Finding {
  const message = `${claim}: no path leads there; add an edge to it or remove it.`;
  return { code, severity: 'error', where, message, counterexample: [], proven: true };
}

function mayBeActive(chart: Chart): ReadonlySet<number> {
  const found = new Set<number>();
  const waiting: number[] = [0];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    // A parent or a first child that is not there has no number.
    if (index < 0 || found.has(index)) continue;
    found.add(index);
    const { type, parent, initial, children, fallback } = stateAt(chart, index);
    // A history state stands for what was active before, which is found already, or for where it leads at first.
    if (type === 'history') waiting.push(...fallback, stateAt(chart, parent).initial);
    waiting.push(parent, initial);
    if (type === 'parallel') waiting.push(...children.filter((child) => stateAt(chart, child).type !== 'history'));
    const choices = [
      ...(chart.on[index]?.values() ?? []),
      ...(chart.always[index] === null ? [] : [chart.always[index]]),
    ];
    waiting.push(...choices.flatMap((choice) => choice?.takes ?? []).flatMap(({ targets }) => targets));
  }
  return found;
}
