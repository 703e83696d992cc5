/** The API keys of agents and operators: stored as hashes, shown once, rotated, revoked. */
import type { Identity, KeyRole } from '../core/call/identity.ts';

export interface KeyEntry {
  /** Public part of the key. */
  readonly id: string;
  readonly tenant: string;
  readonly role: KeyRole;
  readonly name: string;
  readonly createdAtMs: number;
  readonly createdBy: string;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** To the minute; null if it was never used. */
  readonly usedAtMs: number | null;
}

export interface NewKey {
  readonly tenant: string;
  readonly role: KeyRole;
  readonly name: string;
  readonly createdBy: string;
  readonly expiresAtMs: number | null;
}

export interface Keyring {
  /** Null for a key that is unknown, expired or revoked. Takes the same time for each. */
  find(key: string, nowMs: number): Promise<Identity | null>;
  /** The hashes of the secrets of those of these keys that work, by id. Does not count as use. */
  liveHashes(ids: readonly string[], nowMs: number): Promise<ReadonlyMap<string, string>>;
  /** `key` is shown here and never again. */
  add(key: NewKey, nowMs: number): Promise<{ readonly entry: KeyEntry; readonly key: string }>;
  /** A new secret for the same holder; the old one keeps working for `graceMs`. Null if there is no such key. */
  rotate(
    tenant: string,
    id: string,
    graceMs: number,
    by: string,
    nowMs: number,
  ): Promise<{ readonly entry: KeyEntry; readonly key: string } | null>;
  /** False if there is no such key in the tenant. */
  revoke(tenant: string, id: string, nowMs: number): Promise<boolean>;
  list(tenant: string): Promise<readonly KeyEntry[]>;
  close(): Promise<void>;
}
