/** The event streams: every record of the journal, every change of an approval, and calls as they are decided and end. */
import { type ApprovalEvent, approvalChanges } from '../../core/approval/approval-view.ts';
import type { CallMoment } from '../../core/http/look/call-look.ts';
import { isObject } from '../../core/values/json.ts';
import type { Moment } from '../../shell/look/call-looks.ts';
import type { ExplainedRecord } from '../../shell/look/inspect.ts';
import type { Asked } from './answer.ts';
import { scopeOf, time } from './call-routes.ts';
import { eventText, type StreamSource, textOf } from './event-streams.ts';

/** The journal: each record of the reader's tenant, from the first or from where the reader stopped. */
export const auditStream: StreamSource = {
  begin: async () => null,
  async page({ who, parts }, after, limit) {
    const { records, last, more } = await parts.view.records(who.tenant, after, limit);
    return { events: records.map((record) => ({ at: record, text: () => recordText(record) })), last, more };
  },
};

function recordText(record: ExplainedRecord): string {
  const data = {
    position: textOf(record),
    kind: record.kind,
    meaning: record.meaning,
    at: time(record.timeMs),
    call_id: record.call,
    session: record.session,
    session_seq: record.sessionSeq,
    hash: record.hash,
    body: parsed(record.body),
    payloads: record.payloads,
  };
  return eventText(record, 'record', data);
}

/** The text itself if it is not JSON: a damaged journal can still be read. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/**
 * Changes of approvals, each with the approval as it is when the event is sent. People get those of the tenant, an
 * agent its own. A reader that names no position starts at the end of the journal; the list has the rest.
 */
export const approvalStream: StreamSource = {
  begin: ({ parts }) => parts.view.head(),
  async page(asked, after, limit) {
    const { records, last, more } = await asked.parts.view.records(asked.who.tenant, after, limit);
    const events: { readonly at: ExplainedRecord; readonly text: () => string }[] = [];
    for (const record of records) {
      const event = await approvalEvent(record, asked);
      if (event !== null) events.push({ at: record, text: () => eventText(record, 'approval', event) });
    }
    return { events, last, more };
  },
};

/** Calls of the tenant, from when the reader comes, or so many records before, in the same epoch. */
export const callStream: StreamSource = {
  async begin({ parts, query }) {
    const { epoch, seq } = await parts.view.head();
    return { epoch, seq: Math.max(0, seq - Number(query['back'] ?? 0)) };
  },
  async page({ who, parts }, after, limit) {
    const { records, last, more } = await parts.view.records(who.tenant, after, limit);
    const events: { readonly at: ExplainedRecord; readonly text: () => string }[] = [];
    for (const record of records) {
      const moment = await parts.looks.moment(record);
      if (moment !== null) events.push({ at: record, text: () => eventText(record, 'call', momentView(moment)) });
    }
    return { events, last, more };
  },
};

function momentView({ record, call, body }: Moment): CallMoment {
  const word = (name: string) => (typeof body[name] === 'string' ? body[name] : null);
  const end = isObject(body['end']) ? body['end'] : {};
  const code = body['code'] ?? end['code'];
  const { verdict } = end;
  return {
    position: textOf(record),
    change: record.kind,
    at: time(record.timeMs),
    call_id: call.id,
    agent: call.agent,
    tool: call.tool,
    session: call.session,
    state: (word('state') ?? call.state) as CallMoment['state'],
    code: typeof code === 'string' ? code : null,
    verdict: typeof verdict === 'string' ? verdict : null,
    gate: word('gate'),
    rule: word('rule'),
    attempt: typeof body['attempt'] === 'number' ? body['attempt'] : null,
    created_at: time(call.createdAtMs),
  };
}

const changes: Readonly<Record<string, ApprovalEvent['change'] | undefined>> = approvalChanges;

/** Null for a record about something else, or about an approval that the reader may not see. */
async function approvalEvent(record: ExplainedRecord, { who, parts }: Asked): Promise<ApprovalEvent | null> {
  const change = Object.hasOwn(changes, record.kind) ? changes[record.kind] : undefined;
  const body = change === undefined ? null : parsed(record.body);
  const id = isObject(body) ? body['approval'] : null;
  if (change === undefined || typeof id !== 'string') return null;
  const approval = await parts.approvals.read(id, scopeOf(who));
  return approval === null ? null : { position: textOf(record), change, at: time(record.timeMs), approval };
}
