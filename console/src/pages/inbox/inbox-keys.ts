/**
 * The keys of the inbox. A key opens a dialog or moves the mark, and decides nothing by itself: every decision is
 * confirmed in its dialog.
 */
import { isWriting } from '../../state/is-writing.ts';
import { inbox } from '../../state/inbox.ts';
import type { PageKey } from '../../state/page-keys.ts';
import { go, route } from '../../state/route.ts';

export const inboxKeys: readonly PageKey[] = [
  ['j', 'the next one'],
  ['k', 'the one before'],
  ['Enter', 'read it'],
  ['a', 'approve, or answer a ticket; asks again'],
  ['d', 'deny; asks for a reason'],
  ['e', 'edit the arguments and approve'],
  ['r', 'read the evidence again'],
];

/** Buttons that a key presses, by their attribute `data-key`. */
const buttonKeys: ReadonlySet<string> = new Set(['a', 'd', 'e', 'r']);

/** Returns what stops listening. */
export function listenToInboxKeys(): () => void {
  const hear = (event: KeyboardEvent) => {
    const { key, target } = event;
    const isOther = event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat;
    if (isOther || isWriting(target) || document.querySelector('dialog[open]') !== null) return;
    if (key === 'j') move(1);
    else if (key === 'k') move(-1);
    else if (key === 'Enter' && !(target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement)) read();
    else if (buttonKeys.has(key)) press(key);
    else return;
    event.preventDefault();
  };
  addEventListener('keydown', hear);
  return () => removeEventListener('keydown', hear);
}

function move(by: number): void {
  const items = inbox.peek().items ?? [];
  const at = items.findIndex(({ id }) => id === route.peek().id);
  const next = items[at < 0 ? 0 : Math.min(items.length - 1, Math.max(0, at + by))];
  if (next !== undefined) go('inbox', next.id);
}

function read(): void {
  document.querySelector<HTMLElement>('.inbox-detail h2')?.focus();
}

function press(key: string): void {
  document.querySelector<HTMLButtonElement>(`.inbox-detail [data-key="${key}"]:not(:disabled)`)?.click();
}
