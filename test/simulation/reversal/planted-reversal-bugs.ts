/** Bugs of reversals that the simulation must find, each put in by a store that lies. None of them is in the gateway. */
import type { Rollback } from '../../../src/core/reversal/reversal.ts';
import type { ReversalWrite, Store, Transition } from '../../../src/ports/store.ts';
import type { Ports } from '../../../src/shell/shell.ts';
import type { Tampering } from '../simulated-gateway.ts';

const withStore = (lie: (store: Store) => Store): Pick<Tampering, 'ports'> => ({
  ports: (ports: Ports) => ({ ...ports, store: lie(ports.store) }),
});

/** The token is armed with the intent: it can be redeemed while nobody knows what became of the call. */
const armsEarly = (store: Store): Store => ({
  ...store,
  commit: (transitions) => store.commit(transitions.map(armed)),
});

const armed = (transition: Transition): Transition => ({
  ...transition,
  reversals: transition.reversals.flatMap((write): readonly ReversalWrite[] =>
    write.kind === 'issue'
      ? [write, { kind: 'arm', call: write.reversal.call, atMs: transition.atMs, due: null }]
      : [write],
  ),
});

/** Once a step was not done, the rollback is over for whoever looks. */
const stopsAtTheFirst = (store: Store): Store => {
  const ended = async (rollback: Rollback | null): Promise<Rollback | null> => {
    if (rollback?.state !== 'running') return rollback;
    const steps = await store.rollbackSteps(rollback.session);
    const isStopped = steps.some(({ outcome }) => outcome !== 'reversed' && outcome !== 'nothing_to_undo');
    return isStopped ? { ...rollback, state: 'finished' } : rollback;
  };
  return {
    ...store,
    rollback: async (session) => ended(await store.rollback(session)),
    runningRollbacks: async () => [],
  };
};

/** What took the token is not on record: it can be used again. */
const keepsTokens = (store: Store): Store => ({
  ...store,
  commit: (transitions) =>
    store.commit(
      transitions.map((transition) => ({
        ...transition,
        key: transition.key?.key.startsWith('rev:') === true ? null : transition.key,
        reversals: transition.reversals.filter(({ kind }) => kind !== 'redeem'),
      })),
    ),
});

export const plantedReversalBugs = {
  'a token armed before its success': withStore(armsEarly),
  'a rollback that stops at the first error': withStore(stopsAtTheFirst),
  'a token that is not used up': withStore(keepsTokens),
} as const satisfies Record<string, Pick<Tampering, 'ports'>>;
