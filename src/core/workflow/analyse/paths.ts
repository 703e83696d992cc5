/**
 * Finds the path to a place with the fewest actions; automatic moves cost nothing. Runs over all steps, and over the
 * certain steps alone, which make a finding a proof.
 */
import type { Chart } from './chart.ts';
import type { Place, Step } from './search.ts';
import { durationText } from '../draw/edge-text.ts';

export interface Paths {
  /** The place can be reached this way at all. */
  reaches(place: number): boolean;
  /** What is done from outside on the way, in order; empty for the beginning. */
  to(place: number): readonly string[];
  /** The number of actions on the way. */
  length(place: number): number;
}

export function shortestPaths(chart: Chart, places: readonly Place[], counts: (step: Step) => boolean): Paths {
  const by = new Map<number, Step | null>([[0, null]]);
  const lengths = new Map<number, number>([[0, 0]]);
  const settled = new Set<number>();
  let current: number[] = [0];
  while (current.length > 0) {
    const next: number[] = [];
    // The list grows while it is walked: a step that costs nothing stays in the same round.
    for (const index of current) {
      if (settled.has(index)) continue;
      settled.add(index);
      const length = lengths.get(index) ?? 0;
      for (const step of places[index]?.steps ?? []) {
        const cost = step.kind === 'inner' ? 0 : 1;
        if (!counts(step) || (lengths.get(step.to) ?? Infinity) <= length + cost) continue;
        lengths.set(step.to, length + cost);
        by.set(step.to, step);
        (cost === 0 ? current : next).push(step.to);
      }
    }
    current = next;
  }
  return {
    reaches: (place) => by.has(place),
    length: (place) => lengths.get(place) ?? Infinity,
    to(place) {
      const path: string[] = [];
      for (let step = by.get(place); step !== null && step !== undefined; step = by.get(step.from)) {
        if (step.kind !== 'inner') path.push(nameOf(chart, step));
      }
      return path.reverse();
    },
  };
}

function nameOf(chart: Chart, { edges }: Step): string {
  const drawn = edges[0]?.drawn;
  if (drawn?.kind === 'action' || drawn?.kind === 'outcome') return drawn.action ?? '';
  return `after ${durationText(drawn?.delay ?? 0)} in ${drawn?.from === '' ? chart.graph.name : (drawn?.from ?? '')}`;
}
