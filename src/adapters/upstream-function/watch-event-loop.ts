/**
 * Does a body keep the gateway's own thread busy? What runs here is known by name, and so is how late a timer came. Only tells:
 * a body in this thread cannot be stopped. The body whose first stretch took so long is named alone; otherwise all that run are.
 */
import type { Frozen } from './isolate/module-thread.ts';

const tickMs = 250;
const blockedMs = 1_000;

export interface LoopWatch {
  /** Runs the body and knows of it until its promise has ended. */
  run<Returned>(tool: string, body: () => Returned): Returned;
}

export function watchEventLoop(onFrozen: (frozen: Frozen) => void): LoopWatch {
  const running = new Map<symbol, string>();
  let ticking: NodeJS.Timeout | null = null;
  let last = 0;
  /** Told already: the first stretch of a body is measured by itself. */
  let toldUntil = 0;

  const tick = () => {
    const now = performance.now();
    const lateMs = now - last - tickMs;
    if (lateMs >= blockedMs && last >= toldUntil) tell([...new Set(running.values())], lateMs, now);
    last = now;
  };
  const tell = (tools: readonly string[], forMs: number, now: number) => {
    toldUntil = now;
    if (tools.length > 0) onFrozen({ tools, forMs: Math.round(forMs), ended: false });
  };
  const leave = (id: symbol) => {
    // Whatever ended in a late turn of the loop may have been what made it late.
    if (ticking !== null && performance.now() - last >= blockedMs + tickMs) tick();
    running.delete(id);
    if (running.size > 0 || ticking === null) return;
    clearInterval(ticking);
    ticking = null;
  };

  return {
    run(tool, body) {
      const id = Symbol(tool);
      running.set(id, tool);
      const began = performance.now();
      if (ticking === null) {
        last = began;
        ticking = setInterval(tick, tickMs).unref();
      }
      try {
        const returned = body();
        const now = performance.now();
        if (now - began >= blockedMs) tell([tool], now - began, now);
        void Promise.resolve(returned).then(
          () => leave(id),
          () => leave(id),
        );
        return returned;
      } catch (thrown) {
        leave(id);
        throw thrown;
      }
    },
  };
}
