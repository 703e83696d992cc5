/** Routes for approvals: list, read, wait, decide. Also `complete`, by which an agent reports that its work is done. */
import type { ApprovalState, Decider } from '../../core/approval/approval.ts';
import type { DoorCode } from '../../core/http/door-problems.ts';
import { defaultPage } from '../../core/http/http-routes.ts';
import type { Identity } from '../../core/call/identity.ts';
import { afterAll, maxLookedAt, meantId } from '../../core/values/short-id.ts';
import type { Decided, DecideProblem, DecisionInput } from '../../shell/approval/approval-service.ts';
import { type Answer, type Asked, json, refuse, reply } from './answer.ts';
import { principal, scopeOf, storeUnavailable, wholeId } from './call-routes.ts';
import { principalFor } from './session-routes.ts';

export async function listApprovals({ query, who, parts }: Asked): Promise<Answer> {
  const limit = Number(query['limit'] ?? defaultPage);
  if (limit === 0) return json({ approvals: [], next: null });
  const { agent, session, state, before } = query as Readonly<Record<string, string | undefined>>;
  const found = await parts.approvals.list(scopeOf(who), {
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(state === undefined ? {} : { state: state as ApprovalState }),
    ...(before === undefined ? {} : { before }),
    limit,
  });
  return json({ approvals: found, next: found.length < limit ? null : (found.at(-1)?.approval_id ?? null) });
}

export const meantApproval = ({ id, who, parts }: Asked, use: 'look' | 'decide'): Promise<string | Answer> =>
  wholeId(id, use, async (beginning) => {
    const found = await parts.approvals.list(scopeOf(who), { before: afterAll(beginning), limit: maxLookedAt });
    return meantId(
      beginning,
      found.map((each) => each.approval_id),
    );
  });

export async function readApproval(asked: Asked): Promise<Answer> {
  const { query, who, ended, parts } = asked;
  const id = await meantApproval(asked, 'look');
  if (typeof id !== 'string') return id;
  const waitMs = Number(query['wait'] ?? 0) * 1_000;
  const found =
    waitMs === 0
      ? await parts.approvals.read(id, scopeOf(who))
      : await parts.approvals.wait(id, scopeOf(who), waitMs, ended);
  return found === null ? unknownApproval(id) : json(found);
}

export const unknownApproval = (id: string): Answer =>
  refuse('UnknownApproval', `no approval '${id}' is known to this key; GET /v1/approvals lists those that are`);

/** The route admits only keys of people who may approve, never an agent's. */
const person = ({ tenant, name }: Identity): Decider => ({ kind: 'person', tenant, name });

async function decide(asked: Asked, act: 'approve' | 'deny' | 'revoke'): Promise<Answer> {
  const { body, who, parts } = asked;
  const id = await meantApproval(asked, 'decide');
  if (typeof id !== 'string') return id;
  return answerTo(await parts.approvals[act](id, person(who), body as DecisionInput), act, id, parts);
}

export const approve = (asked: Asked): Promise<Answer> => decide(asked, 'approve');

export const deny = (asked: Asked): Promise<Answer> => decide(asked, 'deny');

export const revoke = (asked: Asked): Promise<Answer> => decide(asked, 'revoke');

/** The door's code for each problem; an unavailable store is answered as for a call. */
export const codeOfProblem = {
  not_found: 'UnknownApproval',
  own_request: 'OwnRequest',
  not_an_approver: 'NotAnApprover',
  not_pending: 'NotPending',
  already_approved: 'AlreadyApproved',
  saw_another: 'SawAnother',
  bad_edit: 'BadEdit',
} as const satisfies Record<Exclude<DecideProblem, 'store_unavailable'>, DoorCode>;

function answerTo(decided: Decided, requested: string, id: string, { newCallId }: Asked['parts']): Answer {
  if (decided.ok) return json(decided.approval);
  const { problem, message } = decided;
  if (problem === 'store_unavailable') return storeUnavailable(requested, newCallId());
  return problem === 'not_found' ? unknownApproval(id) : refuse(codeOfProblem[problem], message);
}

export async function completeSession(asked: Asked): Promise<Answer> {
  const { id, who, parts } = asked;
  return reply(await parts.complete({ session: id }, await principalFor(asked), who.name));
}

export async function complete({ body, who, parts }: Asked): Promise<Answer> {
  return reply(await parts.complete(body, principal(who)));
}

export async function reportTask({ id, who, parts }: Asked): Promise<Answer> {
  return reply(await parts.reportTask(id, principal(who)));
}
