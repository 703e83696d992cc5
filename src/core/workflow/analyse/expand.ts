/**
 * Computes every possible next move from one place, in XState's order: `always`, then `done`, then actions and timers.
 * One move for each combination of guard answers.
 */
import { actionOfOutcome } from '../step-error.ts';
import { actionKey, doneKey, stateAt, type Chart, type EventKey } from './chart.ts';
import { exitSetOf, microstep, type Configuration, type Landing, type Remembered } from './microstep.ts';
import { nothing, selectAlways, selectOn, type Selection, type Selections } from './select-edges.ts';

export interface Standing {
  readonly configuration: Configuration;
  readonly remembered: Remembered;
  /** Completed states that the machine has not been told of yet. */
  readonly pending: readonly number[];
  /** An edge without an event changed nothing, so none is looked for again. */
  readonly calm: boolean;
  readonly done: boolean;
}

export interface Move {
  readonly to: Standing;
  /** What an agent does, how its step ends, what the clock does from outside; or what the machine does by itself. */
  readonly kind: 'action' | 'outcome' | 'after' | 'inner';
  readonly event: EventKey;
  readonly edges: Selection;
  /** No guard, no race of timers and no raised event has a say in it. */
  readonly certain: boolean;
}

export interface Expansion {
  readonly moves: readonly Move[];
  /** The machine may come to rest here; `always` when no guard and no raised event could move it on. */
  readonly rests: 'never' | 'maybe' | 'always';
  /** At rest: some event can be taken or leads on, whatever the guards say. */
  readonly escapes: boolean;
  /** Some outcomes are missing, because there were too many. */
  readonly cut: boolean;
  /** The order of regions decides about some of them. */
  readonly raced: boolean;
}

export function expand(chart: Chart, place: Standing): Expansion {
  if (place.done) return { moves: [], rests: 'always', escapes: false, cut: false, raced: false };
  const own = place.calm ? nothing : selectAlways(chart, place.configuration, place.remembered);
  const moves = own.all.flatMap((selection) => ownMoves(chart, place, selection, own));
  if (own.all.every((selection) => selection.length > 0)) return { ...own, moves, rests: 'never', escapes: false };
  const sure = isQuiet(chart) && own.all.length === 1 && !place.calm;
  const rest = place.pending.length > 0 ? hear(chart, place, sure) : act(chart, place, sure);
  return { ...rest, moves: [...moves, ...rest.moves], cut: own.cut || rest.cut, raced: own.raced || rest.raced };
}

/** Raised events come from inside and are not drawn: where there are any, nothing is certain. */
function isQuiet(chart: Chart): boolean {
  return (chart.graph.raises ?? []).length === 0;
}

function take(chart: Chart, place: Standing, edges: Selection): Landing {
  return microstep(chart, place.configuration, place.remembered, edges);
}

function standing({ configuration, remembered, completed, done }: Landing, before: readonly number[]): Standing {
  return { configuration, remembered, pending: done ? [] : [...before, ...completed], calm: false, done };
}

function ownMoves(chart: Chart, place: Standing, edges: Selection, own: Selections): readonly Move[] {
  if (edges.length === 0) return [];
  const to = standing(take(chart, place, edges), place.pending);
  const still = isSame(place, to);
  const move = { kind: 'inner', event: '', edges, certain: isQuiet(chart) && own.all.length === 1 && !still } as const;
  if (!still) return [{ ...move, to }];
  // Whoever writes to the context has the machine look again. What nothing has changed it may leave at that, or not.
  return [{ ...move, to }, ...(writes(chart, place, edges) ? [] : [{ ...move, to: { ...to, calm: true } }])];
}

function writes(chart: Chart, { configuration, remembered }: Standing, edges: Selection): boolean {
  const left = edges.flatMap((edge) => exitSetOf(chart, edge, configuration, remembered));
  return edges.some(({ drawn }) => drawn.assigns === true) || left.some((state) => stateAt(chart, state).assigns);
}

