/** What the keyed tool of a simulated world knows of a key: done before, on its way, or never heard of. */
import type { Failure } from '../../../src/ports/upstream.ts';
import type { UpstreamBehaviour } from '../fault-mix.ts';

export type KeyBehaviour = Extract<UpstreamBehaviour, 'refuses repeats' | 'key mismatch'>;

export const isAboutKey = (behaviour: UpstreamBehaviour): behaviour is KeyBehaviour =>
  behaviour === 'refuses repeats' || behaviour === 'key mismatch';

export function createKeyMemory(rememberMs: number, nowMs: () => number) {
  const done = new Map<string, number>();
  const coming = new Map<string, number>();
  const isKnown = (callId: string): boolean => nowMs() - (done.get(callId) ?? -Infinity) < rememberMs;
  return {
    /** An execution is on its way, or not any more. */
    comes: (callId: string, more: 1 | -1) => void coming.set(callId, (coming.get(callId) ?? 0) + more),
    /** False if it was done before: then nothing happens once more. */
    takes(callId: string): boolean {
      if (isKnown(callId)) return false;
      done.set(callId, nowMs());
      return true;
    },
    /** Why a tool that refuses repeats does not carry out the call; null if it does. */
    conflict(callId: string, behaviour: KeyBehaviour): Failure['subject'] {
      if (behaviour === 'key mismatch') return 'mismatch';
      if (isKnown(callId)) return 'completed';
      return (coming.get(callId) ?? 0) > 0 ? 'in_flight' : null;
    },
  };
}
