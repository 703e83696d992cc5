/**
 * Tells the journal as it is stored, so that it can be verified elsewhere. INVARIANT: records of other tenants are
 * sealed: their place in the chain is told, and nothing that they say.
 */
import { createHash } from 'node:crypto';
import { operatorTenant } from '../../../core/call/identity.ts';
import { maxJournalPage } from '../../../core/http/look/call-look-routes.ts';
import { decodeHeader } from '../../../core/journal/encode.ts';
import type { Hashing, Header, Position } from '../../../core/journal/record.ts';
import { hex, type StoredRecord } from '../../../core/journal/verify.ts';
import type { TenantView } from '../../../shell/look/tenant-view.ts';
import { type Answer, type Asked, json, refuse } from '../answer.ts';
import { textOf } from '../event-streams.ts';

export async function readJournal({ who, query, parts }: Asked): Promise<Answer> {
  if (who.tenant !== operatorTenant)
    return refuse('RoleForbidden', `the whole journal is shown to people of the tenant '${operatorTenant}'`);
  const limit = Math.max(1, Number(query['limit'] ?? maxJournalPage));
  const { epochs, records, more } = await parts.looks.journal(positionIn(query['after']), limit);
  const { view } = parts;
  const told: object[] = [];
  for (const record of records) told.push(await recordFor(who.tenant, record, view));
  return json({ epochs, records: told, more });
}

function positionIn(said: string | number | undefined): Position | null {
  if (said === undefined) return null;
  const [epoch = 0, seq = 0] = String(said).split('.').map(Number);
  return { epoch, seq };
}

async function recordFor(tenant: string, record: StoredRecord, view: TenantView): Promise<object> {
  const header = decodeHeader(record.header, hashing);
  // Nobody knows whose a damaged record is: its hash shows that it is damaged.
  const isOpen = !('problem' in header) && (await isFor(tenant, header, view));
  return isOpen ? openRecord(record) : sealedRecord(record);
}

/** Records of the journal itself are about nobody's calls. */
const ofTheJournal: ReadonlySet<string> = new Set(['epoch_open', 'epoch_close', 'anchor', 'clock_held', 'erased']);

async function isFor(tenant: string, { kind, call, session, body }: Header, view: TenantView): Promise<boolean> {
  const owner = await view.tenantOf({ call, session, body });
  return owner === tenant || (owner === null && call === null && ofTheJournal.has(kind));
}

function openRecord(record: StoredRecord): object {
  return {
    position: textOf(record),
    kind: record.kind ?? '',
    call: record.call ?? null,
    header: base64(record.header),
    hash: hex(record.hash),
    payloads: record.payloads.map((each) =>
      each === null ? null : { salt: base64(each.salt), bytes: base64(each.bytes) },
    ),
  };
}

const chainAt = 2;
const chainEnd = 18;

function sealedRecord(record: StoredRecord): object {
  const leaf = hashing.sha256(Buffer.concat([Buffer.of(0), record.header]));
  const chain = hex(record.header.subarray(chainAt, chainEnd));
  return { position: textOf(record), chain, leaf: hex(leaf), hash: hex(record.hash) };
}

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

const hashing: Hashing = {
  sha256: (bytes) => createHash('sha256').update(bytes).digest(),
  utf8: (text) => Buffer.from(text, 'utf8'),
  text: (bytes) => decoder.decode(bytes),
};

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
