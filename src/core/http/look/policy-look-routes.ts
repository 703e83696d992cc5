/** The HTTP routes by which people look at the policy and at what it decides. Part of the table in http-routes.ts. Data only. */
import { type HttpRoute } from '../http-route.ts';

export const policyLookRoutes = {
  readPolicyFile: {
    method: 'GET',
    path: '/v1/policy/file',
    needs: 'look',
    summary: 'The lines that the policy is written in, as they are on disk, and what `recourse check` says about them.',
    query: {},
    body: null,
    answer: 'PolicyFile',
  },
  readPolicyCoverage: {
    method: 'GET',
    path: '/v1/policy/coverage',
    needs: 'look',
    summary: 'How often each rule of the policy in force has decided, from the journal.',
    query: {},
    body: null,
    answer: 'PolicyCoverage',
  },
  listLimits: {
    method: 'GET',
    path: '/v1/limits',
    needs: 'look',
    summary: 'Rate limits as they stand: how many calls each lets through now, and when it is full again.',
    query: {},
    body: null,
    answer: 'LimitList',
  },
} as const satisfies Record<string, HttpRoute>;
