/**
 * Approvals as a stream of events: one for each change, with the approval as it is when the change is told. Of the tenant for people,
 * its own for an agent. Whoever does not say where they were hears what happens from now on: the list tells the rest.
 */
import { type ApprovalEvent, approvalChanges } from '../../core/approval/approval-view.ts';
import { isObject } from '../../core/values/json.ts';
import type { ToldRecord } from '../../shell/look/inspect.ts';
import type { Asked } from './answer.ts';
import { scopeOf, time } from './call-routes.ts';
import { eventText, type Telling, textOf } from './event-streams.ts';

export const approvalStream: Telling = {
  begin: ({ parts }) => parts.view.head(),
  async page(asked, after, limit) {
    const { records, last, more } = await asked.parts.view.records(asked.who.tenant, after, limit);
    const events: { readonly at: ToldRecord; readonly text: () => string }[] = [];
    for (const record of records) {
      const event = await eventOf(record, asked);
      if (event !== null) events.push({ at: record, text: () => eventText(record, 'approval', event) });
    }
    return { events, last, more };
  },
};

const changes: Readonly<Record<string, ApprovalEvent['change'] | undefined>> = approvalChanges;

/** Null for what is about something else, or about an approval that the reader must not see. */
async function eventOf(record: ToldRecord, { who, parts }: Asked): Promise<ApprovalEvent | null> {
  const change = Object.hasOwn(changes, record.kind) ? changes[record.kind] : undefined;
  const id = change === undefined ? null : approvalIn(record.body);
  if (change === undefined || id === null) return null;
  const approval = await parts.approvals.read(id, scopeOf(who));
  return approval === null ? null : { position: textOf(record), change, at: time(record.timeMs), approval };
}

/** Whoever reads a journal must be able to read a broken one. */
function approvalIn(body: string): string | null {
  try {
    const read: unknown = JSON.parse(body);
    const id = isObject(read) ? read['approval'] : undefined;
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}
