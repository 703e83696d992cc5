/**
 * Reads the body of an HTTP request, for every door that speaks HTTP. Bounded in size, and in how long the client may
 * pause. The door says how the bytes are parsed.
 */
import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'too_large' }
  /** The client paused for longer than the limit. */
  | { readonly kind: 'stalled' }
  /** The connection was lost before the body was complete. */
  | { readonly kind: 'broken' };

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyStallMs: number;
}

/**
 * A refused body is read up to so many times the limit: most clients read the answer only after they have sent
 * everything.
 */
const refusedBodyFactor = 8;

/** `parse` throws if the bytes are not JSON. */
export function readBody(
  request: IncomingMessage,
  { maxBodyBytes, bodyStallMs }: BodyLimits,
  parse: (bytes: Buffer) => unknown,
): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isOver = false;
    const end = (body: () => Body) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(stalled);
      resolve(body());
    };
    const stalled = setTimeout(() => end(() => ({ kind: 'stalled' })), bodyStallMs);
    request.on('data', (chunk: Buffer) => {
      if (!isOver) stalled.refresh();
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) return void chunks.push(chunk);
      chunks.length = 0;
      end(() => ({ kind: 'too_large' }));
      if (bytes > maxBodyBytes * refusedBodyFactor) request.destroy();
    });
    request.on('end', () => end(() => (bytes === 0 ? { kind: 'none' } : parsed(chunks, parse))));
    const broken = () => end(() => ({ kind: 'broken' }));
    request.on('error', broken).on('close', broken);
  });
}

function parsed(chunks: readonly Buffer[], parse: (bytes: Buffer) => unknown): Body {
  try {
    return { kind: 'json', value: parse(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)) };
  } catch {
    return { kind: 'not_json' };
  }
}

const jsonType = /^\s*application\/json\s*(?:;|$)/i;

export const isJson = (contentType: string | undefined): boolean => jsonType.test(contentType ?? '');
