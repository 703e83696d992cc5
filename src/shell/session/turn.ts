/**
 * Queues the steps of a workflow session: they run one after the other, in the order in which they arrived. The queue
 * keeps the order within a process; between processes the turn in the store decides.
 */
import type { CallId, Principal, Request, SessionId } from '../../core/call/call.ts';
import { onAbort, type Requester } from '../call/requester.ts';
import { pause } from '../upkeep/commit.ts';
import type { Shell, TurnQueue } from '../shell.ts';

export type Turn =
  | { readonly kind: 'taken'; readonly release: () => void }
  /** The queue is full, or the wait took too long: `by` had the turn. */
  | { readonly kind: 'busy'; readonly by: CallId }
  | { readonly kind: 'cancelled' };

/** Whether the call has to wait for a turn at all: it names a workflow session of its own agent. */
export async function isStep({ session }: Request, who: Principal, shell: Shell): Promise<boolean> {
  if (session === null || shell.workflows.size === 0 || !shell.live.readiness.ready) return false;
  const found = await shell.ports.store.session(session);
  return found !== null && found.workflow !== null && found.tenant === who.tenant && found.agent === who.agent;
}

export async function takeTurn(
  id: SessionId,
  call: CallId,
  withinMs: number,
  requester: Requester,
  shell: Shell,
): Promise<Turn> {
  const { turns } = shell.live;
  const queue = turns.get(id);
  if (queue === undefined) {
    turns.set(id, { holder: call, waiting: [] });
    return taken(id, shell);
  }
  if (queue.waiting.length >= shell.limits.maxQueuedSteps) return { kind: 'busy', by: queue.holder };
  const end = await wait(queue, withinMs, requester, shell);
  if (end === 'late') return { kind: 'busy', by: queue.holder };
  if (end === 'cancelled') return { kind: 'cancelled' };
  queue.holder = call;
  return taken(id, shell);
}

function wait(
  queue: TurnQueue,
  withinMs: number,
  requester: Requester,
  shell: Shell,
): Promise<'turn' | 'late' | 'cancelled'> {
  return new Promise((resolve) => {
    const end = (how: 'turn' | 'late' | 'cancelled') => {
      for (const takeBack of takeBacks) takeBack();
      const at = queue.waiting.indexOf(mine);
      if (at >= 0) queue.waiting.splice(at, 1);
      resolve(how);
    };
    const mine = () => end('turn');
    queue.waiting.push(mine);
    const takeBacks = [shell.ports.clock.schedule(withinMs, () => end('late'))];
    for (const signal of [requester.cancelled, requester.left])
      takeBacks.push(onAbort(signal, () => queueMicrotask(() => end('cancelled'))));
  });
}

function taken(id: SessionId, shell: Shell): Turn {
  let given = false;
  const release = () => {
    if (given) return;
    given = true;
    const { turns } = shell.live;
    const next = turns.get(id)?.waiting.shift();
    if (next === undefined) turns.delete(id);
    else next();
  };
  return { kind: 'taken', release };
}

const pollEveryMs = 50;

/** Waits until no other call has the turn in the store. Returns null, or the call that still has it. */
export async function awaitFreeTurn(
  id: SessionId,
  call: CallId,
  withinMs: number,
  shell: Shell,
): Promise<CallId | null> {
  const { clock, store } = shell.ports;
  const until = clock.monotonicMs() + withinMs;
  for (;;) {
    const holder = (await store.session(id))?.workflow?.turn?.call ?? null;
    if (holder === null || holder === call) return null;
    const leftMs = until - clock.monotonicMs();
    if (leftMs <= 0 || !shell.live.readiness.ready) return holder;
    const running = shell.live.running.get(holder);
    const waited = pause(clock, Math.min(leftMs, running === undefined ? pollEveryMs : leftMs));
    // Ignored: only the end of the other step is waited for; its own caller hears the error.
    await (running === undefined ? waited : Promise.race([waited, running.outcome.catch(() => undefined)]));
    // The outcome resolves just before the call is removed from `running`: let that happen.
    if (running !== undefined) await pause(clock, 0);
  }
}
