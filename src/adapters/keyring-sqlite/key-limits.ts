/** Every limit of the keyring, by name, and what a name, a tenant and a time must be. */
import { keyRoles } from '../../core/call/identity.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { NewKey } from '../../ports/keyring.ts';
import { KeyringError } from './keyring-error.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

export const keyLimits = {
  /** Rows of one tenant. Keys that ended make way for new ones; if all of them live, there is no room. */
  maxKeysOfTenant: 10_000,
  /** The furthest end of a key that has one. */
  maxLifeMs: 3_650 * day,
  /** How long a rotated key may work on. */
  maxGraceMs: 30 * day,
  /** How long a key that was found is believed without a look into the file: a revocation takes effect within it. */
  foundForMs: second,
  maxFound: 1_024,
  /** `used_at` is written to the minute, and together for all keys used within this time. */
  markEveryMs: second,
  maxMarks: 10_000,
  /** Changes that wait for the thread that writes. */
  maxWaiting: 1_024,
} as const;

/** What would move a cursor, turn a line around, or look like nothing. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export function checkNewKey({ tenant, role, name, createdBy, expiresAtMs }: NewKey, nowMs: number): void {
  checkName('the name', name);
  checkName('the tenant', tenant);
  checkName('who makes it', createdBy);
  if (!keyRoles.includes(role)) bad(`the role must be ${keyRoles.join(', ')}`);
  if (expiresAtMs === null) return;
  if (!Number.isSafeInteger(expiresAtMs) || expiresAtMs <= nowMs || expiresAtMs - nowMs > keyLimits.maxLifeMs)
    bad(`a key ends in the future, and within ${keyLimits.maxLifeMs / day} days`);
}

export function checkRotation(graceMs: number, by: string): void {
  checkName('who rotates it', by);
  if (!Number.isSafeInteger(graceMs) || graceMs < 0 || graceMs > keyLimits.maxGraceMs)
    bad(`a rotated key works on for at most ${keyLimits.maxGraceMs / day} days`);
}

function checkName(what: string, text: string): void {
  const { maxNameChars } = defaultLimits;
  if (text === '' || text.length > maxNameChars) bad(`${what} must have 1 to ${maxNameChars} characters`);
  if (invisible.test(text)) bad(`${what} must have no control or invisible characters`);
  if (text.trim() !== text) bad(`${what} must not begin or end with a space`);
}

function bad(message: string): never {
  throw new KeyringError('bad_request', message);
}
