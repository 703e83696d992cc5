/** Who has a key that may approve? Looks beside the store, and makes nothing. Never throws: a check works without keys. */
import { KeyringError } from '../../adapters/keyring-sqlite/keyring-error.ts';
import { may } from '../../core/call/identity.ts';
import { openKeysBeside } from './keys-beside.ts';
import { defaultTenant } from './operator-token.ts';

/** Whoever looks does not wait for a process that holds the file. */
const patienceMs = 250;

/** Their names; null if there are no keys here, or they cannot be read. */
export async function approversBeside(store: string, nowMs: number): Promise<ReadonlySet<string> | null> {
  const opened = await openKeysBeside(store, { create: false, patienceMs });
  if (opened.kind === 'refused') return null;
  try {
    const keys = await opened.keyring.list(defaultTenant);
    const live = keys.filter(
      ({ expiresAtMs, revokedAtMs }) => revokedAtMs === null && (expiresAtMs ?? Infinity) > nowMs,
    );
    return new Set(live.filter((key) => may({ ...key, keyId: key.id }, 'approve')).map(({ name }) => name));
  } catch (error) {
    if (error instanceof KeyringError) return null;
    throw error;
  } finally {
    await opened.keyring.close();
  }
}
