/** What did the client send? Read once, with a limit, as JSON. Must not know what it means. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { parseExactly } from '../../core/values/json.ts';

export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'too_large' }
  /** Nothing came for too long. */
  | { readonly kind: 'stalled' }
  /** The client went away in the middle of it. */
  | { readonly kind: 'broken' };

/** A refused body is read on for so many times the limit, so that a client that sends first hears the answer. */
const patience = 8;

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyStallMs: number;
}

export async function readBody(request: IncomingMessage, { maxBodyBytes, bodyStallMs }: BodyLimits): Promise<Body> {
  const { promise, resolve } = Promise.withResolvers<Body>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isRead = false;
  const stalled = setTimeout(() => resolve({ kind: 'stalled' }), bodyStallMs);
  request.on('data', (chunk: Buffer) => {
    if (!isRead) stalled.refresh();
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) return void chunks.push(chunk);
    chunks.length = 0;
    resolve({ kind: 'too_large' });
    if (bytes > maxBodyBytes * patience) request.destroy();
  });
  request.on('end', () => resolve(bytes === 0 ? { kind: 'none' } : parse(chunks)));
  // Comes in any case, after an error too; what is resolved already stays as it is.
  request.on('close', () => resolve({ kind: 'broken' }));
  const body = await promise;
  isRead = true;
  clearTimeout(stalled);
  return body;
}

function parse(chunks: readonly Buffer[]): Body {
  const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  // What is no UTF-8 would come through with other characters than were sent.
  if (!isUtf8(bytes)) return { kind: 'not_json' };
  try {
    return { kind: 'json', value: parseExactly(bytes.toString('utf8')) };
  } catch {
    return { kind: 'not_json' };
  }
}

const jsonType = /^\s*application\/json\s*(?:;|$)/i;

export const isJson = (contentType: string | undefined): boolean => jsonType.test(contentType ?? '');

/** Whether there is one at all, by what the headers say. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
