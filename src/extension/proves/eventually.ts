/**
 * Waits for a condition that nothing announces, such as a state in a file, and fails when it never comes. The ceiling
 * is no bound on how long something takes: it only ends a test that would wait for ever, and a busy machine must not
 * reach it.
 */
import { setTimeout as pause } from 'node:timers/promises';

const lookEveryMs = 5;

export async function eventually<Value>(
  what: string,
  look: () => Promise<Value | null | undefined | false>,
  ceilingMs = 60_000,
): Promise<Value> {
  const until = performance.now() + ceilingMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > until) throw new Error(`never came: ${what}`);
    await pause(lookEveryMs);
  }
}
