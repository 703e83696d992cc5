/** The states of a call and the legal moves between them. The store refuses every other move. */
import type { Entry } from './entry.ts';

interface CallStateEntry extends Entry {
  readonly terminal: boolean;
}

export const callStates = {
  DENIED: {
    title: 'Denied',
    meaning: 'A gate refused the call; nothing was sent.',
    agent: 'Follow the resolution of the reply.',
    operator: 'Nothing, unless the refusal surprises you.',
    terminal: true,
  },
  AWAITING_APPROVAL: {
    title: 'Awaiting approval',
    meaning: 'The call is held until a person decides; nothing was sent.',
    agent: 'Do something else and ask again later.',
    operator: 'Approve or reject it.',
    terminal: false,
  },
  REJECTED: {
    title: 'Rejected',
    meaning: 'A person said no; nothing was sent.',
    agent: 'Choose another action.',
    operator: 'Nothing.',
    terminal: true,
  },
  EXPIRED: {
    title: 'Expired',
    meaning: 'The approval or the deadline ran out; nothing was sent.',
    agent: 'Ask again if it still matters.',
    operator: 'Nothing, unless approvals often come too late.',
    terminal: true,
  },
  CANCELLED: {
    title: 'Cancelled',
    meaning: 'The call was stopped while it provably had no effect.',
    agent: 'Nothing.',
    operator: 'Nothing.',
    terminal: true,
  },
  PREPARED: {
    title: 'Prepared',
    meaning: 'The intent is on record and nothing was sent yet.',
    agent: 'Wait for the result.',
    operator: 'Nothing; past its deadline it expires unsent.',
    terminal: false,
  },
  DISPATCHED: {
    title: 'Dispatched',
    meaning: 'An attempt is being sent or was sent.',
    agent: 'Wait for the result.',
    operator: 'Nothing; after a crash, recovery settles it or puts it in doubt.',
    terminal: false,
  },
  RETRY_WAIT: {
    title: 'Waiting to retry',
    meaning: 'An attempt failed and another one is due after a pause.',
    agent: 'Wait for the result; do not send it yourself.',
    operator: 'Nothing.',
    terminal: false,
  },
  SUCCEEDED: {
    title: 'Succeeded',
    meaning: 'The call took effect and its result is on record.',
    agent: 'Use the result.',
    operator: 'Nothing.',
    terminal: true,
  },
  FAILED: {
    title: 'Failed',
    meaning: 'The call provably had no effect.',
    agent: 'Follow the resolution of the reply.',
    operator: 'Nothing, unless it happens often.',
    terminal: true,
  },
  IN_DOUBT: {
    title: 'In doubt',
    meaning: 'The call may or may not have taken effect; its budget stays held.',
    agent: 'Do not repeat it; wait until it is settled.',
    operator: 'Settle it by a probe or by what the upstream shows.',
    terminal: false,
  },
  CLOSED_UNKNOWN: {
    title: 'Closed as unknown',
    meaning: 'A person closed the call without being able to tell whether it took effect.',
    agent: 'Read the state of things before you plan further.',
    operator: 'Nothing; the journal keeps who closed it and why.',
    terminal: true,
  },
} as const satisfies Record<string, CallStateEntry>;

export type CallState = keyof typeof callStates;

/** Where a call stands before it is on record. */
export type CallStart = '(none)';

// RETRY_WAIT → CANCELLED needs more than this table: no attempt may have had effect. The lifecycle checks that.
export const legalTransitions: Readonly<Record<CallStart | CallState, readonly CallState[]>> = {
  '(none)': ['DENIED', 'AWAITING_APPROVAL', 'PREPARED'],
  AWAITING_APPROVAL: ['PREPARED', 'DENIED', 'REJECTED', 'EXPIRED', 'CANCELLED'],
  PREPARED: ['DISPATCHED', 'CANCELLED', 'EXPIRED'],
  DISPATCHED: ['SUCCEEDED', 'FAILED', 'RETRY_WAIT', 'IN_DOUBT'],
  RETRY_WAIT: ['DISPATCHED', 'FAILED', 'IN_DOUBT', 'CANCELLED'],
  IN_DOUBT: ['SUCCEEDED', 'FAILED', 'RETRY_WAIT', 'CLOSED_UNKNOWN'],
  DENIED: [],
  REJECTED: [],
  EXPIRED: [],
  CANCELLED: [],
  SUCCEEDED: [],
  FAILED: [],
  CLOSED_UNKNOWN: [],
};
