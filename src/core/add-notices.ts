/** Puts soft signals beside a reply. Pure; the reply itself says what it said. */
import type { Notice, Reply } from './reply.ts';

export function addNotices<R extends Reply>(reply: R, notices: readonly Notice[]): R {
  return notices.length === 0 ? reply : { ...reply, notices: [...(reply.notices ?? []), ...notices] };
}
