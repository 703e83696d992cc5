/** Bugs of approvals that the simulation must find, each put in by a port that lies. None of them is in the gateway. */
import type { Approval, ApprovalId } from '../../src/core/approval/approval.ts';
import type { Ports } from '../../src/shell/shell.ts';
import type { ApprovalWrite, CallChange, CommitResult, Store, Transition } from '../../src/ports/store.ts';
import type { SimulatedPolicy } from './approval-setting.ts';
import { faultMixes } from './fault-mix.ts';
import type { PlantedBug } from './planted-bugs.ts';

const withTransitions = (store: Store, lie: (transition: Transition) => Transition | Promise<Transition>): Store => ({
  ...store,
  commit: async (transitions) => store.commit(await Promise.all(transitions.map(lie))),
});

/** Every read of one approval, told differently. */
const withApprovals = (store: Store, lie: (approval: Approval) => Approval): Store => {
  const one = async (found: Promise<Approval | null>) => {
    const approval = await found;
    return approval === null ? null : lie(approval);
  };
  return {
    ...store,
    approval: (id) => one(store.approval(id)),
    approvalOf: (...asked) => one(store.approvalOf(...asked)),
    approvalOfCall: (call) => one(store.approvalOfCall(call)),
    approvalsToRun: async (...asked) => (await store.approvalsToRun(...asked)).map(lie),
  };
};

/** The call that takes an approval along; null for everything else. */
const intentOf = ({ call }: Transition): Extract<CallChange, { kind: 'update' }> | null =>
  call?.kind === 'update' && call.expect.state === 'AWAITING_APPROVAL' && call.call.state === 'DISPATCHED'
    ? call
    : null;

/** The right to run is taken, and the approval stays as it was. */
const keepsApprovals = (store: Store): Store =>
  withTransitions(store, (transition) =>
    intentOf(transition) === null ? transition : { ...transition, approvals: [] },
  );

/** Whoever finds another version of the approval, or the call gone, runs it all the same, as a call of its own. */
const ignoresVersions = (store: Store): Store => ({
  ...store,
  async commit(transitions) {
    const results = await store.commit(transitions);
    const forced = transitions.map(async (transition, index): Promise<CommitResult> => {
      const result = results[index] as CommitResult;
      const call = intentOf(transition)?.call;
      const lost = result.kind === 'conflict' && (result.on === 'call' || result.on === 'approval');
      if (!lost || call === undefined || transition.session?.kind !== 'step') return result;
      const own = { ...call, id: `${call.id}_again` as typeof call.id };
      const insert = { kind: 'insert', call: own, path: ['PREPARED', 'DISPATCHED'] } as const;
      const records = transition.records.map((record) => ({ ...record, call: own.id }));
      const session = { ...transition.session, workflow: null };
      const again = {
        ...transition,
        token: `${transition.token} again`,
        call: insert,
        key: null,
        approvals: [],
        session,
        records,
      };
      return (await store.commit([again]))[0] ?? result;
    });
    return Promise.all(forced);
  },
});

const neverExpires = (store: Store): Store =>
  withApprovals(store, (approval) => ({ ...approval, expiresAtMs: approval.expiresAtMs + 365 * 86_400_000 }));

/** Written as it was, so that only the looking is wrong. */
const withTrueTimes = (store: Store, lying: Store): Store => ({
  ...lying,
  commit: async (transitions) => store.commit(await Promise.all(transitions.map((one) => restored(one, store)))),
});

async function restored(transition: Transition, store: Store): Promise<Transition> {
  const restore = async (write: ApprovalWrite): Promise<ApprovalWrite> => {
    const row = write.expect === null ? null : await store.approval(write.approval.id);
    if (row === null) return write;
    const { expiresAtMs, terms } = row;
    return { ...write, approval: { ...write.approval, expiresAtMs, terms } };
  };
  return { ...transition, approvals: await Promise.all(transition.approvals.map(restore)) };
}

/** What an approver changed is not seen: the call goes out as it was asked for. */
const ignoresEdits = (store: Store): Store => ({
  ...withApprovals(store, (approval) => (approval.state === 'granted' ? { ...approval, edit: null } : approval)),
});

const rulesLook = '"ceiling":';

/** All rules have the same hash, so that no change of them is ever noticed. */
const sameRules = (ports: Ports): Ports => ({
  ...ports,
  sha256: (text) => (text.includes(rulesLook) && !text.includes('"agents":') ? 'the rules' : ports.sha256(text)),
});

/** Whoever has voted is forgotten, and may vote again. */
function forgetsVoters(store: Store): Store {
  const names = new Map<string, string>();
  const hide = (approval: Approval): Approval => ({
    ...approval,
    votes: approval.votes.map((vote, index) => {
      const name = `${approval.id}-${index}`;
      names.set(name, vote.by);
      return { ...vote, by: name };
    }),
  });
  return withTransitions(withApprovals(store, hide), (transition) => ({
    ...transition,
    approvals: transition.approvals.map((write) => ({
      ...write,
      approval: {
        ...write.approval,
        votes: write.approval.votes.map((vote) => ({ ...vote, by: names.get(vote.by) ?? vote.by })),
      },
    })),
  }));
}

