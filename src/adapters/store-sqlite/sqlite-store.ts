/** What the SQLite store offers beyond the port. */
import type { IncarnationId } from '../../core/call/call.ts';
import type { Store } from '../../ports/store.ts';
import type { Equal } from './share/equal-writes.ts';
import type { Statistics } from './write/writer.ts';

export interface SqliteStore extends Store {
  /**
   * A forwarder is gone and its calls must be settled. Until the callback has done that, no write without a key is
   * recorded. Returns a function that stops listening.
   */
  onForwarderGone(callback: (incarnation: IncarnationId) => unknown): () => void;
  /**
   * Another process is about to record a write without a key: `callback` records which requesters of an equal write
   * left this process, and says whether it could.
   */
  onEqualWrite(callback: (equal: Equal) => Promise<boolean>): void;
  /** What an earlier owner left is settled: forwarders may write. Needed if it was opened with `recovers`. */
  recovered(): void;
  /** What this process wrote; zeros in a forwarder. */
  statistics(): Statistics;
}
