/** Waits for something that nobody announces, such as a state in a file. Fails loudly when it does not come. */
import { setTimeout as pause } from 'node:timers/promises';

const lookEveryMs = 5;

export async function eventually<Value>(
  what: string,
  look: () => Promise<Value | null | undefined | false>,
  withinMs = 15_000,
): Promise<Value> {
  const until = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > until) throw new Error(`never came: ${what}`);
    await pause(lookEveryMs);
  }
}
