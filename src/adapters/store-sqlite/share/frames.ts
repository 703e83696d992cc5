/**
 * Frames messages between processes on a stream: a length in four bytes, then JSON. Anything else ends the connection.
 */
const lengthBytes = 4;

/** More than the largest batch can take after its quotes were escaped. */
export const maxFrameBytes = 32 << 20;

/** Null if the text is too long for one frame. */
export function encodeFrame(text: string): Buffer | null {
  const size = Buffer.byteLength(text);
  if (size > maxFrameBytes) return null;
  const frame = Buffer.allocUnsafe(lengthBytes + size);
  frame.writeUInt32BE(size);
  frame.write(text, lengthBytes);
  return frame;
}

/** Feed it chunks; it gives back whole values, or false once something came that is no frame. */
export function createFrameReader(receive: (value: unknown) => boolean): (chunk: Uint8Array) => boolean {
  let chunks: Uint8Array[] = [];
  let held = 0;
  let wanted: number | null = null;

  const take = (size: number): Buffer => {
    const all = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, held);
    held -= size;
    chunks = held === 0 ? [] : [all.subarray(size)];
    return Buffer.from(all.buffer, all.byteOffset, size);
  };

  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    for (;;) {
      if (wanted === null) {
        if (held < lengthBytes) return true;
        wanted = take(lengthBytes).readUInt32BE();
        if (wanted > maxFrameBytes) return false;
      }
      if (held < wanted) return true;
      const text = take(wanted).toString('utf8');
      wanted = null;
      try {
        if (!receive(JSON.parse(text))) return false;
      } catch (error) {
        if (error instanceof SyntaxError) return false;
        throw error;
      }
    }
  };
}
