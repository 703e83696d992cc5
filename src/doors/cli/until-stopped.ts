/** How does a command go on until the person ends it? Looks, waits a moment, looks again; Ctrl-C ends the wait at once. */
import type { Terminal } from './terminal.ts';

export interface Timer {
  schedule(delayMs: number, callback: () => void): () => void;
}

const lookEveryMs = 200;

/** Waits a moment and says whether to go on; a wait that is interrupted ends at once. */
export function untilStopped(terminal: Terminal, timer: Timer) {
  let stopped = false;
  let interrupt = (): void => undefined;
  const stopListening = terminal.onStop(() => {
    stopped = true;
    interrupt();
  });
  const wait = () =>
    new Promise<boolean>((resolve) => {
      const takeBack = timer.schedule(lookEveryMs, () => resolve(true));
      interrupt = () => {
        takeBack();
        resolve(false);
      };
      if (stopped) interrupt();
    });
  return { wait, stopListening };
}
