/** SHA-256 and UTF-8 by Node: what the core's journal needs of the world. */
import { hash } from 'node:crypto';

import type { Hashing } from '../../core/journal/record.ts';

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

export const nodeHashing: Hashing = {
  // Asking for a buffer allocates one from the system: a short text, copied into Node's pool, takes a third of the
  // time.
  sha256: (bytes) => Buffer.from(hash('sha256', bytes, 'binary'), 'binary'),
  utf8: (text) => Buffer.from(text, 'utf8'),
  text: (bytes) => decoder.decode(bytes),
};
