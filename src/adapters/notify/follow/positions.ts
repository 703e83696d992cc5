/** Compares positions in the journal, and writes and reads them as text. Pure. */
import type { Position } from '../../../core/journal/record.ts';

export const isBefore = (one: Position, other: Position): boolean =>
  one.epoch < other.epoch || (one.epoch === other.epoch && one.seq < other.seq);

export const positionText = ({ epoch, seq }: Position): string => `${epoch}.${seq}`;

/** Null for everything else. */
export function readPosition(text: unknown): Position | null {
  const [, epoch, seq] = typeof text === 'string' ? (/^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? []) : [];
  return epoch === undefined ? null : { epoch: Number(epoch), seq: Number(seq) };
}

export const isAt = (one: Position, other: Position): boolean => one.epoch === other.epoch && one.seq === other.seq;

/** Stable, and different for every record, or run of records, of every store. */
export function deliveryId(storeTag: string, at: Position, through: Position = at): string {
  const end = isAt(at, through) ? '' : `-${positionText(through)}`;
  return `evt_${storeTag}_${positionText(at)}${end}`;
}
