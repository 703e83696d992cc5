/** The handler of each route. The compiler checks that none is missing. */
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
import { listBudgets, resetBudget, setBudget } from './budget-routes.ts';
import { createCall, evaluate, listCalls, readCall, settleCall } from './call-routes.ts';
import {
  addFeedback,
  listImprovements,
  proposeChange,
  readImprovement,
  releaseChange,
  rollBackRelease,
} from './improvement/improvement-routes.ts';
import { createConsoleLink, readConsoleSession, signIn, signOut } from './console/console-routes.ts';
import { cancelCall, cancelSession } from './cancel/cancel-routes.ts';
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
import { readApprovalContext } from './look/approval-looks.ts';
import { listLimits, readPolicyCoverage, readPolicyFile } from './look/policy-looks.ts';
import {
  awaitTicket,
  closeTicket,
  commentTicket,
  listTickets,
  readInbox,
  readTicket,
  resolveTicket,
  takeTicket,
} from './ticket-routes.ts';
import { makeGolden, readCallStory, readToolHealth, replayCall } from './look/call-looks.ts';
import { readJournal } from './look/journal-look.ts';
import { readSessionGraph, readSessionState } from './look/session-looks.ts';
import { readReversal, readRollback, redeemReversal, rollBackSession } from './reversals/reversal-routes.ts';

import { askModel } from './models/ask-model.ts';
import { listModels, readModel } from './models/list-models.ts';

export type Handler = (asked: Asked) => Promise<Answer>;

/** Without the streams, which the door serves itself because it must end them. */
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
  cancelCall,
  cancelSession,
  readHistory,
  readSessionGraph,
  readSessionState,
  redeemReversal,
  readReversal,
  rollBackSession,
  readRollback,
  listApprovals,
  readApproval,
  readApprovalContext,
  approve,
  deny,
  revoke,
  reportTask,
  completeSession,
  complete,
  listTickets,
  readTicket,
  awaitTicket,
  takeTicket,
  commentTicket,
  resolveTicket,
  closeTicket,
  readInbox,
  listBudgets,
  setBudget,
  resetBudget,
  listImprovements,
  addFeedback,
  readImprovement,
  proposeChange,
  releaseChange,
  rollBackRelease,
  createChatCompletion: askModel('chat'),
  createResponse: askModel('responses'),
  createMessage: askModel('messages'),
  listModels,
  readModel,
  createConsoleLink,
  signIn,
  readConsoleSession,
  signOut,
  readCallStory,
  replayCall,
  makeGolden,
  readJournal,
  readToolHealth,
  listTools,
  readPolicy,
  readPolicyFile,
  readPolicyCoverage,
  listLimits,
  applyPolicy,
  readStatus,
  readOpenapi,
  readMetrics,
  readHealth,
  readReadiness,
};
