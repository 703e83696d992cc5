/** The HTTP routes about reversals and rollbacks. Part of the table in http-routes.ts. Data only. */
import type { HttpRoute } from '../http-route.ts';

export const reversalRoutes = {
  redeemReversal: {
    method: 'POST',
    path: '/v1/reversals',
    needs: 'change_session',
    summary: 'Undoes a call: an agent by its token, an administrator by its id.',
    query: {},
    body: 'ReversalRequest',
    answer: 'Reply',
  },
  readReversal: {
    method: 'GET',
    path: '/v1/calls/{id}/reversal',
    needs: 'look_own',
    summary: 'With what a call would be undone now, or by which call it was.',
    query: {},
    body: null,
    answer: 'ReversalView',
  },
  rollBackSession: {
    method: 'POST',
    path: '/v1/sessions/{id}/rollback',
    needs: 'change_session',
    summary: 'Undoes the calls of a session, the last first: its agent, or an administrator. Closes the session.',
    query: {},
    body: 'UndoSessionRequest',
    answer: 'RollbackView',
  },
  readRollback: {
    method: 'GET',
    path: '/v1/sessions/{id}/rollback',
    needs: 'look_own',
    summary: 'How the rollback of a session stands.',
    query: {},
    body: null,
    answer: 'RollbackView',
  },
} as const satisfies Record<string, HttpRoute>;
