/** Lets what is under way end before the gateway closes, and stops what does not. */
import type { Shell } from '../shell.ts';

const lastWordsMs = 1_000;

/** What outlived the drain is stopped, with an honest record; its body hears its signal. */
export async function stopAll(shell: Shell): Promise<void> {
  const left = [...shell.live.running.values()];
  for (const running of left) running.cancel('ToolCancelled');
  await Promise.allSettled(left.map((running) => running.outcome));
  // Their callers hear it; one who only waits for a call of another process is not waited for.
  await drained(shell, lastWordsMs);
}

/** Waits for every call that was asked, running or on its way there, and for those that run without a caller. */
export async function drained(shell: Shell, drainMs: number): Promise<void> {
  const { running, unanswered } = shell.live;
  const outcomes = [...[...running.values()].map(({ outcome }) => outcome), ...unanswered];
  if (outcomes.length === 0) return;
  let takeBack = (): void => undefined;
  const enough = new Promise<void>((resolve) => {
    takeBack = shell.ports.clock.schedule(drainMs, resolve);
  });
  await Promise.race([Promise.allSettled(outcomes), enough]);
  takeBack();
}
