/**
 * Bugs of workflow sessions that the simulation must find, each put in by a store that lies. None of them is in the
 * gateway.
 */
import type { SessionId } from '../../src/core/call/call.ts';
import type { SessionChange, Store, Transition } from '../../src/ports/store.ts';
import { noChange, nothingYet } from '../../src/shell/ending/transition.ts';
import type { PlantedBug } from './planted-bugs.ts';
import { countIn } from './workflow-setting.ts';

type Step = Extract<SessionChange, { kind: 'step' }>;

const stepOf = ({ session }: Transition): Step | null =>
  session?.kind === 'step' && session.workflow !== null ? session : null;

/** A step that ends in doubt moves the state as if it had succeeded. */
function advancesInDoubt(store: Store): Store {
  const moved = async (transition: Transition): Promise<Transition> => {
    const step = stepOf(transition);
    const { call } = transition;
    if (step === null || call?.kind !== 'update' || call.call.state !== 'IN_DOUBT') return transition;
    const session = await store.session(step.id);
    const text = session === null ? null : await store.snapshot(step.id, session.seq);
    if (text === null) return transition;
    const next = text.replace(`"count":${countIn(text)}`, `"count":${countIn(text) + 1}`);
    const workflow = { ...(step.workflow ?? noChange), snapshot: { text: next, dueAtMs: null } };
    return { ...transition, session: { ...step, advance: true, workflow } };
  };
  return { ...store, commit: async (transitions) => store.commit(await Promise.all(transitions.map(moved))) };
}

/** The turn is given back as soon as the intent is durable, while the body still runs. */
const releasesEarly = (store: Store): Store => ({
  ...store,
  async commit(transitions) {
    const results = await store.commit(transitions);
    const taken = transitions.flatMap((transition, at) => {
      const step = stepOf(transition);
      return step?.workflow?.turn === 'take' && results[at]?.kind === 'committed' ? [{ transition, step }] : [];
    });
    for (const { transition, step } of taken) await store.commit([releaseOf(transition, step.id, step.workflow?.call)]);
    return results;
  },
});

function releaseOf({ token, atMs }: Transition, id: SessionId, call: NonNullable<Step['workflow']>['call'] = null) {
  const workflow = { ...noChange, turn: 'release', call } as const;
  const session = { kind: 'step', id, advance: false, expectSeq: null, expectOpen: false, workflow } as const;
  return { ...nothingYet, token: `${token} early`, atMs, session };
}

/** Nobody is stopped by the turn of another: the intent is decided for a state that is about to change. */
const ignoresTurns = (store: Store): Store => ({
  ...store,
  async session(id) {
    const found = await store.session(id);
    return found === null || found.workflow === null
      ? found
      : { ...found, workflow: { ...found.workflow, turn: null } };
  },
  commit: (transitions) =>
    store.commit(
      transitions.map((transition) => {
        const step = stepOf(transition);
        const { turn } = step?.workflow ?? noChange;
        if (step === null || step.workflow === null || (turn !== 'take' && turn !== 'free')) return transition;
        return { ...transition, session: { ...step, workflow: { ...step.workflow, turn: null } } };
      }),
    ),
});

/** A result that was adopted stays on offer. */
const adoptsTwice = (store: Store): Store => ({
  ...store,
  commit: (transitions) =>
    store.commit(
      transitions.map((transition) => {
        const step = stepOf(transition);
        const adopts = transition.records.some(({ kind }) => kind === 'adopted');
        if (step === null || step.workflow === null || !adopts) return transition;
        return { ...transition, session: { ...step, workflow: { ...step.workflow, fence: null } } };
      }),
    ),
});

const withStore = (lie: (store: Store) => Store) => () => ({
  workflows: true,
  wildClocks: false,
  tampering: { ports: (ports: Parameters<NonNullable<Tamper>>[0]) => ({ ...ports, store: lie(ports.store) }) },
});

type Tamper = NonNullable<ReturnType<PlantedBug['plant']>['tampering']>['ports'];

export const plantedWorkflowBugs: readonly PlantedBug[] = [
  {
    name: 'the state advances although nobody knows of a success',
    plant: withStore(advancesInDoubt),
    breaks: ['state'],
  },
  { name: 'the turn is given back before the outcome is on record', plant: withStore(releasesEarly), breaks: ['turn'] },
  { name: 'a step begins without the turn', plant: withStore(ignoresTurns), breaks: ['turn'] },
  { name: 'a result is adopted twice', plant: withStore(adoptsTwice), breaks: ['adopt'] },
];
