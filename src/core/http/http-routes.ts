/**
 * The table of HTTP routes: path, role, query, body and answers. The door routes by it and openapi-paths.ts documents
 * it, so the two cannot differ. Data only.
 */
import { approvalRoutes } from './approval-routes.ts';
import { budgetRoutes } from './budget-routes.ts';
import { cancelRoutes } from './cancel/cancel-routes.ts';
import { callLookRoutes } from './look/call-look-routes.ts';
import { consoleRoutes } from './console/console-routes.ts';
import { sessionStatusNames } from './http-bodies.ts';
import { type HttpRoute, limit, text } from './http-route.ts';
import { approvalLookRoutes } from './look/approval-look-routes.ts';
import { improvementRoutes } from './improvement/improvement-routes.ts';
import { policyLookRoutes } from './look/policy-look-routes.ts';
import { sessionLookRoutes } from './look/session-look-routes.ts';
import { modelRoutes } from './model-routes.ts';
import { reversalRoutes } from './reversal/reversal-routes.ts';
import { ticketRoutes } from './ticket-routes.ts';
import { callStates } from '../taxonomy.ts';

export { defaultPage, type HttpRoute, maxPage, type QueryField } from './http-route.ts';

const at = Number.MAX_SAFE_INTEGER;

export const httpRoutes = {
  createCall: {
    method: 'POST',
    path: '/v1/calls',
    needs: 'call',
    summary: 'Calls a tool.',
    query: { wait: { kind: 'seconds' } },
    body: 'CallRequest',
    answer: 'Reply',
  },
  listCalls: {
    method: 'GET',
    path: '/v1/calls',
    needs: 'look_own',
    summary: "Calls, the newest first: an agent's own, or those of the tenant.",
    query: {
      agent: text,
      session: text,
      tool: text,
      state: { kind: 'choice', of: Object.keys(callStates) },
      before: text,
      limit,
    },
    body: null,
    answer: 'CallList',
  },
  readCall: {
    method: 'GET',
    path: '/v1/calls/{id}',
    needs: 'look_own',
    summary: 'The reply of a call, or that it is under way.',
    query: {},
    body: null,
    answer: 'Reply',
  },
  settleCall: {
    method: 'POST',
    path: '/v1/calls/{id}/settle',
    needs: 'administer',
    summary: 'Says what became of a call in doubt.',
    query: {},
    body: 'SettleRequest',
    answer: 'Settled',
  },
  evaluate: {
    method: 'POST',
    path: '/v1/evaluate',
    needs: 'look_own',
    summary: 'What would be decided about a call, and why. Nothing runs, and nothing is recorded.',
    query: {},
    body: 'EvaluateRequest',
    answer: 'Explanation',
  },
  openSession: {
    method: 'POST',
    path: '/v1/sessions',
    needs: 'call',
    summary: 'Opens a session: of a workflow, or for calls of tools; `mode` is how far it may reach.',
    query: {},
    body: 'SessionRequest',
    answer: 'OpenedSession',
  },
  listSessions: {
    method: 'GET',
    path: '/v1/sessions',
    needs: 'look_own',
    summary: "Workflow sessions, the last used first: an agent's own, or those of the tenant.",
    query: { agent: text, workflow: text, status: { kind: 'choice', of: sessionStatusNames }, limit },
    body: null,
    answer: 'SessionList',
  },
  readSession: {
    method: 'GET',
    path: '/v1/sessions/{id}',
    needs: 'look_own',
    summary: 'Where a workflow session stands, and what may come next.',
    query: {},
    body: null,
    answer: 'SessionView',
  },
  takeStep: {
    method: 'POST',
    path: '/v1/sessions/{id}/steps',
    needs: 'call',
    summary: 'Takes a step of the workflow.',
    query: { wait: { kind: 'seconds' } },
    body: 'StepRequest',
    answer: 'Reply',
  },
  resetSession: {
    method: 'POST',
    path: '/v1/sessions/{id}/reset',
    needs: 'change_session',
    summary: 'Takes a workflow session back to where its workflow begins.',
    query: {},
    body: 'Nothing',
    answer: 'Reply',
  },
  forkSession: {
    method: 'POST',
    path: '/v1/sessions/{id}/fork',
    needs: 'change_session',
    summary: 'Opens a workflow session that begins where this one stood after step `seq`, or stands now.',
    query: {},
    body: 'ForkRequest',
    answer: 'Reply',
  },
  acceptSession: {
    method: 'POST',
    path: '/v1/sessions/{id}/accept',
    needs: 'administer',
    summary: 'Goes on with a session although its workflow has changed.',
    query: {},
    body: 'Nothing',
    answer: 'Reply',
  },
  readHistory: {
    method: 'GET',
    path: '/v1/sessions/{id}/history',
    needs: 'look_own',
    summary: 'What happened in a workflow session, in order.',
    query: { after: { kind: 'count', max: at }, limit },
    body: null,
    answer: 'HistoryPage',
  },
  ...cancelRoutes,
  ...sessionLookRoutes,
  ...reversalRoutes,
  ...approvalRoutes,
  ...approvalLookRoutes,
  ...ticketRoutes,
  ...budgetRoutes,
  ...improvementRoutes,
  ...modelRoutes,
  ...consoleRoutes,
  ...callLookRoutes,
  listTools: {
    method: 'GET',
    path: '/v1/tools',
    needs: 'look_own',
    summary: 'The tools that are listed to an agent: the one that asks, or the one that an operator names.',
    query: { agent: text },
    body: null,
    answer: 'ToolList',
  },
  readAudit: {
    method: 'GET',
    path: '/v1/audit',
    needs: 'look',
    summary: 'Records of the journal as they come, each an event `record` with an AuditRecord.',
    query: { after: { kind: 'position' }, follow: { kind: 'choice', of: ['true', 'false'] } },
    body: null,
    answer: 'text/event-stream',
  },
  readPolicy: {
    method: 'GET',
    path: '/v1/policy',
    needs: 'look',
    summary: 'The policy that is in force, each rule with its file and line.',
    query: {},
    body: null,
    answer: 'PolicyView',
  },
  ...policyLookRoutes,
  applyPolicy: {
    method: 'POST',
    path: '/v1/policy/apply',
    needs: 'administer',
    summary: 'Reads the policy file anew; it is in force as a whole, or nothing changes.',
    query: {},
    body: 'ApplyRequest',
    answer: 'PolicyApplied',
  },
  readStatus: {
    method: 'GET',
    path: '/v1/status',
    needs: 'look',
    summary: 'How the gateway is.',
    query: {},
    body: null,
    answer: 'StatusReport',
  },
  readOpenapi: {
    method: 'GET',
    path: '/v1/openapi.json',
    needs: 'key',
    summary: 'This document.',
    query: {},
    body: null,
    answer: 'OpenapiDocument',
  },
  readMetrics: {
    method: 'GET',
    path: '/metrics',
    needs: 'look',
    summary: 'Counts and gauges, as Prometheus reads them.',
    query: {},
    body: null,
    answer: 'text/plain',
  },
  readHealth: {
    method: 'GET',
    path: '/healthz',
    needs: null,
    summary: 'That the process is alive, and what it does.',
    query: {},
    body: null,
    answer: 'Health',
  },
  readReadiness: {
    method: 'GET',
    path: '/readyz',
    needs: null,
    summary: 'Whether calls are decided and can be recorded: 503 until they are.',
    query: {},
    body: null,
    answer: 'Health',
  },
} as const satisfies Record<string, HttpRoute>;

export type RouteName = keyof typeof httpRoutes;
export const routeNames = Object.keys(httpRoutes) as readonly RouteName[];
