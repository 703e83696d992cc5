/** SHA-256 and UTF-8 by Node: what the core's journal needs of the world. */
import { hash } from 'node:crypto';

import type { Hashing } from '../../core/journal/record.ts';

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

export const nodeHashing: Hashing = {
  sha256: (bytes) => hash('sha256', bytes, 'buffer'),
  utf8: (text) => Buffer.from(text, 'utf8'),
  text: (bytes) => decoder.decode(bytes),
};
