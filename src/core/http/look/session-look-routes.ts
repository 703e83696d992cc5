/** The HTTP routes by which people look at the graph of a workflow session. Part of the table in http-routes.ts. Data only. */
import { type HttpRoute } from '../http-route.ts';

export const sessionLookRoutes = {
  readSessionGraph: {
    method: 'GET',
    path: '/v1/sessions/{id}/graph',
    needs: 'look',
    summary: 'The drawing of the workflow of a session, with the path that the session took and where it was refused.',
    query: {},
    body: null,
    answer: 'SessionGraph',
  },
  readSessionState: {
    method: 'GET',
    path: '/v1/sessions/{id}/state',
    needs: 'look',
    summary: 'The state of a workflow session after step `seq`, or now.',
    query: { seq: { kind: 'count', max: Number.MAX_SAFE_INTEGER } },
    body: null,
    answer: 'SessionState',
  },
} as const satisfies Record<string, HttpRoute>;
