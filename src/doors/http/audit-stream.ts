/** The journal as a stream of events: each record of the reader's tenant, whole, from the first or from where the reader was. */
import type { ToldRecord } from '../../shell/look/inspect.ts';
import { time } from './call-routes.ts';
import { eventText, type Telling, textOf } from './event-streams.ts';

export const auditStream: Telling = {
  begin: async () => null,
  async page({ who, parts }, after, limit) {
    const { records, last, more } = await parts.view.records(who.tenant, after, limit);
    return { events: records.map((record) => ({ at: record, text: () => eventOf(record) })), last, more };
  },
};

function eventOf(record: ToldRecord): string {
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

/** Whoever reads a journal must be able to read a broken one. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
