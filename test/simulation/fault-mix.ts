/** How often what goes wrong. Every number is a probability for one occasion, or a weight among alternatives. */

export const upstreamBehaviours = [
  'answers',
  'request lost',
  'answer lost',
  'answer late',
  'executes late',
  'delivered twice',
  'never sent',
  'refused 400',
  'refused 429',
  '5xx before',
  '5xx after',
  'threw before',
  'threw after',
  'failure proves none',
  'failure proves applied',
  'partial result',
  'result is no json',
  'adapter rejects',
  'obeys abort',
  'refuses repeats',
  'key mismatch',
] as const;

export type UpstreamBehaviour = (typeof upstreamBehaviours)[number];

export const storeFaults = ['commit lost', 'acknowledgement lost', 'overloaded', 'slow commit'] as const;
export type StoreFaultName = (typeof storeFaults)[number];

export const nodeFaults = [
  'crash',
  'close',
  'short pause',
  'pause past lease',
  'long pause',
  'clock forward',
  'clock back',
  'disk full',
] as const;
export type NodeFault = (typeof nodeFaults)[number];

export interface FaultMix {
  readonly upstream: Readonly<Partial<Record<UpstreamBehaviour, number>>>;
  readonly store: Readonly<Partial<Record<StoreFaultName, number>>>;
  /** One is drawn every few seconds. */
  readonly node: Readonly<Partial<Record<NodeFault | 'calm', number>>>;
  /** At each call of a port: the process dies before it, or right after it took effect. */
  readonly crashAtAct: number;
  /** Stalls of a process between two of its events, longer than the send window. */
  readonly stallAtAct: number;
  /** How long such a stall takes, from and to. */
  readonly stallMs?: readonly [number, number];
  /** A tool's own validator that takes longer than a fact may take. */
  readonly slowValidator?: number;
  /** The read that tells whether a call took effect fails, or says nothing clear. */
  readonly probeFails?: number;
}

export const noFaults: FaultMix = {
  upstream: { answers: 1 },
  store: {},
  node: { calm: 1 },
  crashAtAct: 0,
  stallAtAct: 0,
};

const upstream: FaultMix['upstream'] = {
  answers: 10,
  'request lost': 2,
  'answer lost': 2,
  'answer late': 1.5,
  'executes late': 2,
  'delivered twice': 1,
  'never sent': 0.9,
  'refused 400': 0.7,
  'refused 429': 0.9,
  '5xx before': 0.7,
  '5xx after': 0.7,
  'threw before': 0.4,
  'threw after': 0.4,
  'failure proves none': 0.5,
  'failure proves applied': 0.5,
  'partial result': 0.5,
  'result is no json': 0.4,
  'adapter rejects': 0.3,
  'obeys abort': 1,
  'refuses repeats': 3,
  'key mismatch': 0.3,
};

const node: FaultMix['node'] = {
  calm: 3,
  crash: 3,
  close: 1,
  'short pause': 1,
  'pause past lease': 1,
  'long pause': 0.15,
  'clock forward': 0.7,
  'clock back': 0.7,
  'disk full': 0.5,
};

export const faultMixes = {
  everything: {
    upstream,
    store: { 'commit lost': 0.04, 'acknowledgement lost': 0.05, overloaded: 0.01, 'slow commit': 0.03 },
    node,
    crashAtAct: 0.004,
    stallAtAct: 0.002,
    slowValidator: 0.03,
    probeFails: 0.25,
  },
  crashes: {
    upstream,
    store: { 'acknowledgement lost': 0.02 },
    node: { calm: 1, crash: 4, close: 1 },
    crashAtAct: 0.02,
    probeFails: 0.1,
    stallAtAct: 0,
  },
  store: {
    upstream: { answers: 6, 'answer lost': 1, 'executes late': 1, 'answer late': 1 },
    store: { 'commit lost': 0.15, 'acknowledgement lost': 0.15, overloaded: 0.04, 'slow commit': 0.08 },
    node: { calm: 3, 'disk full': 2, crash: 0.5 },
    crashAtAct: 0.001,
    stallAtAct: 0,
  },
  pauses: {
    upstream: { answers: 8, 'executes late': 1, 'answer lost': 1 },
    store: { 'slow commit': 0.1 },
    node: { calm: 3, 'pause past lease': 1, 'long pause': 1 },
    crashAtAct: 0,
    stallAtAct: 0.01,
  },
  /** Processes that fall asleep in the middle of an act, for longer than any lease, quarantine or window. */
  sleep: {
    upstream: { answers: 8, 'executes late': 1, 'answer lost': 1 },
    store: { 'slow commit': 0.1 },
    node: { calm: 4, 'pause past lease': 1, 'long pause': 1 },
    crashAtAct: 0,
    stallAtAct: 0.01,
    stallMs: [40_000, 220_000],
  },
  /** An upstream that is down most of the time: retries, budgets and breakers are met again and again. */
  down: {
    upstream: { answers: 2, 'never sent': 6, '5xx before': 3, 'request lost': 2, 'refused 429': 2, 'executes late': 1 },
    store: { 'acknowledgement lost': 0.02 },
    node: { calm: 6, crash: 1, close: 1, 'pause past lease': 0.5, 'clock forward': 0.5, 'clock back': 0.5 },
    crashAtAct: 0.001,
    stallAtAct: 0.001,
    probeFails: 0.3,
  },
} as const satisfies Record<string, FaultMix>;

export type MixName = keyof typeof faultMixes;
