/**
 * Bounded search of the places that a workflow can reach if every guard may hold or not. If the search is complete,
 * what it did not reach is unreachable.
 */
import type { Chart } from './chart.ts';
import { expand, isWayOn, keyOf, type Expansion, type Move, type Standing } from './expand.ts';
import { begin, isWhole } from './microstep.ts';

export interface Step extends Omit<Move, 'to'> {
  readonly from: number;
  readonly to: number;
  /** An agent can act, or time passes and changes something. */
  readonly wayOn: boolean;
}

export interface Place extends Standing {
  readonly index: number;
  readonly rests: Expansion['rests'];
  readonly escapes: boolean;
  readonly steps: readonly Step[];
  /** Everything that can happen next is among its steps. Nothing else may be concluded from what is not there. */
  readonly whole: boolean;
}

export interface SearchLimits {
  readonly maxConfigurations: number;
  readonly maxEdges: number;
}

export interface Search {
  readonly places: readonly Place[];
  readonly edges: number;
  readonly complete: boolean;
  /** Moves after which states are missing or excess; nothing behind them was looked at. */
  readonly lost: readonly Omit<Step, 'to'>[];
  /** Somewhere the order of regions decides which of two edges is taken. */
  readonly raced: boolean;
  /** Why it is not complete, in sentences. */
  readonly stopped: readonly string[];
}

/** More completions than this, one behind the other, are not followed. */
const maxPending = 64;

export function search(chart: Chart, limits: SearchLimits): Search {
  const standings: Standing[] = [];
  const numbers = new Map<string, number>();
  const stopped = new Set<string>();
  let edges = 0;
  let raced = false;

  const numberOf = (standing: Standing): number | null => {
    const key = keyOf(standing);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (!isWhole(chart, standing.configuration)) return null;
    if (standing.pending.length > maxPending) {
      stopped.add(`more than ${maxPending} completed states were waiting to be heard at once.`);
      return null;
    }
    if (standings.length >= limits.maxConfigurations) {
      stopped.add(`the search stopped at ${limits.maxConfigurations} configurations.`);
      return null;
    }
    numbers.set(key, standings.length);
    return standings.push(standing) - 1;
  };

  const { configuration, remembered, completed, done } = begin(chart);
  const first = numberOf({ configuration, remembered, pending: done ? [] : completed, calm: false, done });
  if (first === null) stopped.add('the workflow does not begin in states that can be active together.');

  const places: Place[] = [];
  const lost: Omit<Step, 'to'>[] = [];
  // The list grows while it is walked: first found, first expanded.
  for (const [from, standing] of standings.entries()) {
    if (edges >= limits.maxEdges) {
      stopped.add(`the search stopped at ${limits.maxEdges} edges.`);
      places.push({ ...standing, index: from, rests: 'never', escapes: false, steps: [], whole: false });
      continue;
    }
    const { moves, rests, escapes, cut, raced: here } = expand(chart, standing);
    raced ||= here;
    if (cut) stopped.add('an event had more outcomes than the search tries.');
    edges += moves.length;
    const steps = moves.flatMap(({ to, ...move }): Step[] => {
      const number = numberOf(to);
      const step = { ...move, from, wayOn: isWayOn(standing, { kind: move.kind, to }) };
      if (!isWhole(chart, to.configuration)) lost.push(step);
      return number === null ? [] : [{ ...step, to: number }];
    });
    places.push({ ...standing, index: from, rests, escapes, steps, whole: !cut && steps.length === moves.length });
  }
  return {
    places,
    edges,
    complete: first !== null && places.every(({ whole }) => whole),
    lost,
    raced,
    stopped: [...stopped],
  };
}
