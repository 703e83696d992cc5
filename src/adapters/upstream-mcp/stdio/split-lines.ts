/**
 * Which lines does a stream of chunks hold? Chunks are kept as they came until their line is whole, so a long line costs
 * its length once. Must not keep more than one line's limit: the first longer one is the last thing that is read.
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