/** Who finds the call taken by another sends it too. */
function sendsWhatAnotherWon(ports: Ports): Ports {
  const { store } = ports;
  return {
    ...ports,
    store: {
      ...store,
      async commit(transitions) {
        const results = await store.commit(transitions);
        return results.map((result, index) => {
          const transition = transitions[index];
          const lost = result.kind === 'conflict' && (result.on === 'call' || result.on === 'approval');
          return transition !== undefined && lost && intentOf(transition) !== null
            ? { kind: 'committed', seq: 0, position: null }
            : result;
        });
      },
    },
  };
}

/** A no is over as soon as it was said. */
const forgetsDenials = (store: Store): Store =>
  withTrueTimes(
    store,
    withApprovals(store, (approval) => (approval.state === 'denied' ? { ...approval, expiresAtMs: 0 } : approval)),
  );

/** Revocations are not seen by whoever sends again. */
const forgetsRevocations = (store: Store): Store => ({
  ...store,
  approvalOfCall: async (call) => {
    const found = await store.approvalOfCall(call);
    return found?.state === 'revoked' && found.votes.length > 0 ? { ...found, state: 'used' } : found;
  },
});

/** A process falls asleep right after it won a call, does not notice, and sends what it won. */
const zombieMs = 52_000;
function sleepsBeforeItSends(ports: Ports): Ports {
  let slept = 0;
  const { store, clock } = ports;
  const nap = () => new Promise<void>((resolve) => clock.schedule(zombieMs, resolve));
  return {
    ...ports,
    clock: { ...clock, monotonicMs: () => clock.monotonicMs() - slept },
    store: {
      ...store,
      async commit(transitions) {
        const results = await store.commit(transitions);
        const won = transitions.some((one, index) => intentOf(one) !== null && results[index]?.kind === 'committed');
        if (won) await nap();
        if (won) slept += zombieMs;
        return results;
      },
    },
  };
}

/** The callers are told of an approval that nobody can find. */
const namesAnother = (ports: Ports): Ports => ({
  ...ports,
  store: withTransitions(ports.store, (transition) => ({
    ...transition,
    approvals: transition.approvals.map((write) =>
      write.expect === null
        ? { ...write, approval: { ...write.approval, id: `${write.approval.id}x` as ApprovalId } }
        : write,
    ),
  })),
});

const racing = { ...faultMixes.pauses, store: { 'slow commit': 0.4 }, stallAtAct: 0.002 };
const everythingRuns: SimulatedPolicy = {
  stances: { read: 'permit', charge: 'one runs', refund: 'one runs', mail: 'one runs' },
  layout: 0,
};

const planted =
  (lie: (ports: Ports) => Ports, more: Partial<ReturnType<PlantedBug['plant']>> = {}) =>
  () => ({
    approvals: true,
    wildClocks: false,
    tampering: { ports: lie },
    ...more,
  });
const lyingStore = (lie: (store: Store) => Store) => planted((ports) => ({ ...ports, store: lie(ports.store) }));

export const plantedApprovalBugs: readonly PlantedBug[] = [
  {
    name: 'an approval is not used up with the intent',
    plant: lyingStore(keepsApprovals),
    breaks: ['waits', 'covered'],
  },
  {
    name: 'an approval is used without a look at its version',
    plant: planted((ports) => ({ ...ports, store: ignoresVersions(ports.store) }), {
      mix: racing,
      approvals: everythingRuns,
    }),
    breaks: ['covered', 'waits', 'used', '1', '7'],
  },
  {
    name: 'nobody looks at the time of an approval',
    plant: lyingStore((store) => withTrueTimes(store, neverExpires(store))),
    breaks: ['late', '19'],
  },
  { name: 'what an approver changed is ignored', plant: lyingStore(ignoresEdits), breaks: ['form'] },
  { name: 'the rules are not compared', plant: planted(sameRules), breaks: ['rules'] },
  { name: 'one person votes twice', plant: lyingStore(forgetsVoters), breaks: ['votes'] },
  {
    name: 'two incarnations run the same approval',
    plant: planted(sendsWhatAnotherWon, { mix: racing, approvals: everythingRuns }),
    breaks: ['5', '3', '2', '1', 'covered', 'turn'],
  },
  { name: 'a denial is forgotten', plant: lyingStore(forgetsDenials), breaks: ['early'] },
  { name: 'what was revoked is sent again', plant: lyingStore(forgetsRevocations), breaks: ['taken back'] },
  {
    name: 'a zombie sends what it won before it slept',
    plant: planted(sleepsBeforeItSends, { mix: faultMixes.pauses, approvals: everythingRuns }),
    breaks: ['taken back', '2', 'effect', '1', 'turn'],
  },
  {
    name: 'callers are told of an approval that is not there',
    plant: planted(namesAnother),
    breaks: ['names', 'ignored'],
  },
];
