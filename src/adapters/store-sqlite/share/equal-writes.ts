/**
 * Tracks writes without a key that forwarders began, until the reply was handed over or it is on record that the
 * requester left. The forwarders of an equal write are asked before another one is recorded (ADR 0047).
 */
import type { CallId, IncarnationId } from '../../../core/call/call.ts';
import type { CommitResult, Transition } from '../../../ports/store.ts';
import type { WriteRequest } from '../write/batch.ts';

/** Beyond this many open writes every forwarder is asked. */
const maxOpen = 100_000;

export interface Equal {
  readonly session: string;
  readonly fingerprint: string;
}

interface Open extends Equal {
  readonly by: IncarnationId;
}

export type EqualWrites = ReturnType<typeof createEqualWrites>;

/** `equalOf` finds session and fingerprint of a stored call. */
export function createEqualWrites(equalOf: (id: CallId) => Equal | null) {
  const open = new Map<string, Open>();
  const at = new Map<string, Set<string>>();

  const forget = (id: string) => {
    const known = open.get(id);
    if (known === undefined) return;
    open.delete(id);
    const here = at.get(nameOf(known));
    here?.delete(id);
    if (here?.size === 0) at.delete(nameOf(known));
  };

  const remember = (id: string, equal: Equal, by: IncarnationId) => {
    forget(id);
    open.set(id, { session: equal.session, fingerprint: equal.fingerprint, by });
    at.set(nameOf(equal), (at.get(nameOf(equal)) ?? new Set()).add(id));
  };

  return {
    /** A forwarder begins a write without a key, or takes the place of a requester who left one. */
    begins(request: WriteRequest, by: IncarnationId): void {
      const begun = begunWith(request, equalOf);
      if (begun !== null) remember(begun.id, begun.equal, by);
    },
    /** INVARIANT: what may be on record although it failed is kept. */
    ended(request: WriteRequest, result: CommitResult): void {
      if (result.kind === 'committed' || (result.kind === 'unavailable' && result.fault === 'io')) return;
      const begun = begunWith(request, equalOf);
      if (begun !== null) forget(begun.id);
    },
    committed({ call }: Transition): void {
      if (call !== null && call.kind === 'mark' && call.requester === 'left') forget(call.id);
    },
    /** Its reply was handed over, or nobody is owed it any more. */
    handedOver: (id: string): void => forget(id),
    /** Calls whose requesters are in that forwarder, and whose replies were not handed over, as far as is known. */
    heldBy: (by: IncarnationId): string[] => [...open].flatMap(([id, known]) => (known.by === by ? [id] : [])),
    /** Forwarders other than `except` that began an equal write; null if any might have. */
    begunBy(equal: Equal, except: IncarnationId | null): readonly IncarnationId[] | null {
      if (open.size > maxOpen) return null;
      const by = new Set<IncarnationId>();
      for (const id of at.get(nameOf(equal)) ?? []) by.add((open.get(id) as Open).by);
      if (except !== null) by.delete(except);
      return [...by];
    },
  };
}

/**
 * The writes that must not be given up when this one is recorded; null for everything but the intent of a write without
 * a key.
 */
export function equalTo(request: WriteRequest): Equal | null {
  if ('erase' in request || typeof request.nobodyLeftWithinMs !== 'number') return null;
  const { call } = request;
  if (call === null || call.kind === 'mark' || call.call.session === null) return null;
  return { session: call.call.session, fingerprint: call.call.fingerprint };
}

function begunWith(
  request: WriteRequest,
  equalOf: (id: CallId) => Equal | null,
): { readonly id: CallId; readonly equal: Equal } | null {
  if ('erase' in request || request.call === null) return null;
  const { call: change, records } = request;
  if (change.kind === 'mark') {
    // Without a record nobody waits for it.
    const equal = change.requester === 'returned' && records.length > 0 ? equalOf(change.id) : null;
    return equal === null ? null : { id: change.id, equal };
  }
  const { id, session, fingerprint, key, effectClass } = change.call;
  const isFirst = change.kind === 'insert' || change.expect.state === 'AWAITING_APPROVAL';
  if (!isFirst || !change.path.includes('DISPATCHED')) return null;
  return key !== null || effectClass === 'pure' || session === null ? null : { id, equal: { session, fingerprint } };
}

const nameOf = ({ session, fingerprint }: Equal): string => `${session} ${fingerprint}`;
