/**
 * How is a question hung up? By what carries it, where that can be told; a signal is made only for those who ask for one, which
 * the common case does not.
 */
import type { TransportSendOptions } from '@modelcontextprotocol/client';

/** What our own questions say beside what the SDK's do. */
export interface AskOptions extends TransportSendOptions {
  readonly line?: Line;
  /** `fault`: it was broken off on this side, because of that. */
  readonly onRequestStreamEnd?: (fault?: Error) => void;
}

export interface Line {
  readonly isHungUp: () => boolean;
  /** For a transport that knows only signals. */
  readonly signal: () => AbortSignal;
  /** For a transport that can be told directly. */
  readonly carriedBy: (hangUp: (reason: unknown) => void) => void;
  readonly hangUp: () => void;
}

export function createLine(): Line {
  let hungUp = false;
  let controller: AbortController | null = null;
  let carrier: ((reason: unknown) => void) | null = null;
  const reason = () => controller?.signal.reason ?? new DOMException('nobody waits any more', 'AbortError');
  return {
    isHungUp: () => hungUp,
    signal() {
      controller ??= new AbortController();
      if (hungUp) controller.abort();
      return controller.signal;
    },
    carriedBy(hangUp) {
      carrier = hangUp;
      if (hungUp) hangUp(reason());
    },
    hangUp() {
      if (hungUp) return;
      hungUp = true;
      controller?.abort();
      carrier?.(reason());
    },
  };
}
