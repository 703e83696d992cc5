/**
 * Asks something in the background: at once, and again after each answer. Nobody waits for it; closing stops what is
 * under way.
 */
export interface AskTimes {
  readonly timeoutMs: number;
  readonly everyMs: number;
  /** After an answer that was none. */
  readonly againMs: number;
}

/** `ask` never rejects, ends when its signal is aborted, and says whether there was an answer. */
export function askRegularly(
  ask: (signal: AbortSignal) => Promise<boolean>,
  { timeoutMs, everyMs, againMs }: AskTimes,
): { close(): Promise<void> } {
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let asking = Promise.resolve();

  async function once(): Promise<void> {
    const isAnswered = await ask(AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]));
    if (closing.signal.aborted) return;
    timer = setTimeout(begin, isAnswered ? everyMs : againMs);
    timer.unref();
  }

  function begin(): void {
    asking = once();
  }

  begin();
  return {
    close: () => {
      closing.abort();
      clearTimeout(timer);
      return asking;
    },
  };
}
