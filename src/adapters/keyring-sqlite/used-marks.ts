/**
 * Records when keys were last used, to the minute, in batches. Nobody who uses a key waits for the write or fails with
 * it.
 */
import { keyLimits } from './key-limits.ts';

export type Mark = readonly [id: string, atMs: number];

export interface UsedMarks {
  note(id: string, nowMs: number): void;
  /** Writes what is not written yet. Never rejects. */
  flush(): Promise<void>;
}

const minuteMs = 60_000;

export function createUsedMarks(
  write: (marks: readonly Mark[]) => Promise<unknown>,
  onSuppressed: (problem: string) => void,
): UsedMarks {
  const noted = new Map<string, number>();
  const waiting = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  let failing = false;

  const flush = async (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const marks = [...waiting];
    waiting.clear();
    if (marks.length === 0) return;
    try {
      await write(marks);
      failing = false;
    } catch (error) {
      // Reported once until it works again: a full disk would be reported every second.
      if (!failing) onSuppressed(error instanceof Error ? error.message : String(error));
      failing = true;
    }
  };

  return {
    note(id, nowMs) {
      const minute = Math.floor(nowMs / minuteMs) * minuteMs;
      if (noted.get(id) === minute) return;
      // Clearing costs only an extra write.
      if (noted.size >= keyLimits.maxMarks) noted.clear();
      noted.set(id, minute);
      if (waiting.size < keyLimits.maxMarks) waiting.set(id, minute);
      timer ??= setTimeout(() => void flush(), keyLimits.markEveryMs).unref();
    },
    flush,
  };
}
