/** The HTTP routes of the improvement loop. Part of the table in http-routes.ts. Data only. */
import type { HttpRoute } from '../http-route.ts';

export const improvementRoutes = {
  listImprovements: {
    method: 'GET',
    path: '/v1/feedback',
    needs: 'administer',
    summary: 'Feedback, proposals and releases, the last first, and whether the steps on record hold.',
    query: {},
    body: null,
    answer: 'Improvements',
  },
  addFeedback: {
    method: 'POST',
    path: '/v1/feedback',
    needs: 'administer',
    summary: 'Says that a call was handled wrong.',
    query: {},
    body: 'FeedbackRequest',
    answer: 'Improvement',
  },
  readImprovement: {
    method: 'GET',
    path: '/v1/feedback/{id}',
    needs: 'administer',
    summary: 'One piece of feedback, one proposal with what would come out otherwise, or one release.',
    query: {},
    body: null,
    answer: 'Improvement',
  },
  proposeChange: {
    method: 'POST',
    path: '/v1/proposals',
    needs: 'administer',
    summary: 'Proposes entries of the playbook, or a whole recourse.yaml, and says what would come out otherwise.',
    query: {},
    body: 'ProposalRequest',
    answer: 'Improvement',
  },
  releaseChange: {
    method: 'POST',
    path: '/v1/proposals/{id}/release',
    needs: 'administer',
    summary: 'Releases a proposal: its playbook may be put in force.',
    query: {},
    body: 'ReleaseRequest',
    answer: 'Improvement',
  },
  rollBackRelease: {
    method: 'POST',
    path: '/v1/releases/{id}/rollback',
    needs: 'administer',
    summary: 'Takes back the last release in force: the playbook before it counts again.',
    query: {},
    body: 'RollbackRequest',
    answer: 'Improvement',
  },
} as const satisfies Record<string, HttpRoute>;
