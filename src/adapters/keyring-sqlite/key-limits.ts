/** The limits of the keyring, and the checks of names, tenants and expiry times. */
import { keyRoles } from '../../core/call/identity.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { NewKey } from '../../ports/keyring.ts';
import { KeyringError } from './keyring-error.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

export const keyLimits = {
  /** Rows of one tenant. Ended keys are deleted to make room. */
  maxKeysOfTenant: 10_000,
  /** The longest lifetime of a key that expires. */
  maxLifeMs: 3_650 * day,
  /** How long a rotated key may keep working. */
  maxGraceMs: 30 * day,
  /** How long a found key is cached: a revocation takes effect within this time. */
  foundForMs: second,
  maxFound: 1_024,
  /** `used_at` has minute resolution and is written in batches of this time. */
  markEveryMs: second,
  maxMarks: 10_000,
  /** Changes that wait for the thread that writes. */
  maxWaiting: 1_024,
} as const;

/** Control, bidirectional and invisible characters. */
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
