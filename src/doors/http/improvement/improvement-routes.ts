/**
 * Routes of the improvement loop. All tenants share one playbook, so only admins of the operator's tenant may look at
 * it and change it.
 */
import type { DoorCode } from '../../../core/http/door-problems.ts';
import { operatorTenant } from '../../../core/call/identity.ts';
import { unmarked } from '../../../core/values/short-id.ts';
import type { ImprovementProblem } from '../../../shell/improvement/improvements.ts';
import type { Shown, ShownImprovement, WrittenChange } from '../../../shell/improvement/show-improvements.ts';
import { type Answer, type Asked, json, refuse } from '../answer.ts';
import { storeUnavailable, wholeId } from '../call-routes.ts';

type Handle = (asked: Asked) => Promise<Answer>;

const operatorsOnly =
  (handle: Handle): Handle =>
  async (asked) =>
    asked.who.tenant === operatorTenant
      ? handle(asked)
      : refuse('RoleForbidden', `the playbook is changed by an admin of the tenant '${operatorTenant}'`);

export const listImprovements = operatorsOnly(async ({ parts }) => json(await parts.improvements.list()));

export const readImprovement = operatorsOnly(async ({ id: given, parts }) => {
  const id = unmarked(given);
  const found = await parts.improvements.show(id);
  return found === null
    ? refuse('UnknownFeedback', `no feedback, proposal or release '${id}' is on record`)
    : json(found);
});

export const addFeedback = operatorsOnly(async ({ body, who, parts }) => {
  const { call_id: given, note } = body as { readonly call_id: string; readonly note: string };
  const scope = { tenant: who.tenant, agent: null };
  const id = await wholeId(given, 'look', (beginning) => parts.view.meant(beginning, scope));
  if (typeof id !== 'string') return id;
  return answerTo(await parts.improvements.add(id, who, note), 'add_feedback', parts);
});

export const proposeChange = operatorsOnly(async ({ body, who, parts }) => {
  const { feedback, ...change } = body as { readonly feedback: readonly string[] } & WrittenChange;
  return answerTo(await parts.improvements.propose(feedback.map(unmarked), change, who), 'propose_change', parts);
});

export const releaseChange = operatorsOnly(async ({ id, body, who, parts }) => {
  const { force = false, note = '' } = body as { readonly force?: boolean; readonly note?: string };
  return answerTo(await parts.improvements.release(unmarked(id), who, { force, note }), 'release_change', parts);
});

export const rollBackRelease = operatorsOnly(async ({ id, body, who, parts }) => {
  const { note = '' } = body as { readonly note?: string };
  return answerTo(await parts.improvements.rollback(unmarked(id), who, note), 'roll_back_release', parts);
});

/** The door's code for each problem; an unavailable store is answered as for a call. */
const codeOfProblem = {
  not_found: 'UnknownFeedback',
  moved_on: 'AnotherCameFirst',
  breaks_goldens: 'GoldensBroken',
  bad_change: 'BadProposal',
  outcome_unknown: 'OutcomeUnknown',
} as const satisfies Record<Exclude<ImprovementProblem, 'store_unavailable'>, DoorCode>;

function answerTo(made: Shown<ShownImprovement>, requested: string, { newCallId }: Asked['parts']): Answer {
  if (made.ok) return json(made.shown);
  const { problem, message } = made;
  if (problem === 'store_unavailable') return storeUnavailable(requested, newCallId());
  return refuse(codeOfProblem[problem], message);
}
