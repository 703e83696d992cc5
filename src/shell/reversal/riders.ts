/**
 * What reversals add to the commit that ends a call: its token is armed with the success, and void with any other end.
 * A reversing call that did nothing gives back the token that it took.
 */
import type { Call } from '../../core/call/call.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import type { OpenedTicket } from '../../core/recovery/dispatch.ts';
import type { Reversal, ReversalId } from '../../core/reversal/reversal.ts';
import type { RefusalReason } from '../../core/reversal/redeem-check.ts';
import { callStates } from '../../core/taxonomy.ts';
import type { TicketWrite } from '../../ports/store.ts';
import type { EndRider, Move } from '../ending/ending.ts';
import { openedNote, ticketOf } from '../ending/recovery-rider.ts';
import { type CommitParts, note } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';

export const reversalEnding: EndRider = (move, shell) => {
  const { from, next, ending, context } = move;
  const { token, redeems } = context.undoing;
  if (next.state === from.state) return {};
  const own = token === undefined || ending.adopts !== undefined ? {} : ownToken(token, move, shell);
  const other = redeems === undefined ? {} : givenBack(redeems, move, shell);
  return {
    ...own,
    ...other,
    parts: {
      ...other.parts,
      reversals: [...(own.parts?.reversals ?? []), ...(other.parts?.reversals ?? [])],
    },
  };
};

function ownToken(token: ReversalId, { next, ending }: Move, { ports }: Shell): ReturnType<EndRider> {
  if (next.state === 'SUCCEEDED') {
    const due = ending.reverse ?? null;
    const parts = { reversals: [{ kind: 'arm', call: next.id, atMs: ports.clock.nowMs(), due }] } as const;
    return { parts, facts: { reversal: due === null ? 'armed' : 'due' }, beside: { reversalToken: token } };
  }
  const isOver = next.state !== '(none)' && callStates[next.state].terminal;
  return isOver ? { parts: { reversals: [{ kind: 'void', call: next.id }] }, facts: { reversal: 'void' } } : {};
}

const didNothing: ReadonlySet<Call['state']> = new Set(['FAILED', 'EXPIRED', 'CANCELLED'] as const);

/** INVARIANT: a reversing call that may have done anything keeps the token. */
function givenBack(redeems: Reversal, { from, next }: Move, shell: Shell): ReturnType<EndRider> {
  if (!didNothing.has(next.state) || from.state === 'AWAITING_APPROVAL') return {};
  const parts: CommitParts = { reversals: [{ kind: 'rearm', id: redeems.id, by: next.id }] };
  // An agent that redeemed its own token has the failure in its reply.
  if (redeems.askedBy === null) return { parts };
  const told = refusedParts(redeems, 'failed', { by: redeems.askedBy, why: `call ${next.id}` }, shell);
  return { parts: { ...told, ...parts } };
}

export const refusedTicket: OpenedTicket = { reason: 'reversal_refused', queue: 'reversals' };

interface RefusedWhy {
  readonly by: string;
  readonly why: string | null;
}

/** A call that was to be undone. */
export type ToUndo = Pick<Reversal, 'call' | 'session' | 'tenant' | 'agent' | 'tool'>;

/** A reversal that the gateway was asked for and that did not happen: an event, and a ticket for a person. */
export function refusedParts(
  { call, session, tenant, agent, tool }: ToUndo,
  reason: RefusalReason,
  { by, why }: RefusedWhy,
  shell: Shell,
): { readonly notes: readonly RecordDraft[]; readonly tickets: readonly TicketWrite[] } {
  const about = { id: call, session, tenant, agent, tool } as Call;
  const ticket = ticketOf(about, refusedTicket, shell);
  const refused = note('reversal_refused', about, { reason, why, by });
  return { notes: [refused, openedNote(about, ticket)], tickets: [{ kind: 'open', ticket }] };
}
