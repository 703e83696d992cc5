/** What this process holds in memory about sessions: who waits for a turn, and who opens sessions. Types only. */
import type { CallId, SessionId } from '../../core/call/call.ts';

/** Steps of one session that wait in this process, the first to come first. */
export interface TurnQueue {
  holder: CallId;
  readonly waiting: (() => void)[];
}

/** Who opens workflow sessions in this process: session-room.ts. */
export interface Room {
  /** Those who look whether there is room, one after the other: the last of them, and how many they are. */
  last: Promise<void>;
  waiting: number;
  /** Sessions that were found to fit and are being written down. */
  readonly opening: Set<Promise<unknown>>;
  /** Sessions that were opened for a step which has not begun. */
  readonly beginning: Set<SessionId>;
  /** When the sweeper counts next, by the monotonic clock. */
  countAtMs: number;
}
