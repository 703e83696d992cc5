/** Puts soft signals beside a reply. Pure; what the reply says stays what it was, and the same signal is told once. */
import type { Notice } from './reply.ts';

export function addNotices<Given extends { readonly notices?: readonly Notice[] }>(
  reply: Given,
  notices: readonly Notice[],
): Given {
  const told = [...(reply.notices ?? [])];
  for (const notice of notices) if (!told.some((earlier) => isSame(earlier, notice))) told.push(notice);
  return told.length === (reply.notices?.length ?? 0) ? reply : { ...reply, notices: told };
}

const isSame = (one: Notice, other: Notice): boolean =>
  one.code === other.code && one.human_message === other.human_message && one.budget_id === other.budget_id;
