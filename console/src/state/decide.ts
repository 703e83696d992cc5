/**
 * Decisions of a person about an approval, and how it stands when somebody else was faster. Nothing is taken for done
 * before the gateway has said so.
 */
import type { ApprovalView } from '../../../src/core/approval/approval-view.ts';
import type { Json } from '../../../src/core/values/json.ts';
import { type Answer, get, post, type Problem } from './api.ts';

export type Decision =
  | { readonly kind: 'approve'; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'edit'; readonly reason: string; readonly args: Json };

export type Decided =
  | { readonly kind: 'done'; readonly approval: ApprovalView }
  /** Somebody else was faster, or it is another one by now: this is how it stands. */
  | { readonly kind: 'moved'; readonly problem: Problem; readonly approval: ApprovalView }
  | { readonly kind: 'failed'; readonly problem: Problem };

const at = (id: string): string => `/v1/approvals/${encodeURIComponent(id)}`;

export const readApproval = (id: string, signal?: AbortSignal): Promise<Answer<ApprovalView>> =>
  get<ApprovalView>(at(id), signal);

/** `seen`: what the person was shown; the gateway refuses if it is not what is there. */
export async function decide(seen: ApprovalView, decision: Decision): Promise<Decided> {
  const { approval_id: id, shown } = seen;
  const reason = decision.reason.trim() === '' ? {} : { reason: decision.reason.trim() };
  const edit = decision.kind === 'edit' ? { args: decision.args } : {};
  const act = decision.kind === 'deny' ? 'deny' : 'approve';
  const answer = await post<ApprovalView>(`${at(id)}/${act}`, { shown, ...reason, ...edit });
  if (answer.ok) return { kind: 'done', approval: answer.value };
  const { problem } = answer;
  const now = problem.status === 409 ? await readApproval(id) : null;
  return now?.ok === true ? { kind: 'moved', problem, approval: now.value } : { kind: 'failed', problem };
}
