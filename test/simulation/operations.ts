/** What the agents of a simulated world want, and how they behave while they wait for it. */
import { createHash } from 'node:crypto';
import { canonicalText } from '../../src/core/values/canonical.ts';
import type { Principal } from '../../src/core/call/call.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import type { Reply } from '../../src/core/call/reply.ts';
import type { CallRow } from './memory-state.ts';
import type { Random } from './random.ts';
import { toolNames } from './setting.ts';

export const manners = {
  /** Waits, and asks again when the connection breaks. */
  patient: 8,
  /** Asks once more after it has the reply. */
  repeats: 3,
  /** Asks twice at once. */
  twins: 2,
  /** Asks with the same key for something else. */
  'changes arguments': 2,
  /** Hangs up, and asks again without a key if it had none. */
  leaves: 4,
  cancels: 2,
  /** Waits a second, then polls. */
  'waits shortly': 2,
  /** Has so little time that the call may expire unsent. */
  'is in a hurry': 1,
  /** Counts on a sequence number of its session. */
  'expects a sequence': 1,
  'asks nonsense': 1,
} as const;

export type Manner = keyof typeof manners;

export interface Operation {
  readonly name: string;
  readonly who: Principal;
  /** The name of a tool, or of an action if it is a step. */
  readonly tool: string;
  /** A step of the workflow session that is named. */
  readonly isStep: boolean;
  readonly key: string | null;
  readonly session: string | null;
  readonly turn: string | null;
  readonly manner: Manner;
  readonly args: JsonObject;
  readonly fingerprint: string;
  /** How many more times it may ask by itself. */
  patience: number;
  /** How many more times it asks again because a person has not decided yet. */
  deferrals: number;
  /** Requests that are not answered yet. */
  open: number;
  lastReply: Reply | null;
}

/** What every operation starts with; the fingerprint is that of the request, as the gateway will compute it. */
export function makeOperation(
  given: Pick<Operation, 'name' | 'who' | 'tool' | 'key' | 'session' | 'turn' | 'manner' | 'args'> &
    Partial<Pick<Operation, 'isStep'>>,
): Operation {
  const isStep = given.isStep ?? false;
  const place = isStep ? `${given.session}\u0000` : '';
  const fingerprint = createHash('sha256')
    .update(`${given.tool}\u0000${place}${canonicalText(given.args)}`)
    .digest('hex');
  return { ...given, isStep, fingerprint, patience: 5, deferrals: 12, open: 0, lastReply: null };
}

export function drawOperation(name: string, sessions: ReadonlyMap<string, string>, random: Random): Operation {
  const agent = random.pick(['ann', 'bob']);
  const tool = random.pick(toolNames);
  const manner = random.weighted(manners);
  const args = { amount: random.between(1, 9), operation: name };
  const session = random.chance(0.4) ? (sessions.get(agent) ?? null) : null;
  const keyed =
    manner === 'changes arguments' || manner === 'repeats' || random.chance(manner === 'leaves' ? 0.2 : 0.6);
  const turn = session !== null && random.chance(0.5) ? 'turn-1' : null;
  return makeOperation({
    name,
    who: { tenant: 'acme', agent },
    tool,
    key: keyed ? `key-${name}` : null,
    session,
    turn,
    manner,
    args,
  });
}

/** A step of one of the agent's workflow sessions. */
export function drawStep(
  name: string,
  agent: string,
  session: string,
  actions: readonly string[],
  random: Random,
): Operation {
  const manner = random.weighted(manners);
  const keyed =
    manner === 'changes arguments' || manner === 'repeats' || random.chance(manner === 'leaves' ? 0.2 : 0.5);
  return makeOperation({
    name,
    who: { tenant: 'acme', agent },
    tool: random.pick(actions),
    isStep: true,
    key: keyed ? `key-${name}` : null,
    session,
    turn: random.chance(0.2) ? 'turn-1' : null,
    manner,
    args: { amount: random.between(1, 9), operation: name },
  });
}

export const argsIn = ({ args }: Operation, otherArguments: boolean): JsonObject =>
  otherArguments ? { ...args, amount: 10 } : args;

/** The request as it goes over the wire. */
export function requestOf(operation: Operation, random: Random, otherArguments: boolean): unknown {
  const { tool, key, session, turn, manner, isStep } = operation;
  const args = argsIn(operation, otherArguments);
  const common = {
    ...(isStep ? { action: tool, inputs: args } : { tool, args }),
    ...(key === null ? {} : { key }),
    ...(session === null ? {} : { session }),
    ...(turn === null ? {} : { turn }),
  };
  switch (manner) {
    case 'waits shortly':
      return { ...common, wait_seconds: random.pick([0, 0.5, 3]) };
    case 'is in a hurry':
      return { ...common, deadline_seconds: random.pick([0, 0.001, 0.01, 1, 4]) };
    case 'expects a sequence':
      return { ...common, expected_seq: random.between(0, 3) };
    case 'asks nonsense':
      return random.pick<unknown>([
        isStep ? { ...common, action: 'raed' } : { ...common, tool: 'raed' },
        isStep ? { ...common, inputs: { amount: -1 } } : { ...common, args: { amount: -1 } },
        { ...common, kee: 'x' },
        17,
        { ...common, session: 'ses_none' },
      ]);
    default:
      // Some have time: what a process won before a long sleep is not over when it wakes.
      return random.chance(0.5) ? { ...common, deadline_seconds: 400 } : common;
  }
}

const mayHaveHappened: ReadonlySet<string> = new Set([
  'PREPARED',
  'DISPATCHED',
  'RETRY_WAIT',
  'SUCCEEDED',
  'IN_DOUBT',
  'CLOSED_UNKNOWN',
]);

/** Without a key: whether asking once more cannot be a second call beside one of `rows` that took effect. */
export function isSafeToAskAgain({ open, isStep, manner }: Operation, rows: readonly CallRow[]): boolean {
  // Who names the sequence asks for a step of its own, whoever left.
  const isOwn = isStep && manner === 'expects a sequence';
  const isFree = ({ call }: CallRow) => !mayHaveHappened.has(call.state) || (call.requesterLeftAtMs !== null && !isOwn);
  // While a gateway still works on what was asked before, nobody can know what it will become.
  return open === 0 && rows.every(isFree);
}
