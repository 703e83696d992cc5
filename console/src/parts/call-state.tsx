/** The state of a call as a badge, in the words of the taxonomy. */
import { callStates, type CallState } from '../../../src/core/taxonomy.ts';
import { Badge, type Tone } from './badge.tsx';

export const toneOfState: Readonly<Record<CallState, Tone>> = {
  DENIED: 'bad',
  AWAITING_APPROVAL: 'held',
  REJECTED: 'bad',
  EXPIRED: 'quiet',
  CANCELLED: 'quiet',
  PREPARED: 'busy',
  DISPATCHED: 'busy',
  RETRY_WAIT: 'busy',
  SUCCEEDED: 'good',
  FAILED: 'bad',
  IN_DOUBT: 'doubt',
  CLOSED_UNKNOWN: 'doubt',
};

export function CallStateBadge({ state }: { readonly state: CallState }) {
  return <Badge tone={toneOfState[state]}>{callStates[state].title}</Badge>;
}