function hear(chart: Chart, place: Standing, sure: boolean): Expansion {
  const [first = -1, ...later] = place.pending;
  const event = doneKey(first);
  const told = selectOn(chart, place.configuration, place.remembered, event);
  const moves = told.all.map((edges): Move => {
    const to =
      edges.length === 0 ? { ...place, pending: later, calm: false } : standing(take(chart, place, edges), later);
    return { to, kind: 'inner', event, edges, certain: sure && told.all.length === 1 };
  });
  // What an action raised may be heard before what was completed.
  const raised = (chart.graph.raises ?? []).map((name) => {
    const heard = selectOn(chart, place.configuration, place.remembered, actionKey(name));
    const taken = heard.all.filter(isTaken).map((edges): Move => {
      const to = standing(take(chart, place, edges), place.pending);
      return { to, kind: 'inner', event: actionKey(name), edges, certain: false };
    });
    return { taken, ...heard };
  });
  const cut = told.cut || raised.some((each) => each.cut);
  const raced = told.raced || raised.some((each) => each.raced);
  return { moves: [...moves, ...raised.flatMap(({ taken }) => taken)], rests: 'never', escapes: false, cut, raced };
}

function act(chart: Chart, place: Standing, sure: boolean): Expansion {
  const { raises = [], raisedActions = [] } = chart.graph;
  const delays = place.configuration.flatMap((state) => chart.delays[state] ?? []);
  const events = [
    ...chart.actions.map((name) => ({
      kind: 'action' as const,
      event: actionKey(name),
      sure,
      // An agent can send it whenever it likes; what is only raised may never come.
      free: !raises.includes(name) || raisedActions.includes(name),
    })),
    // A step fails only where its action is legal, and nobody can make it fail.
    ...chart.outcomes.flatMap((name) => {
      const asked = selectOn(chart, place.configuration, place.remembered, actionKey(actionOfOutcome(name)));
      const event = actionKey(name);
      return asked.all.some(isTaken) ? [{ kind: 'outcome' as const, event, sure: false, free: false }] : [];
    }),
    // Of two clocks that run, the drawing does not tell which is first.
    ...delays.map((event) => ({ kind: 'after' as const, event, sure: sure && delays.length === 1, free: true })),
  ];
  const moves: Move[] = [];
  let escapes = false;
  let cut = false;
  let raced = false;
  for (const { kind, event, sure: certain, free } of events) {
    const found = selectOn(chart, place.configuration, place.remembered, event);
    const taken = found.all.filter(isTaken).map((edges): Move => {
      const to = standing(take(chart, place, edges), []);
      return { to, kind, event, edges, certain: certain && found.all.length === 1 };
    });
    moves.push(...taken);
    cut ||= found.cut;
    raced ||= found.raced;
    escapes ||= free && taken.length === found.all.length && taken.every((move) => isWayOn(place, move));
  }
  return { moves, rests: sure ? 'always' : 'maybe', escapes, cut, raced };
}

/** An agent can act; or time passes and changes something. */
export function isWayOn(place: Standing, { kind, to }: Pick<Move, 'kind' | 'to'>): boolean {
  return kind === 'action' || !isSame(place, to);
}

function isSame(place: Standing, to: Standing): boolean {
  return keyOf({ ...place, calm: false }) === keyOf({ ...to, calm: false });
}

/** An edge that only takes the event away from others is not a step. */
function isTaken(edges: Selection): boolean {
  return edges.some(({ drawn }) => drawn.forbids !== true);
}

export function keyOf({ configuration, remembered, pending, calm, done }: Standing): string {
  const past = [...remembered].sort(([a], [b]) => a - b).map(([history, states]) => `${history}:${states.join()}`);
  return `${configuration.join()};${past.join(' ')};${pending.join()};${calm ? 1 : 0}${done ? 1 : 0}`;
}
