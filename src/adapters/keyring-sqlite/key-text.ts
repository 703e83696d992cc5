/**
 * The format of a key, `rk_<id>_<secret>`. The id is public; only the hash of the secret is stored. Must not keep, log
 * or show a secret.
 */
import { hash, randomBytes } from 'node:crypto';

/** Crockford's base 32, in small letters: no i, l, o or u. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
export const idClass = '[0-9a-hjkmnp-tv-z]';
export const idChars = 16;
const secretBytes = 32;
export const secretChars = 43;

const written = new RegExp(`^rk_(${idClass}{${idChars}})_([\\w-]{${secretChars}})$`);

export interface MadeKey {
  readonly id: string;
  readonly hash: Uint8Array;
  /** The whole key, shown to its holder once. */
  readonly key: string;
}

export interface ReadKey {
  readonly id: string;
  readonly hash: Buffer;
}

export function makeKey(): MadeKey {
  const id = Array.from(randomBytes(idChars), (byte) => alphabet[byte & 31]).join('');
  const secret = randomBytes(secretBytes).toString('base64url');
  return { id, hash: hashOf(secret), key: `rk_${id}_${secret}` };
}

/** Null for what cannot be a key. */
export function readKey(text: string): ReadKey | null {
  const [, id, secret] = written.exec(text) ?? [];
  return id === undefined || secret === undefined ? null : { id, hash: hashOf(secret) };
}

/** The same check without hashing. */
export const isKeyText = (text: string): boolean => written.test(text);

/** A secret of 256 random bits cannot be guessed from its hash, so a fast hash without salt is enough. */
const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** The same as text. */
export const secretHash = (secret: string): string => hash('sha256', secret, 'hex');
