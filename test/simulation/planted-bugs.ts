/**
 * Bugs that the simulation must find, each put in by a port that lies or a person who is hasty. None of them is in the
 * gateway; if the rig stops finding one, the rig is broken.
 */
import type { Clock } from '../../src/ports/clock.ts';
import type { Store, StoredCall, Transition } from '../../src/ports/store.ts';
import type { Attempt, Upstream, UpstreamResult } from '../../src/ports/upstream.ts';
import type { Json } from '../../src/core/values/json.ts';
import { faultMixes, type FaultMix } from './fault-mix.ts';
import { catalogue, dedupeWindowMs, tools } from './setting.ts';
import type { Tampering } from './simulated-gateway.ts';
import type { WorldOptions } from './world.ts';

export interface PlantedBug {
  readonly name: string;
  /** Made anew for each world, because some of them remember. */
  readonly plant: () => Pick<
    WorldOptions,
    'tampering' | 'quarantineMs' | 'mix' | 'wildClocks' | 'workflows' | 'approvals' | 'marksEarly' | 'quotas'
  >;
  /** The invariants that may notice it. */
  readonly breaks: readonly string[];
}

const withPorts = (ports: NonNullable<Tampering['ports']>): Tampering => ({ ports });

const claimsNoKey = (store: Store): Store => ({
  ...store,
  key: async () => null,
  commit: (transitions) => store.commit(transitions.map((transition) => ({ ...transition, key: null }))),
});

/** The attempt goes out when its intent is only submitted; the real sending then hears the early one's answer. */
function sendsEarly(store: Store, upstream: Upstream): { store: Store; upstream: Upstream } {
  const early = new Map<string, Promise<UpstreamResult>>();
  const nameOf = ({ callId, attempt }: Attempt) => `${callId} ${attempt}`;
  const send = ({ call, records }: Transition) => {
    if (call === null || call.kind === 'mark' || call.call.state !== 'DISPATCHED') return;
    const { id, attempt, tool, session, tenant, agent, deadlineAtMs } = call.call;
    const text = records[0]?.payloads.find(({ part }) => part === 'args')?.text;
    if (text === undefined) return;
    const sent = {
      callId: id,
      attempt,
      tool,
      args: JSON.parse(text) as Json,
      session,
      tenant,
      agent,
      deadlineAtMs,
      timeoutMs: 1_000,
      workflowContext: null,
      client: null,
      callTool: () => Promise.reject(new Error('no tools here')),
    };
    if (!early.has(nameOf(sent))) early.set(nameOf(sent), upstream.invoke(sent, new AbortController().signal));
  };
  return {
    store: {
      ...store,
      commit(transitions) {
        for (const transition of transitions) send(transition);
        return store.commit(transitions);
      },
    },
    upstream: { invoke: (attempt, signal) => early.get(nameOf(attempt)) ?? upstream.invoke(attempt, signal) },
  };
}

/** Gives up just before the gateway does, and claims that nothing was sent. */
const mistakesSilenceForProof = (upstream: Upstream, clock: Clock): Upstream => ({
  invoke: (attempt, signal) => {
    const about = {
      subject: null,
      errorType: 'Timeout',
      message: 'no answer',
      retryAfterSeconds: null,
      code: null,
      cause: null,
    };
    const claim: UpstreamResult = { kind: 'failed', failure: { kind: 'never_sent', effect: 'none', ...about } };
    const silence = new Promise<UpstreamResult>((resolve) =>
      clock.schedule(attempt.timeoutMs - 1, () => resolve(claim)),
    );
    return Promise.race([upstream.invoke(attempt, signal), silence]);
  },
});

/** Reads plain calls as keyed ones, so that recovery and the sweeper send them again. */
function takesPlainForKeyed(store: Store): Store {
  const lie = <Call extends StoredCall | null>(call: Call): Call =>
    call?.effectClass === 'plain' ? { ...call, effectClass: 'keyed' } : call;
  return {
    ...store,
    due: async (...asked) => (await store.due(...asked)).map(lie),
    unfinished: async (...asked) => (await store.unfinished(...asked)).map(lie),
  };
}

/** A monotonic clock that stands still while its process sleeps: no send window ever closes. */
function forgetsSleep(clock: Clock): Clock {
  let counted = 0;
  let seen = clock.monotonicMs();
  return {
    ...clock,
    monotonicMs() {
      const now = clock.monotonicMs();
      counted += Math.min(now - seen, 150);
      seen = now;
      return counted;
    },
  };
}

const resendable = new Map(catalogue).set('mail', { ...tools.mail, dedupeWindowMs });
const crashing: FaultMix = faultMixes.crashes;

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'keys are not claimed',
    plant: () => ({ tampering: withPorts((ports) => ({ ...ports, store: claimsNoKey(ports.store) })) }),
    breaks: ['7', '1'],
  },
  {
    name: 'attempts are sent before their intent is durable',
    plant: () => ({ tampering: withPorts((ports) => ({ ...ports, ...sendsEarly(ports.store, ports.upstream) })) }),
    breaks: ['3', '5'],
  },
  {
    name: 'a timeout counts as proof that nothing happened',
    plant: () => ({
      tampering: withPorts((ports) => ({ ...ports, upstream: mistakesSilenceForProof(ports.upstream, ports.clock) })),
    }),
    breaks: ['2', 'effect', '1', 'classify'],
  },
  {
    name: 'plain calls are sent again after a crash',
    plant: () => ({
      mix: crashing,
      tampering: { catalogue: resendable, ports: (ports) => ({ ...ports, store: takesPlainForKeyed(ports.store) }) },
    }),
    breaks: ['6', '1'],
  },
  {
    name: 'a negative probe is believed at once',
    plant: () => ({ quarantineMs: 0 }),
    breaks: ['2', 'effect', '1'],
  },
  {
    name: 'a reply counts as handed over when the door is given it',
    plant: () => ({ marksEarly: true, wildClocks: false }),
    breaks: ['1'],
  },
  {
    name: 'no send window: a process that slept sends what it won before',
    plant: () => ({
      mix: faultMixes.sleep,
      wildClocks: false,
      tampering: withPorts((ports) => ({ ...ports, clock: forgetsSleep(ports.clock) })),
    }),
    breaks: ['2', 'effect', '1', 'turn', '6'],
  },
];
