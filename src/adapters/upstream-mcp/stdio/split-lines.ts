/**
 * Splits chunks into lines. Chunks are kept until their line is complete, so a long line costs its length once. A
 * line above the limit ends the reading.
 */
export interface LineSplitter {
  push(chunk: Buffer): void;
}

export function createLineSplitter(
  maxBytes: number,
  onLine: (line: Buffer) => void,
  onTooLong: () => void,
): LineSplitter {
  let parts: Buffer[] = [];
  let size = 0;
  let done = false;
  return {
    push(chunk) {
      let from = 0;
      while (!done && from < chunk.length) {
        const at = chunk.indexOf(0x0a, from);
        const part = chunk.subarray(from, at === -1 ? chunk.length : at);
        from += part.length + 1;
        size += part.length;
        // INVARIANT: what is kept of a line never exceeds its limit.
        if (size > maxBytes) {
          done = true;
          parts = [];
          return onTooLong();
        }
        parts.push(part);
        if (at === -1) return;
        const line = parts.length === 1 ? part : Buffer.concat(parts, size);
        parts = [];
        size = 0;
        onLine(line);
      }
    },
  };
}
