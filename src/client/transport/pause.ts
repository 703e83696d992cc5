/** Waiting that a signal can end. Uses the timer of whatever runs this: a browser, an edge worker, Node. */
import type { Pause } from './transport.ts';

export const pause: Pause = (seconds, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1_000);
    signal?.addEventListener('abort', end);
  });
