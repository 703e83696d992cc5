/** Bugs of rate limits and budgets that the simulation must find, each put in by a store that lies. */
import type { Store, Transition } from '../../../src/ports/store.ts';
import { faultMixes } from '../fault-mix.ts';
import type { Incarnation } from '../memory-store.ts';
import { type MemoryState, nameOf } from '../memory-state.ts';
import type { PlantedBug } from '../planted-bugs.ts';
import type { Tampering } from '../simulated-gateway.ts';

type Hold = { readonly tenant: string; readonly account: string; readonly amount: number };

function release(state: MemoryState, { tenant, account, amount }: Hold): void {
  const name = nameOf(tenant, account);
  const row = state.accounts.get(name);
  if (row !== undefined) state.accounts.set(name, { ...row, held: row.held - amount });
}

/** A commit that is repeated because its acknowledgement was lost gives back once more. */
function releasesTwice(): NonNullable<Tampering['incarnation']> {
  const released = new Map<string, readonly Hold[]>();
  return (incarnation, state): Incarnation => ({
    ...incarnation,
    commit: (transitions) =>
      transitions.flatMap((transition) => {
        const holds = transition.settle.flatMap(({ call }) => state.holds.get(call) ?? []);
        const results = incarnation.commit([transition]);
        const before = released.get(transition.token);
        if (results[0]?.kind !== 'committed' || transition.settle.length === 0) return results;
        if (before === undefined) released.set(transition.token, holds);
        else for (const hold of before) release(state, hold);
        return results;
      }),
  });
}

/** What is held is known only to the processes that held it: whoever opens the store begins with nothing. */
const forgetsHolds: NonNullable<Tampering['incarnation']> = (incarnation, state) => {
  for (const holds of state.holds.values()) for (const hold of holds) release(state, hold);
  state.holds.clear();
  return incarnation;
};

const hourMs = 3_600_000;
const hourText = (atMs: number) => new Date(atMs - (atMs % hourMs)).toISOString().replace('.000', '');

/** Charges the hour in which the call ends. */
function chargesTheEnd(store: Store): Store {
  const moved = async (transition: Transition): Promise<Transition> => {
    const [settlement] = transition.settle;
    if (settlement === undefined || settlement.spent === 'nothing') return transition;
    const holds = await store.holdsOf(settlement.call);
    const held = holds.find(({ account }) => account.startsWith('agent/'));
    const now = held?.account.replace(/[^/]+$/, hourText(transition.atMs));
    if (held === undefined || now === undefined || now === held.account) return transition;
    const { settled } = await store.account('acme', now);
    const spent = [{ account: held.account, amount: 0 }];
    const charge = { kind: 'correct', tenant: 'acme', account: now, settled: settled + held.amount, expect: settled };
    return { ...transition, settle: [{ ...settlement, spent }], accounts: [charge as never] };
  };
  return { ...store, commit: async (transitions) => store.commit(await Promise.all(transitions.map(moved))) };
}

const withTransitions = (store: Store, lie: (transition: Transition) => Transition): Store => ({
  ...store,
  commit: (transitions) => store.commit(transitions.map(lie)),
});

/** The gate looks, and the intent takes whatever is left by then. */
const ignoresLimits = (store: Store): Store =>
  withTransitions(store, (transition) => ({
    ...transition,
    reserve: transition.reserve.map((each) => ({ ...each, limit: null })),
  }));

/** Whoever ends a call that another process began does not know what it holds. */
const forgetsOthers = (store: Store): Store => ({ ...store, holdsOf: async () => [] });

const chargesNothing = (store: Store): Store =>
  withTransitions(store, (transition) => ({
    ...transition,
    settle: transition.settle.map(({ call }) => ({ call, spent: 'nothing' })),
  }));

/** Every process has buckets of its own, so all of them together admit more. */
function countsAlone(store: Store): Store {
  const own = (bucket: string) => `${bucket}/${store.incarnation}`;
  return {
    ...withTransitions(store, (transition) => ({
      ...transition,
      tokens: transition.tokens.map((take) => ({ ...take, bucket: own(take.bucket) })),
    })),
    bucket: (tenant, bucket) => store.bucket(tenant, own(bucket)),
  };
}

const planted =
  (tampering: Tampering, mix: PlantedMix = 'everything') =>
  () => ({
    quotas: true,
    wildClocks: false,
    mix: faultMixes[mix],
    tampering,
  });
type PlantedMix = keyof typeof faultMixes;
const withStore = (lie: (store: Store) => Store): Tampering => ({
  ports: (ports) => ({ ...ports, store: lie(ports.store) }),
});

export const plantedQuotaBugs: readonly PlantedBug[] = [
  {
    name: 'what is held is given back twice',
    plant: () => planted({ incarnation: releasesTwice() }, 'store')(),
    // What is free too early is taken by somebody else, who then spends beyond the limit.
    breaks: ['8', '9'],
  },
  {
    name: 'what is held is lost by a crash',
    plant: planted({ incarnation: forgetsHolds }, 'crashes'),
    breaks: ['9'],
  },
  {
    name: 'what a crashed process held is never given back',
    plant: planted(withStore(forgetsOthers), 'crashes'),
    breaks: ['9'],
  },
  {
    name: 'the window of a budget is chosen when the call ends',
    plant: planted(withStore(chargesTheEnd)),
    breaks: ['window'],
  },
  {
    name: 'what is held is not checked against what is left',
    plant: planted(withStore(ignoresLimits)),
    breaks: ['8'],
  },
  {
    name: 'a success costs nothing',
    plant: planted(withStore(chargesNothing)),
    breaks: ['charged'],
  },
  {
    name: 'each process counts its own rate',
    plant: planted(withStore(countsAlone)),
    breaks: ['10'],
  },
];
