/** How much waits for a person, by page: what the navigation, the title of the tab and the badge of the app show. */
import { signal } from '@preact/signals';

export const waiting = signal<Readonly<Record<string, number>>>({});

export function setWaiting(page: string, count: number): void {
  if (waiting.peek()[page] !== count) waiting.value = { ...waiting.peek(), [page]: count };
}
