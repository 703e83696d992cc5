/**
 * Tracks replies of this epoch that have not reached their requesters, and the mark below which all have. After a crash
 * only replies beyond the mark may be lost. Calls whose requester left are left out: their replies would hold the mark
 * forever.
 */
import type { Call, IncarnationId } from '../../core/call/call.ts';
import type { Position } from '../../core/journal/record.ts';
import { callStates } from '../../core/taxonomy.ts';
import type { CommitResult, Transition } from '../../ports/store.ts';

/**
 * Calls whose requester left and that may not have ended. Beyond this many the oldest is forgotten: a reply that it
 * gets later holds the mark, and a restart reads more records than it must.
 */
const maxLeft = 10_000;

export type UnansweredReplies = ReturnType<typeof createUnansweredReplies>;

/** `alreadyLeft`: calls of earlier epochs that may still get a reply although their requester left. */
export function createUnansweredReplies(epoch: number, alreadyLeft: Iterable<string>) {
  const callAt = new Map<number, string>();
  const seqOf = new Map<string, number>();
  const left = new Set<string>(alreadyLeft);
  /** The forwarder that hands the reply over. */
  const takenBy = new Map<string, IncarnationId>();
  let newest = 0;
  let inOrder = true;
  let written = 0;

  const forget = (call: string) => {
    const seq = seqOf.get(call);
    if (seq === undefined) return;
    seqOf.delete(call);
    takenBy.delete(call);
    callAt.delete(seq);
    if (callAt.size === 0) inOrder = true;
  };

  const expect = (call: string, seq: number) => {
    forget(call);
    // Only a transition that was applied before and asked for again comes with an older position.
    if (seq < newest) inOrder = false;
    seqOf.set(call, seq);
    callAt.set(seq, call);
  };

  const mark = (): number => {
    let lowest = newest + 1;
    for (const seq of callAt.keys()) {
      if (seq < lowest) lowest = seq;
      if (inOrder) break;
    }
    return lowest - 1;
  };

  const requesterLeft = (call: string) => {
    const [oldest] = left.size >= maxLeft ? left : [];
    if (oldest !== undefined) left.delete(oldest);
    left.add(call);
    forget(call);
  };

  const requesterReturned = (call: string, seq: number | null) => {
    left.delete(call);
    if (seq !== null) expect(call, seq);
  };

  const moved = ({ id, state }: Call, records: Transition['records'], seq: number) => {
    if (!left.has(id) && holdsReply(records)) expect(id, seq);
    if (state !== '(none)' && callStates[state].terminal) left.delete(id);
  };

  return {
    committed({ call, records }: Transition, result: CommitResult): void {
      if (result.kind !== 'committed') return;
      const seq = result.position?.epoch === epoch ? result.position.seq : null;
      if (call?.kind === 'mark' && call.requester === 'left') requesterLeft(call.id);
      else if (call?.kind === 'mark' && call.requester === 'returned') requesterReturned(call.id, seq);
      else if (call !== null && call.kind !== 'mark' && seq !== null) moved(call.call, records, seq);
      if (seq !== null && seq > newest) newest = seq;
    },
    callAt: (position: Position): string | undefined =>
      position.epoch === epoch ? callAt.get(position.seq) : undefined,
    answered(position: Position): void {
      const call = position.epoch === epoch ? callAt.get(position.seq) : undefined;
      if (call !== undefined) forget(call);
    },
    /** The owner committed this for a forwarder, which hands over the reply. */
    forwarded({ call }: Transition, by: IncarnationId): void {
      const id = call === null ? null : call.kind === 'mark' ? call.id : call.call.id;
      if (id !== null && seqOf.has(id)) takenBy.set(id, by);
    },
    /** Calls whose replies that forwarder has not handed over, as far as is known. */
    owedBy: (by: IncarnationId): string[] => [...takenBy].filter(([, taker]) => taker === by).map(([id]) => id),
    /** The mark, if it has moved since it was last taken. */
    take(): number | null {
      const now = mark();
      if (now === written) return null;
      written = now;
      return now;
    },
    /** The last mark may not have reached the file: the next batch carries it again. */
    putBack(): void {
      written = -1;
    },
    allAnswered: () => callAt.size === 0,
    /** How many calls are remembered as left. */
    left: () => left.size,
  };
}

function holdsReply(records: Transition['records']): boolean {
  for (const { payloads } of records) for (const { part } of payloads) if (part === 'reply') return true;
  return false;
}
