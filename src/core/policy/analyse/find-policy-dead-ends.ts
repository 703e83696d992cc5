/**
 * Finds states in which policy leaves an agent without an action. Walks each workflow as far as the agent may go, and
 * looks for unfinished states where every legal action is denied. A timer counts as a way on, and is reported as the
 * only one.
 */
import { stateAt, type Chart, readChart } from '../../workflow/analyse/chart.ts';
import { leavesOf } from '../../workflow/analyse/microstep.ts';
import { shortestPaths } from '../../workflow/analyse/paths.ts';
import { type Place, search, type Search, type SearchLimits, type Step } from '../../workflow/analyse/search.ts';
import type { Json } from '../../values/json.ts';
import { callableAction } from './callable.ts';
import { mayPermit, type Permitting, type ReadAgent } from './may-permit.ts';
import type { Denied, KnownWorkflow, PolicyFinding } from './policy-analysis.ts';
import type { ProofWork } from './proof-work.ts';

export interface Explored {
  readonly name: string;
  readonly workflow: KnownWorkflow;
  readonly chart: Chart;
  readonly found: Search;
}

/** Once for all agents. */
export function explore(name: string, workflow: KnownWorkflow, limits: SearchLimits): Explored {
  const chart = readChart(workflow.graph);
  return { name, workflow, chart, found: search(chart, limits) };
}

export function findPolicyDeadEnds(agent: ReadAgent, explored: Explored, work: ProofWork): readonly PolicyFinding[] {
  const { chart, found, workflow } = explored;
  const names = [...workflow.actions.keys()];
  const permits = permitsOf(agent, explored, work);
  // A workflow that has nothing for this agent is simply not for it.
  if (!found.places.some((place) => names.some((name) => permits(place, name).may))) return [];
  const isOpen = (step: Step) => {
    const place = found.places[step.from];
    const action = actionOf(step);
    return action === null || (place !== undefined && permits(place, action).may);
  };
  const isSure = (step: Step) => {
    const place = found.places[step.from];
    const action = actionOf(step);
    return step.certain && (action === null || (place !== undefined && permits(place, action).sure));
  };
  const possible = shortestPaths(chart, found.places, isOpen);
  const certain = shortestPaths(chart, found.places, isSure);
  const findings = new Map<string, PolicyFinding>();
  const resting = found.places.filter(({ whole, done, rests, index }) => {
    return whole && !done && rests !== 'never' && possible.reaches(index);
  });
  for (const place of resting.toSorted((a, b) => possible.length(a.index) - possible.length(b.index))) {
    const legal = [...new Set(place.steps.flatMap((step) => actionOf(step) ?? []))].filter((name) =>
      workflow.actions.has(name),
    );
    if (legal.length === 0 || legal.some((name) => permits(place, name).may)) continue;
    const state = leavesOf(chart, place.configuration).join(', ');
    if (findings.has(state)) continue;
    const denied = legal.map((action): Denied => {
      const tool = workflow.actions.get(action)?.policyName ?? action;
      return { action, tool, ref: permits(place, action).ref };
    });
    const proven = place.rests === 'always' && certain.reaches(place.index);
    const waits = place.steps.some(({ kind, wayOn }) => kind === 'after' && wayOn);
    const steps = (proven ? certain : possible).to(place.index);
    findings.set(state, finding(agent.name, explored.name, state, { denied, proven, waits, steps }));
  }
  return [...findings.values()];
}

interface DeadEnd {
  readonly denied: readonly Denied[];
  readonly proven: boolean;
  readonly waits: boolean;
  readonly steps: readonly string[];
}

function finding(agent: string, workflow: string, state: string, end: DeadEnd): PolicyFinding {
  const { denied, proven, waits, steps } = end;
  const path = steps.length === 0 ? 'at once' : `by ${steps.join(' → ')}`;
  const refs = [...new Set(denied.map(({ ref }) => ref))];
  const where = state === '' ? workflow : `${state} of ${workflow}`;
  const stuck = waits ? 'can only wait' : 'can do nothing';
  return {
    kind: 'policy_dead_end',
    severity: proven && !waits ? 'error' : 'warning',
    agent,
    rule: null,
    refs,
    message: `${agent} ${stuck} in ${where}: every action that is legal there is denied${proven ? '' : ', if it gets there'}`,
    fix: `permit or defer one of ${denied.map(({ tool }) => tool).join(', ')}, or deny what leads there`,
    counterexample: {
      kind: 'path',
      says: `${path}; there ${denied.map(({ action, ref }) => `${action} is denied at ${ref}`).join(', ')}`,
      workflow,
      state,
      steps,
      denied,
    },
    mayBreak: false,
  };
}

/** Null for what happens without an agent. */
function actionOf({ kind, edges }: Step): string | null {
  return kind === 'action' ? (edges.find(({ drawn }) => drawn.kind === 'action')?.drawn.action ?? null) : null;
}

/** Asked often for few different states. */
function permitsOf(agent: ReadAgent, { name, workflow, chart }: Explored, work: ProofWork) {
  const readsState = agent.rules.some(({ condition }) => condition?.reads.has('state') === true);
  const kept = new Map<string, Permitting>();
  return (place: Place, action: string): Permitting => {
    const value = valueOf(chart, place.configuration);
    const key = `${action} ${readsState ? JSON.stringify(value) : ''}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const entry = workflow.actions.get(action);
    const answer =
      entry === undefined
        ? { may: false, sure: false, ref: agent.policy.written.ref }
        : mayPermit(agent, callableAction(entry), { workflow: name, value }, work);
    kept.set(key, answer);
    return answer;
  };
}

/** The active states as XState writes them. */
export function valueOf(chart: Chart, configuration: readonly number[]): Json {
  const active = new Set(configuration);
  const names = new Map(chart.graph.states.map(({ id, name }) => [id, name]));
  const inside = (index: number): Json => {
    const state = stateAt(chart, index);
    const children = state.children.filter((child) => active.has(child));
    const [only] = children;
    const named = (child: number) => names.get(stateAt(chart, child).id) ?? '';
    if (state.type === 'compound' && only !== undefined && stateAt(chart, only).children.length === 0)
      return named(only);
    return Object.fromEntries(children.map((child) => [named(child), inside(child)]));
  };
  return inside(0);
}
