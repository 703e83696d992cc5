/**
 * Proves facts about a workflow before it runs. Searches the reachable configurations for every answer of the guards,
 * within limits, and reports what it could not decide. Reads the graph alone: no context, no inputs, no author code.
 */
import type { WorkflowGraph } from '../graph.ts';
import type { Analysis, Finding } from './analysis.ts';
import { readChart, type Chart, stateAt, type ChartEdge } from './chart.ts';
import { questionOf } from './choice.ts';
import { findDeadEnds } from './find-dead-ends.ts';
import { findLivelocks, findRaising, findRestless } from './find-livelocks.ts';
import { findUnreachable } from './find-unreachable.ts';
import { canBeSo } from './guard-formula.ts';
import { shortestPaths, type Paths } from './paths.ts';
import { search, type Place, type SearchLimits, type Search } from './search.ts';
import { eventText } from '../draw/edge-text.ts';

export interface AnalysisOptions extends Partial<SearchLimits> {
  /** How many findings of one code are listed; the others are counted. */
  readonly maxFindings?: number;
}

export const analysisLimits = { maxConfigurations: 10_000, maxEdges: 200_000, maxFindings: 50 } as const;

const severities = ['error', 'warning', 'info'] as const;
/** How many guards a sentence names. */
const maxNamed = 8;

export function analyseWorkflow(graph: WorkflowGraph, options: AnalysisOptions = {}): Analysis {
  const limits = { ...analysisLimits, ...options };
  const chart = readChart(graph);
  const found = search(chart, limits);
  const possible = shortestPaths(chart, found.places, () => true);
  const certain = shortestPaths(chart, found.places, (step) => step.certain);
  const unreachable = findUnreachable(chart, found);
  const all = [
    ...unreachable.findings,
    ...findDeadEdges(chart),
    ...findLostStates(found, possible, certain),
    ...findDeadEnds(chart, found, possible, certain),
    ...findLivelocks(chart, found, possible, certain),
    ...findRestless(chart, found, possible, certain),
    ...findRaising(chart, found, possible),
  ];
  const codes = [...new Set(all.map(({ code }) => code))];
  const byCode = new Map(codes.map((code) => [code, all.filter((finding) => finding.code === code)]));
  const listed = [...byCode.values()].flatMap((some) => some.slice(0, limits.maxFindings));
  const findings = severities.flatMap((severity) => listed.filter((finding) => finding.severity === severity));
  return {
    findings,
    undecided: [
      ...chart.problems,
      ...found.stopped,
      ...(found.stopped.length === 0
        ? []
        : ['what lies behind those limits was not looked at: check it by hand, or split the workflow.']),
      ...(found.lost.length > 0 ? ['what follows after states were lost was not looked at.'] : []),
      ...(found.raced ? ['where edges of two regions exclude each other, either was taken to win.'] : []),
      ...(found.places.some(hasSeveralTimers) ? ['where several timers run at once, any was taken to be first.'] : []),
      ...unreachable.undecided,
      ...openQuestions(chart, findings),
      ...[...byCode].flatMap(([code, some]) =>
        some.length > limits.maxFindings ? [`${some.length - limits.maxFindings} more of ${code} are not listed.`] : [],
      ),
    ],
    searched: { configurations: found.places.length, edges: found.edges, complete: found.complete },
  };
}

function hasSeveralTimers({ steps }: Place): boolean {
  return new Set(steps.flatMap(({ kind, event }) => (kind === 'after' ? [event] : []))).size > 1;
}

function openQuestions(chart: Chart, findings: readonly Finding[]): readonly string[] {
  const isFree = (question: string) => canBeSo([question], []) && canBeSo([], [question]);
  const asking = chart.edges.filter((edge) => edge.drawn.guard !== null && isFree(questionOf(edge)));
  const guards = [...new Set(asking.map(({ drawn }) => drawn.guard))];
  const named = guards.slice(0, maxNamed).map((guard) => `'${guard}'`);
  const more = guards.length > maxNamed ? ` and ${guards.length - maxNamed} more` : '';
  const raised = chart.graph.raises ?? [];
  const open = findings.filter(({ proven }) => !proven);
  return [
    ...(guards.length === 0
      ? []
      : [`guards were taken to be free to say yes or no, with any context: ${named.join(', ')}${more}.`]),
    ...(raised.length === 0 ? [] : [`events that the machine raises may come at any time: ${raised.join(', ')}.`]),
    ...open.map(({ code, where }) => `${code} at '${where}' depends on guards, timers or raised events.`),
  ];
}

function findDeadEdges(chart: Chart): readonly Finding[] {
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

function findLostStates({ lost }: Search, possible: Paths, certain: Paths): readonly Finding[] {
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
