/**
 * Up to where has every reply reached its requester? A low-water mark over the positions of this epoch that hold a
 * reply: after a crash, only replies beyond it may have been lost on their way. One reply that nobody will ever take
 * would hold the mark for all later ones, so calls whose requester left are kept out.
 */
import type { IncarnationId } from '../../core/call/call.ts';
import type { Position } from '../../core/journal/record.ts';
import { callStates } from '../../core/taxonomy.ts';
import type { CommitResult, Transition } from '../../ports/store.ts';

/**
 * Calls whose requester left, of which it is not known that they have ended. Of more than these the oldest is forgotten: a reply that it
 * may get later holds the mark, and a restart looks at more records than it must.
 */
const maxLeft = 10_000;

export type RepliesUnderWay = ReturnType<typeof createRepliesUnderWay>;

/** `alreadyLeft`: calls of earlier epochs that may still get a reply although their requester left. */
export function createRepliesUnderWay(epoch: number, alreadyLeft: Iterable<string>) {
  const callAt = new Map<number, string>();
  const seqOf = new Map<string, number>();
  const left = new Set<string>(alreadyLeft);
  /** Which process beside this one hands the reply over. */
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

  return {
    committed({ call, records }: Transition, result: CommitResult): void {
      if (result.kind !== 'committed') return;
      const seq = result.position?.epoch === epoch ? result.position.seq : null;
      if (call !== null && call.kind === 'mark') {
        if (call.requester === 'left') {
          const [oldest] = left.size >= maxLeft ? left : [];
          if (oldest !== undefined) left.delete(oldest);
          left.add(call.id);
          forget(call.id);
        } else if (call.requester === 'returned') {
          left.delete(call.id);
          if (seq !== null) expect(call.id, seq);
        }
      } else if (call !== null && seq !== null) {
        const { id } = call.call;
        if (!left.has(id) && holdsReply(records)) expect(id, seq);
        if (call.call.state !== '(none)' && callStates[call.call.state].terminal) left.delete(id);
      }
      if (seq !== null && seq > newest) newest = seq;
    },
    callAt: (position: Position): string | undefined =>
      position.epoch === epoch ? callAt.get(position.seq) : undefined,
    answered(position: Position): void {
      const call = position.epoch === epoch ? callAt.get(position.seq) : undefined;
      if (call !== undefined) forget(call);
    },
    /** What this process committed for another one: whose reply it is to hand over. */
    forwarded({ call }: Transition, by: IncarnationId): void {
      const id = call === null ? null : call.kind === 'mark' ? call.id : call.call.id;
      if (id !== null && seqOf.has(id)) takenBy.set(id, by);
    },
    /** Calls whose replies that process has not handed over, as far as is known. */
    owedBy: (by: IncarnationId): string[] => [...takenBy].filter(([, taker]) => taker === by).map(([id]) => id),
    /** The mark, if it has moved since it was last taken. */
    take(): number | null {
      const now = mark();
      if (now === written) return null;
      written = now;
      return now;
    },
    /** The mark that was taken may not have reached the file: the next batch carries it again. */
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
