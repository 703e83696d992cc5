/**
 * Erases the payloads of a call: salt and bytes are deleted, the commitments stay, and a record says what and why.
 * Arguments that an approver changed, or that answered a ticket, are deleted with them.
 */
import { canonicalText } from '../../../core/values/canonical.ts';
import type { CallId, SessionId } from '../../../core/call/call.ts';
import { decodeHeader } from '../../../core/journal/encode.ts';
import type { Position } from '../../../core/journal/record.ts';
import type { CommitResult } from '../../../ports/store.ts';
import type { Writing } from './apply-transition.ts';
import { nodeHashing } from '../node-hashing.ts';
import { type CallRow, placeOf, positionOf } from '../read/rows.ts';

export interface EraseRequest {
  readonly erase: CallId;
  readonly reason: string;
  readonly atMs: number;
}

export function eraseCall({ erase, reason, atMs }: EraseRequest, { statements, ledger, chain }: Writing): CommitResult {
  const call = statements.call.get(erase) as CallRow | undefined;
  if (call === undefined) return { kind: 'conflict', on: 'call', found: null };
  const payloads: (Position & { part: string })[] = [];
  const rows = statements.recordsOfCall.all(erase) as unknown as { at: number; header: Uint8Array; payload: number }[];
  for (const row of rows) {
    const header = decodeHeader(row.header, nodeHashing);
    if ('problem' in header) continue;
    for (const [index, { part }] of header.commitments.entries())
      if (statements.deletePayload.run(row.payload + index).changes === 1)
        payloads.push({ ...positionOf(row.at), part });
  }
  const edited = (statements.eraseEdits.all(erase) as unknown as { id: string }[]).map(({ id }) => id).sort();
  const answers = (statements.eraseAnswers.all(erase) as unknown as { id: string }[]).map(({ id }) => id).sort();
  // Nothing was left to erase: asking twice is asking once.
  if (payloads.length + edited.length + answers.length === 0)
    return { kind: 'committed', seq: call.seq, position: null };
  const session = call.session === null ? null : ledger.session(call.session);
  if (session !== null) {
    session.entries += 1;
    session.changed = true;
  }
  const body = canonicalText({
    payloads,
    reason,
    ...(edited.length === 0 ? {} : { approvals: edited }),
    ...(answers.length === 0 ? {} : { tickets: answers }),
  });
  const draft = { kind: 'erased' as const, call: erase, session: call.session as SessionId | null, body, payloads: [] };
  const seq = chain.append(draft, session?.entries ?? 0, atMs);
  if (session !== null && session.workflow !== null)
    statements.insertEntry.run(session.id, session.entries, placeOf({ epoch: chain.head().epoch, seq }));
  return { kind: 'committed', seq: call.seq, position: { epoch: chain.head().epoch, seq } };
}
