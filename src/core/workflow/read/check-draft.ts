/**
 * Checks that the machine and its actions match, and that every state can be entered. Looks at structure alone and
 * reports all problems. Runs no author code.
 */
import { nearest } from '../../values/nearest.ts';
import { outcomeEvent, type Outcomes, readOutcome } from '../step-error.ts';
import { checkTargets } from './check-targets.ts';
import { type ActionRule, type MachineDraft, placeOf, type StateDraft } from './machine-draft.ts';

/** `about` gets the state of each problem that has one, by the problem. */
export function checkDraft(
  draft: MachineDraft,
  outcomes: Outcomes,
  problems: string[],
  about: Map<string, StateDraft>,
): void {
  checkEvents(draft, outcomes, problems, about);
  checkTargets(draft, problems, about);
  const reached = reachedStates(draft.root);
  for (const state of draft.states) {
    if (!reached.has(state) && (state.parent === null || reached.has(state.parent))) {
      const problem = `${placeOf(state)}: no path from where the workflow begins leads to it; add an edge to it, or leave it out`;
      problems.push(problem);
      about.set(problem, state);
    }
  }
}

function checkEvents(
  draft: MachineDraft,
  outcomes: Outcomes,
  problems: string[],
  about: Map<string, StateDraft>,
): void {
  const actions = [...outcomes.keys()];
  const raised = raisedEvents(draft);
  const handled = new Set<string>();
  const takeable = new Set<string>();
  for (const state of draft.states) {
    for (const { event, isForbidden } of state.edges) {
      if (event === null) continue;
      if (!isForbidden) takeable.add(event);
      if (handled.has(event)) continue;
      handled.add(event);
      if (isSent(event, outcomes, raised)) continue;
      problems.push(`edge '${event}' of ${placeOf(state)}: ${notSent(event, outcomes)}`);
    }
  }
  for (const event of actions.flatMap((action) =>
    (outcomes.get(action) ?? []).map((each) => outcomeEvent(action, each)),
  )) {
    if (!outcomes.has(event)) continue;
    problems.push(`action '${event}': another action has an outcome of this name; give this one another name`);
  }
  for (const action of actions) {
    if (takeable.has(action)) continue;
    const why = handled.has(action)
      ? 'every edge of it is empty, which XState reads as forbidden; give one a target or actions'
      : 'no state has an edge for it; write on: { … } where it is legal';
    problems.push(`action '${action}': ${why}`);
  }
  for (const [type, state] of raised.types) {
    if (handled.has(type)) continue;
    const problem = `event '${type}' is raised and no state has an edge for it; write on: { … } where it matters`;
    problems.push(problem);
    about.set(problem, state);
  }
}

/** An outcome of a known action that it does not have, or else an action that nobody declared. */
function notSent(event: string, outcomes: Outcomes): string {
  const dot = event.lastIndexOf('.');
  const found = outcomes.get(event.slice(0, Math.max(0, dot)));
  if (found !== undefined) {
    const known = found.map((outcome) => `'${event.slice(0, dot)}.${outcome}'`).join(', ');
    return `its action has no outcome '${event.slice(dot + 1)}'; known are ${known}`;
  }
  const events = [...outcomes].flatMap(([action, each]) => each.map((outcome) => outcomeEvent(action, outcome)));
  const near = nearest(event, event.includes('.') ? [...outcomes.keys(), ...events] : [...outcomes.keys()]);
  const hint = near === null ? `declare it: actions: { ${event}: { … } }` : `did you mean '${near}'?`;
  return `there is no action of this name; ${hint}`;
}

interface Raised {
  /** Each with the first state that raises it. */
  readonly types: ReadonlyMap<string, StateDraft>;
  readonly anything: boolean;
}

/** Whether an action, the end of its step, the machine itself or XState can send the event. */
const isSent = (event: string, outcomes: Outcomes, raised: Raised): boolean =>
  outcomes.has(event) ||
  readOutcome(event, outcomes) !== null ||
  raised.types.has(event) ||
  raised.anything ||
  event.includes('*') ||
  event.startsWith('xstate.');

function raisedEvents({ states }: MachineDraft): Raised {
  const types = new Map<string, StateDraft>();
  let anything = false;
  const see = (state: StateDraft, actions: readonly ActionRule[]) => {
    for (const action of actions) {
      if (action.kind !== 'raise') continue;
      if (action.type === null) anything = true;
      else if (!types.has(action.type)) types.set(action.type, state);
    }
  };
  for (const state of states) {
    see(state, state.entry);
    see(state, state.exit);
    see(state, state.initial?.actions ?? []);
    for (const edge of state.edges) see(state, edge.actions);
  }
  return { types, anything };
}

/** Every state that some path enters if all guards hold. */
function reachedStates(root: StateDraft): ReadonlySet<StateDraft> {
  const reached = new Set<StateDraft>();
  const begun = new Set<StateDraft>();
  const waiting: StateDraft[] = [];
  const activate = (state: StateDraft): void => {
    if (reached.has(state)) return;
    reached.add(state);
    waiting.push(state);
    if (state.parent !== null) activate(state.parent);
  };
  /** Entered without saying where inside. */
  const begin = (state: StateDraft): void => {
    if (begun.has(state)) return;
    begun.add(state);
    activate(state);
    if (state.initial !== null) begin(state.initial.to);
    if (state.type === 'parallel') for (const region of regionsOf(state)) begin(region);
    if (state.type !== 'history') return;
    for (const target of state.historyTo ?? [state.parent ?? root]) begin(target);
  };
  const enter = (targets: readonly StateDraft[]): void => {
    for (const target of targets) begin(target);
    const named = new Set(targets.flatMap(withAncestors));
    // Whoever enters one region enters its siblings, too, wherever they begin.
    for (const state of named) {
      if (state.parent?.type !== 'parallel') continue;
      for (const sibling of regionsOf(state.parent)) if (!named.has(sibling)) begin(sibling);
    }
  };
  begin(root);
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
    for (const edge of state.edges) enter(edge.to ?? []);
  }
  return reached;
}

function withAncestors(state: StateDraft): readonly StateDraft[] {
  return state.parent === null ? [state] : [state, ...withAncestors(state.parent)];
}

function regionsOf(state: StateDraft): readonly StateDraft[] {
  return state.children.filter((child) => child.type !== 'history');
}
