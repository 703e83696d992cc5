/**
 * Implements the `agents …` commands on the keys beside a store: opens them, does one thing, closes them. Needs no
 * gateway.
 */
import { KeyringError, type KeyringReason } from '../../adapters/keyring-sqlite/keyring-error.ts';
import type { SqliteKeyring } from '../../adapters/keyring-sqlite/sqlite-keyring.ts';
import type { AgentsParts, KeysAnswer } from '../../doors/cli/commands/agents.ts';
import { openKeysOf } from './key-files.ts';

type Manage = Omit<AgentsParts, 'operator' | 'nowMs' | 'durationMs'>;

export const manageKeys: Manage = {
  list: (file, tenant) => withKeys(file, false, [], (keyring) => keyring.list(tenant)),
  add: (file, key, nowMs) => withKeys(file, true, null, (keyring) => keyring.add(key, nowMs)),
  rotate: (file, { tenant, id, graceMs, by }, nowMs) =>
    withKeys(file, false, null, (keyring) => keyring.rotate(tenant, id, graceMs, by, nowMs)),
  revoke: (file, { tenant, id }, nowMs) => withKeys(file, false, false, (keyring) => keyring.revoke(tenant, id, nowMs)),
};

/** `none`: the answer if there is no file. */
async function withKeys<Value>(
  store: string,
  create: boolean,
  none: Value,
  ask: (keyring: SqliteKeyring) => Promise<Value>,
): Promise<KeysAnswer<Value>> {
  const opened = await openKeysOf(store, { create });
  if (opened.kind === 'refused') {
    if (opened.reason === 'missing') return { kind: 'answered', value: none };
    return { kind: 'refused', because: 'store', message: opened.message };
  }
  try {
    return { kind: 'answered', value: await ask(opened.keyring) };
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    return { kind: 'refused', because: reasons[error.reason] ?? 'store', message: error.message };
  } finally {
    await opened.keyring.close();
  }
}

const reasons: Readonly<Partial<Record<KeyringReason, 'request' | 'keys'>>> = {
  bad_request: 'request',
  too_many_keys: 'keys',
  ended: 'keys',
};
