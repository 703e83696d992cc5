/**
 * Which workflow sessions are kept? At most `maxSessions`: the longest unused make way for a new one, and what is above the limit
 * all the same is trimmed by the sweeper. Whoever opens one asks here first. Steps never wait for any of this.
 */
import type { SessionId } from '../../core/call/call.ts';
import type { StoreFault } from '../../ports/store.ts';
import { closeSession } from './close-session.ts';
import type { Shell } from '../shell.ts';

export type NoRoom =
  /** Every session is in use. */
  { readonly kind: 'full' } | { readonly kind: 'unavailable'; readonly fault: StoreFault };

/** Openings that wait for others to look whether there is room; the next one is told that the gateway is busy. */
const maxWaiting = 10_000;

/** Sessions that are closed at once, and how often for one opening: a limit that was lowered may leave many to be closed. */
const closeAtOnce = 256;
const maxBatches = 64;

/** How often the sweeper counts, as long as it finds no session too many. */
const countEveryMs = 10_000;

/**
 * Opens a session if it fits. Who looks for room waits for whoever looked before; what was found to fit is written side by side.
 * `source`: the session that it is forked from, which does not make way for its own fork.
 */
export async function withRoom<Opened>(
  open: () => Promise<Opened>,
  shell: Shell,
  source: SessionId | null = null,
): Promise<Opened | NoRoom> {
  const { room } = shell.live;
  if (room.waiting >= maxWaiting) return { kind: 'unavailable', fault: 'overloaded' };
  const found = await inLine(async () => {
    const no = await makeRoom(source, shell);
    if (no !== null) return { no };
    const opening = open();
    room.opening.add(opening);
    const written = () => void room.opening.delete(opening);
    opening.then(written, written);
    return { opening };
  }, shell);
  return 'no' in found ? found.no : found.opening;
}

/** INVARIANT: one at a time counts and closes, or each would find the same place free. */
function inLine<Result>(act: () => Promise<Result>, { live: { room } }: Shell): Promise<Result> {
  room.waiting += 1;
  const mine = room.last.then(act);
  const next = () => void (room.waiting -= 1);
  room.last = mine.then(next, next);
  return mine;
}

/** Null if one more session fits, if need be by closing those that nobody used for the longest time. */
async function makeRoom(source: SessionId | null, shell: Shell): Promise<NoRoom | null> {
  const { live, limits, ports } = shell;
  if (!live.readiness.ready) return { kind: 'unavailable', fault: 'closed' };
  if ((await ports.store.countSessions()) + live.room.opening.size < limits.maxSessions) return null;
  // Some of them may be counted twice by now: here it matters, so they are written down first.
  await Promise.allSettled(live.room.opening);
  return closeDownTo(limits.maxSessions - 1, maxBatches, source, shell);
}

async function closeDownTo(
  most: number,
  batches: number,
  source: SessionId | null,
  shell: Shell,
): Promise<NoRoom | null> {
  const { store } = shell.ports;
  for (let batch = 0; batch < batches; batch++) {
    const over = Math.min((await store.countSessions()) - most, closeAtOnce);
    if (over <= 0) return null;
    // INVARIANT: a session in which a step runs, or is about to, or a timer waits is never given up.
    const { turns, room } = shell.live;
    const stays = (id: SessionId) => turns.has(id) || room.beginning.has(id) || id === source;
    const idle = await store.idleSessions(Number.MAX_SAFE_INTEGER, over + turns.size + room.beginning.size + 1);
    const unused = idle.filter(({ id }) => !stays(id)).slice(0, over);
    if (unused.length === 0) return { kind: 'full' };
    for (const closed of await Promise.all(unused.map((session) => closeSession(session, 'capacity', shell))))
      if (closed.kind === 'unavailable') return { kind: 'unavailable', fault: closed.fault };
  }
  return { kind: 'full' };
}

/** For the sweeper: what other processes opened beyond the limit, or this one before the limit was lowered. */
export async function trimSessions(shell: Shell): Promise<void> {
  const { live, limits, ports, workflows } = shell;
  if (workflows.size === 0 || ports.clock.monotonicMs() < live.room.countAtMs) return;
  const left = await inLine(() => closeDownTo(limits.maxSessions, 1, null, shell), shell);
  if (left === null) live.room.countAtMs = ports.clock.monotonicMs() + countEveryMs;
}
