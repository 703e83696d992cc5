/**
 * What if an author's code gives something to wait for, where a value belongs? It is refused as what it is not; and whatever
 * becomes of it later must not end the process. Never throws.
 */
export function hush(given: unknown): void {
  try {
    if (typeof given !== 'object' || given === null) return;
    const { then } = given as { then?: unknown };
    if (typeof then === 'function') then.call(given, nothing, nothing);
  } catch {
    // It cannot even be listened to, so nobody hears it.
  }
}

const nothing = (): undefined => undefined;
