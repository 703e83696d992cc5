/** Tells a person who looks elsewhere that something new waits: by the browser, if they said so. */
import { signal } from '@preact/signals';
import { piecesOf } from '../../../src/core/values/quote.ts';

export type Permission = 'unsupported' | 'default' | 'granted' | 'denied';

const has = typeof Notification !== 'undefined';
export const permission = signal<Permission>(has ? Notification.permission : 'unsupported');

/** To be called by a press of a button: browsers ask only then. */
export async function allowNotifications(): Promise<void> {
  if (has) permission.value = await Notification.requestPermission();
}

interface Told {
  readonly kind: 'approval' | 'ticket' | 'doubt';
  readonly id: string;
  readonly tool: string;
}

const titles = {
  approval: 'A call waits for your approval',
  ticket: 'A ticket waits for an answer',
  doubt: 'A call is in doubt',
} as const;

const maxToolChars = 80;
/** Null until the first list: what waited before the page was opened is not new. */
let seen: Set<string> | null = null;

export function tellNew(items: readonly Told[]): void {
  const before = seen;
  seen = new Set(items.map(({ id }) => id));
  if (before === null || !document.hidden || permission.peek() !== 'granted') return;
  const fresh = items.filter(({ id }) => !before.has(id));
  const [first] = fresh;
  if (first === undefined) return;
  const tool = piecesOf(first.tool.slice(0, maxToolChars))
    .map(({ text }) => text)
    .join('');
  const more = fresh.length > 1 ? `, and ${fresh.length - 1} more` : '';
  const shown = new Notification(titles[first.kind], { body: `tool: ${tool}${more}`, tag: 'recourse-inbox' });
  shown.addEventListener('click', () => {
    window.focus();
    location.hash = `#/inbox/${encodeURIComponent(first.id)}`;
  });
}
