/** The keys that go through the history of a session. */
import { isWriting } from '../../state/is-writing.ts';
import type { PageKey } from '../../state/page-keys.ts';

export const scrubKeys: readonly PageKey[] = [
  ['←', 'the entry before'],
  ['→', 'the next entry'],
  ['Home', 'the first entry'],
  ['End', 'now'],
];

/** From the entry that is shown, and the last one, to the entry that is to be shown. */
export type Move = (now: number, last: number) => number;

const moves: Readonly<Record<string, Move>> = {
  ArrowLeft: (now) => now - 1,
  ArrowRight: (now) => now + 1,
  Home: () => 0,
  End: (_now, last) => last,
};

/** Returns what stops listening. */
export function listenToScrubKeys(hear: (move: Move) => void): () => void {
  const press = (event: KeyboardEvent) => {
    const move = moves[event.key];
    const isOther = event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey;
    if (move === undefined || isOther || isWriting(event.target) || document.querySelector('dialog[open]') !== null)
      return;
    event.preventDefault();
    hear(move);
  };
  addEventListener('keydown', press);
  return () => removeEventListener('keydown', press);
}
