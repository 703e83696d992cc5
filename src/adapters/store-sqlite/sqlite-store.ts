/** What does this store offer beyond the port? */
import type { IncarnationId } from '../../core/call/call.ts';
import type { Store } from '../../ports/store.ts';
import type { Equal } from './share/equal-writes.ts';
import type { Statistics } from './write/writer.ts';

export interface SqliteStore extends Store {
  /**
   * A process that forwarded its commits to this one is gone: its calls need someone. Until that is done, no write without a key is
   * recorded. Returns how to stop listening.
   */
  onForwarderGone(callback: (incarnation: IncarnationId) => unknown): () => void;
  /**
   * Another process is about to record a write without a key: `callback` puts on record whatever this one knows of requesters who
   * left an equal one, and says whether it could.
   */
  onEqualWrite(callback: (equal: Equal) => Promise<boolean>): void;
  /** What an earlier owner left is settled: processes beside this one may write. Needed if it was opened with `recovers`. */
  recovered(): void;
  /** What this process wrote; zeros in a forwarder. */
  statistics(): Statistics;
}
