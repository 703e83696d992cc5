/**
 * What a call has to do with reversals: the token that its success arms, and the reversal that it carries out. Also
 * what the commit of its intent issues and takes.
 */
import type { Call } from '../../core/call/call.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import { type Reversal, type ReversalId, reversedBy } from '../../core/reversal/reversal.ts';
import type { ReversalWrite, StoredCall } from '../../ports/store.ts';
import { type CommitParts, note } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';

/** What a call has to do with reversals; empty for most. */
export interface Undoing {
  /** The token that its success arms. */
  readonly token?: ReversalId;
  /** The reversal that it carries out. */
  readonly redeems?: Reversal;
}

/** A token for a call that is about to be authorised, if its tool can be undone. */
export function undoingFor(tool: ToolEntry, redeems: Reversal | undefined, { ports }: Shell): Undoing {
  return {
    ...(tool.reverse === undefined ? {} : { token: ports.ids.random('rev_') as ReversalId }),
    ...(redeems === undefined ? {} : { redeems }),
  };
}

/** The same of a call that another process may have begun. */
export async function undoingOnRecord(call: StoredCall, tool: ToolEntry | undefined, shell: Shell): Promise<Undoing> {
  const { store } = shell.ports;
  const mayHaveToken = tool === undefined || tool.reverse !== undefined;
  const own = mayHaveToken ? await store.reversalOf(call.id) : null;
  const first = reversedBy(call.key);
  const other = first === null ? null : await store.reversalOf(first);
  return {
    ...(own?.state === 'issued' ? { token: own.id } : {}),
    ...(other === null ? {} : { redeems: other }),
  };
}

/** What the commit of the intent issues and takes. */
export function undoingParts(call: Call, tool: ToolEntry, { token, redeems }: Undoing): CommitParts {
  const reversals: ReversalWrite[] = [];
  if (token !== undefined && tool.reverse !== undefined)
    reversals.push({ kind: 'issue', reversal: issued(token, call, tool, tool.reverse) });
  // INVARIANT: whoever has the intent has the token, and nobody else.
  if (redeems !== undefined) reversals.push({ kind: 'redeem', id: redeems.id, by: call.id, tries: redeems.tries });
  if (reversals.length === 0) return {};
  const reverse =
    tool.reverse === undefined ? {} : { reverse: { tool: tool.reverse.tool, window_ms: tool.reverse.windowMs } };
  const reverses = redeems === undefined ? {} : { reverses: redeems.call };
  return {
    reversals,
    body: { prepared: { ...reverse, ...reverses } },
    notes: redeems === undefined ? [] : [redeemedNote(redeems, call)],
  };
}

function issued(id: ReversalId, call: Call, tool: ToolEntry, reverse: NonNullable<ToolEntry['reverse']>): Reversal {
  return {
    id,
    tenant: call.tenant,
    agent: call.agent,
    session: call.session,
    call: call.id,
    tool: tool.policyName,
    reverser: reverse.tool,
    state: 'issued',
    windowMs: reverse.windowMs,
    expiresAtMs: null,
    redeemedBy: null,
    tries: 0,
    askedBy: null,
    reason: null,
  };
}

const redeemedNote = ({ call, session, reverser, askedBy, reason }: Reversal, by: Call): RecordDraft =>
  note(
    'reversal_redeemed',
    { id: call, session },
    { by: by.id, tool: reverser, asked_by: askedBy ?? by.agent, reason },
  );
