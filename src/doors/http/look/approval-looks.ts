/** The route for people who are about to decide an approval: what it does, and what it relies on. */
import { may } from '../../../core/call/identity.ts';
import { type Answer, type Asked, json, refuse } from '../answer.ts';
import { meantApproval, unknownApproval } from '../approval-routes.ts';

export async function readApprovalContext(asked: Asked): Promise<Answer> {
  const { query, who, parts } = asked;
  const again = query['evidence'] === 'again';
  // It sends reads, which somebody who only looks must not.
  if (again && !may(who, 'approve')) return refuse('RoleForbidden', 'only an approver may have evidence read again');
  const id = await meantApproval(asked, 'look');
  if (typeof id !== 'string') return id;
  const found = await parts.looks.approval(id, who.tenant, again);
  return found === null ? unknownApproval(id) : json(found);
}
