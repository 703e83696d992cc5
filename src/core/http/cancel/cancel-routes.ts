/** Routes that cancel: one call, a turn of a session, or the whole session. Data only. */
import type { HttpRoute } from '../http-route.ts';

export const cancelRoutes = {
  cancelCall: {
    method: 'POST',
    path: '/v1/calls/{id}/cancel',
    needs: 'change_session',
    summary:
      'Cancels a call. The answer says whether it was still there to cancel; its reply tells what is known of it.',
    query: {},
    body: 'CancelCallRequest',
    answer: 'Cancelled',
  },
  cancelSession: {
    method: 'POST',
    path: '/v1/sessions/{id}/cancel',
    needs: 'change_session',
    summary: 'Cancels a session for good, or only a `turn` of it: what runs is stopped, later calls are refused.',
    query: {},
    body: 'CancelRequest',
    answer: 'Cancelled',
  },
} as const satisfies Readonly<Record<string, HttpRoute>>;
