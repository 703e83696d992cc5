/** The HTTP routes by which people look at calls and at the journal. Part of the table in http-routes.ts. Data only. */
import { type HttpRoute, text } from '../http-route.ts';

/** Records of the journal in one page; fewer if they are large. */
export const maxJournalPage = 500;

/** How far before its end a reader of the stream of calls may begin. */
export const maxRecordsBack = 5_000;

export const callLookRoutes = {
  readCallEvents: {
    method: 'GET',
    path: '/v1/calls/events',
    needs: 'look',
    summary:
      'Calls of the tenant as they are decided and end, each an event `call` with a CallMoment; `back` records further back.',
    query: {
      after: { kind: 'position' },
      back: { kind: 'count', max: maxRecordsBack },
      follow: { kind: 'choice', of: ['true', 'false'] },
    },
    body: null,
    answer: 'text/event-stream',
  },
  readCallStory: {
    method: 'GET',
    path: '/v1/calls/{id}/story',
    needs: 'look',
    summary: 'All that is on record about a call: ladder, attempts, request, reply, records.',
    query: {},
    body: null,
    answer: 'CallStory',
  },
  replayCall: {
    method: 'GET',
    path: '/v1/calls/{id}/replay',
    needs: 'look',
    summary: 'Decides the failures of a call again from its records, and says whether that comes out equal.',
    query: {},
    body: null,
    answer: 'CallReplay',
  },
  makeGolden: {
    method: 'GET',
    path: '/v1/calls/{id}/golden',
    needs: 'look',
    summary: 'A golden made from a call that failed, as the text of a file. Writes nothing.',
    query: {},
    body: null,
    answer: 'CallGolden',
  },
  readJournal: {
    method: 'GET',
    path: '/v1/journal',
    needs: 'look',
    summary: "The journal as it is stored, page by page, to verify it: people of the operator's tenant only.",
    query: { after: { kind: 'position' }, limit: { kind: 'count', max: maxJournalPage } },
    body: null,
    answer: 'JournalPage',
  },
  readToolHealth: {
    method: 'GET',
    path: '/v1/tools/health',
    needs: 'look',
    summary: 'Every tool with its server, effect class, drift, and how its last calls ended.',
    query: { tool: text },
    body: null,
    answer: 'ToolHealth',
  },
} as const satisfies Record<string, HttpRoute>;
