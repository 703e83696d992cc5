/**
 * Finds unfinished states with no way on, and states where every way on is guarded and all guards could refuse. The
 * second is a warning that names the guards.
 */
import type { Finding } from './analysis.ts';
import type { Chart, ChartEdge } from './chart.ts';
import { questionOf } from './choice.ts';
import { canBeSo } from './guard-formula.ts';
import type { Paths } from './paths.ts';
import type { Place, Search } from './search.ts';
import { leavesOf } from './microstep.ts';

export function findDeadEnds(chart: Chart, { places }: Search, possible: Paths, certain: Paths): readonly Finding[] {
  const found = new Map<string, Finding>();
  const resting = places.filter(({ whole, done, rests }) => whole && !done && rests !== 'never');
  // The shortest way to each comes first; a proof comes before a possibility.
  const isProof = (place: Place) => place.rests === 'always' && certain.reaches(place.index);
  const rank = (place: Place) => (isProof(place) ? 0 : 1e9) + possible.length(place.index);
  for (const place of resting.toSorted((a, b) => rank(a) - rank(b))) {
    const ways = place.steps.filter(({ wayOn, kind }) => wayOn && kind !== 'inner');
    if (ways.length > 0 && place.escapes) continue;
    const guarded = new Set(ways.flatMap(({ edges }) => edges.filter(({ drawn }) => drawn.guard !== null)));
    const where = leavesOf(chart, place.configuration).join(', ');
    // Many configurations may wait for the same guards: they are one question.
    const key = ways.length === 0 ? `end ${where}` : `question ${[...guarded].map(({ index }) => index).join()}`;
    if (found.has(key)) continue;
    found.set(
      key,
      ways.length === 0
        ? deadEnd(chart, place, where, isProof(place), isProof(place) ? certain : possible)
        : question(chart, place, where, [...guarded], possible),
    );
  }
  return [...found.values()];
}

function deadEnd(chart: Chart, place: Place, where: string, proven: boolean, paths: Paths): Finding {
  const own = place.configuration.flatMap((state) => chart.always[state]?.takes ?? []);
  const unless = place.rests === 'always' || own.length === 0 ? '' : ` unless ${guardsText(own)} leads on`;
  const state = where === '' ? 'the workflow' : where;
  return {
    code: 'dead_end',
    severity: proven ? 'error' : 'warning',
    where,
    message: `nothing leads on from ${state}, and it is no end${unless}; add an action, or make it final.`,
    counterexample: paths.to(place.index),
    proven,
  };
}

function question(chart: Chart, place: Place, where: string, guarded: readonly ChartEdge[], paths: Paths): Finding {
  const guards = [...new Set(guarded.map(({ drawn }) => drawn.guard ?? ''))];
  // The guards of one event are compared where edges are chosen; these belong to different events.
  const contradict = guards.length > 0 && !canBeSo([], guarded.map(questionOf));
  const own = place.configuration.flatMap((state) => chart.always[state]?.takes ?? []);
  const and = own.length === 0 ? '' : `, and ${guardsText(own)} does not lead on`;
  const refusal = guards.length === 1 ? 'says no' : 'all say no';
  const condition = guards.length === 0 ? 'nothing is raised' : `${guardsText(guarded)} ${refusal}`;
  return {
    code: 'possible_dead_end',
    severity: contradict ? 'info' : 'warning',
    where,
    message: contradict
      ? `${where} has no way on if a guard looks at inputs: ${guardsText(guarded)} exclude each other otherwise.`
      : `${where} has no way on if ${condition}${and}; add an edge without a guard, or make sure that one of them holds.`,
    counterexample: paths.to(place.index),
    proven: false,
  };
}

function guardsText(edges: readonly ChartEdge[]): string {
  const guards = new Set(edges.map(({ drawn }) => drawn.guard ?? 'an edge without a guard'));
  return [...guards].map((guard) => `'${guard}'`).join(', ');
}
