/** What does the reply of a call say beside its outcome, whichever process ends it? That a person changed it is on record with its use. */
import type { CallId } from '../../core/call/call.ts';
import type { Notice } from '../../core/call/reply.ts';
import type { Shell } from '../shell.ts';

export async function noticesOf(id: CallId, { ports }: Shell): Promise<readonly Notice[]> {
  const approval = await ports.store.approvalOfCall(id);
  if (approval === null || approval.edit === null) return [];
  const used = (await ports.store.recordsOf(id)).find(({ kind }) => kind === 'approval_used');
  return used === undefined ? [] : ((JSON.parse(used.body) as { notices?: readonly Notice[] }).notices ?? []);
}
