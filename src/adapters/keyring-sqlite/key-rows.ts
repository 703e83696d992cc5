/** A row of the table and the entry it stands for. A row that this version cannot have written is damage. */
import { keyRoles, type KeyRole } from '../../core/call/identity.ts';
import type { KeyEntry } from '../../ports/keyring.ts';
import { damaged } from './keyring-error.ts';

export interface KeyRow {
  readonly id: string;
  readonly tenant: string;
  readonly role: string;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly created_at: number;
  readonly created_by: string;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly used_at: number | null;
  /** The key that took its place when it was rotated. */
  readonly replaced_by: string | null;
}

export const hashBytes = 32;

export function entryOf(row: KeyRow, file: string): KeyEntry {
  if (!(keyRoles as readonly string[]).includes(row.role) || row.hash.length !== hashBytes) throw damaged(file);
  return {
    id: row.id,
    tenant: row.tenant,
    role: row.role as KeyRole,
    name: row.name,
    createdAtMs: row.created_at,
    createdBy: row.created_by,
    expiresAtMs: row.expires_at,
    revokedAtMs: row.revoked_at,
    usedAtMs: row.used_at,
  };
}
