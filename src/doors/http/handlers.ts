/** Who answers which route: one function for each line of the table, and the compiler counts them. */
import type { RouteName } from '../../core/http/http-routes.ts';
import type { Answer, Asked } from './answer.ts';
import {
  approve,
  complete,
  completeSession,
  deny,
  listApprovals,
  readApproval,
  reportTask,
  revoke,
} from './approval-routes.ts';
import { createCall, evaluate, listCalls, readCall, settleCall } from './call-routes.ts';
import type { StreamRoute } from './event-streams.ts';
import {
  applyPolicy,
  listTools,
  readHealth,
  readMetrics,
  readOpenapi,
  readPolicy,
  readReadiness,
  readStatus,
} from './operator-routes.ts';
import {
  acceptSession,
  forkSession,
  listSessions,
  openSession,
  readHistory,
  readSession,
  resetSession,
  takeStep,
} from './session-routes.ts';

export type Handler = (asked: Asked) => Promise<Answer>;

/** The streams are the door's own, since it must end them. */
export const handlers: Readonly<Record<Exclude<RouteName, StreamRoute>, Handler>> = {
  createCall,
  listCalls,
  readCall,
  settleCall,
  evaluate,
  openSession,
  listSessions,
  readSession,
  takeStep,
  resetSession,
  forkSession,
  acceptSession,
  readHistory,
  listApprovals,
  readApproval,
  approve,
  deny,
  revoke,
  reportTask,
  completeSession,
  complete,
  listTools,
  readPolicy,
  applyPolicy,
  readStatus,
  readOpenapi,
  readMetrics,
  readHealth,
  readReadiness,
};
