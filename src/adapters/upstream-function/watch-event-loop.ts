/**
 * Detects bodies that block the gateway's own thread, by how late a timer fires. Only reports: a body in this thread
 * cannot be stopped. Names the body whose first synchronous part took so long, or else all that run.
 */
import type { Frozen } from './isolate/module-thread.ts';

const tickMs = 250;
const blockedMs = 1_000;

export interface LoopWatch {
  /** Runs the body and tracks it until its promise settles. */
  run<Returned>(tool: string, body: () => Returned): Returned;
}

export function watchEventLoop(onFrozen: (frozen: Frozen) => void): LoopWatch {
  const running = new Map<symbol, string>();
  let ticking: NodeJS.Timeout | null = null;
  let last = 0;
  /** Reported up to this time: the first synchronous part of a body is measured separately. */
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
    // A body that ended in a late turn of the loop may have delayed it.
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
