/** Keys that work everywhere: `g` and a letter opens a page, `?` shows help. Never while somebody writes. */
import { pages } from '../pages/pages.ts';
import { isWriting } from '../state/is-writing.ts';
import { go } from '../state/route.ts';

const sequenceMs = 1_200;

/** Returns what stops listening. */
export function listenToKeys(onHelp: () => void): () => void {
  let goAtMs = 0;
  const hear = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    if (event.key === '?') return onHelp();
    const isSecond = performance.now() - goAtMs < sequenceMs;
    goAtMs = event.key === 'g' && !isSecond ? performance.now() : 0;
    const page = isSecond ? pages.find(({ key }) => key === event.key) : undefined;
    if (page !== undefined) {
      event.preventDefault();
      go(page.name);
    }
  };
  addEventListener('keydown', hear);
  return () => removeEventListener('keydown', hear);
}
