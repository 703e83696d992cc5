/** Why a reversal token cannot be redeemed: the reasons, in words, and the check. Pure. */
import type { CallId, Principal } from '../call/call.ts';
import { unreachable } from '../values/unreachable.ts';
import type { Reversal } from './reversal.ts';

/** Each is on record with the refusal. */
export const refusalReasons = {
  unknown: 'there is no such token',
  foreign: 'the token belongs to another agent',
  no_reversal: 'its tool declares no reversal',
  unarmed: 'the call has not succeeded',
  void: 'the call ended without success, so there is nothing to undo',
  expired: 'the time to undo the call is over',
  redeemed: 'the call was undone already, or is being undone',
  erased: 'what the call was sent with, or what it returned, is not on record any more',
  masked: 'what its reversal needs was masked in the record',
  arguments: 'the arguments of its reversal cannot be made',
  unavailable: 'its reversal could not be started in time',
  refused: 'the gateway refused its reversal',
  failed: 'its reversal ran and did nothing',
} as const;

export type RefusalReason = keyof typeof refusalReasons;

/** INVARIANT: a token is good for its own agent alone, once, in its time, and only after the success of its call. */
export function whyNotRedeem(
  reversal: Reversal | null,
  who: Principal,
  nowMs: number,
): Exclude<RefusalReason, 'erased' | 'masked' | 'arguments' | 'unavailable' | 'refused' | 'failed'> | null {
  if (reversal === null) return 'unknown';
  if (reversal.tenant !== who.tenant) return 'unknown';
  if (reversal.agent !== who.agent) return 'foreign';
  switch (reversal.state) {
    case 'issued':
      return 'unarmed';
    case 'armed':
      return (reversal.expiresAtMs ?? 0) <= nowMs ? 'expired' : null;
    // It was asked for in time, and the gateway is at it.
    case 'due':
      return null;
    case 'redeemed':
      return 'redeemed';
    case 'void':
      return 'void';
    default:
      return unreachable(reversal.state);
  }
}

/** What came of a reversal that the gateway was asked for. */
export type Undone =
  | { readonly kind: 'reversed'; readonly by: CallId }
  /** It is under way; `isPassing`: nothing was sent, and it can be tried again in a moment. */
  | { readonly kind: 'later'; readonly why: string; readonly isPassing?: true }
  | { readonly kind: 'unknown'; readonly by: CallId }
  /** `isTold`: it is on record, with its ticket. */
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly why: string | null; readonly isTold: boolean };
