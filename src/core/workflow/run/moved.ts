/** How moving a session can end badly, and how far it may go. */
import type { OwnLimits } from '../read/own-json.ts';
import type { Moved } from '../workflow.ts';

export interface RunLimits extends OwnLimits {
  /** An `always` that never rests, or an event that raises itself, ends here. */
  readonly maxMicrosteps: number;
  /** The canonical text of a snapshot takes at most this much. */
  readonly maxStateBytes: number;
  readonly maxTimers: number;
}

export function failed(errorType: string, problem: string): Moved {
  return { kind: 'failed', errorType, problem };
}
