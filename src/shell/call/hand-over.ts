/**
 * Tracks whether the reply of a write without a key was handed over, or its requester left. Known in the same turn of
 * the event loop, so that an equal call waits until it is on record. Memory only; after a crash the answered mark of
 * the store tells (ADR 0047).
 */
import type { Call } from '../../core/call/call.ts';
import type { Position } from '../../core/journal/record.ts';
import { commit, keepForLater, pause } from '../upkeep/commit.ts';
import { type Asker, heldBy, isGone, onAbort, type Requester } from './requester.ts';
import type { Shell } from '../shell.ts';
import { leaving } from '../ending/transition.ts';

/** Those of this many who keep their connection are told apart from others; beyond it their places are free for all. */
const maxHeld = 10_000;

/**
 * INVARIANT: before anything is read about equal calls, so that of two who ask at once the later one sees the earlier.
 */
export function enter(call: Call, requester: Requester, shell: Shell): void {
  const { askers } = shell.live;
  if (call.key !== null || call.effectClass === 'pure' || askers.of.has(requester)) return;
  // Who cannot leave, and has the reply when it is returned, need not be looked for.
  const { cancelled, left, written } = requester;
  if (cancelled === undefined && left === undefined && written === undefined) return;
  const place = placeOf(call);
  const asker: Asker = { place, requester, call, ending: null, release: null };
  const here = askers.at.get(place) ?? new Set();
  askers.of.set(requester, asker);
  askers.at.set(place, here.add(asker));
}

/** The request was answered. Where a reply is on its way, its asker stays until it is known what became of it. */
export async function answered(requester: Requester, shell: Shell): Promise<void> {
  const asker = shell.live.askers.of.get(requester);
  if (asker === undefined) return;
  // INVARIANT: a client that closed before its reply is written is known to have left, also one that closed during the
  // last commit.
  await requester.heard?.();
  const forget = () => remove(asker, shell);
  if (asker.ending === null) forget();
  else void asker.ending.then(forget, forget);
}

/**
 * The reply of `call`, recorded at `position`, goes to the door; or the word that it is still under way. It is handed
 * over when its last byte was written and the client was still there.
 */
export function handOver(
  call: Call,
  position: Position | null | Promise<Position | null>,
  requester: Requester,
  shell: Shell,
): void {
  const put = (at: Position | null) => (at === null ? undefined : shell.ports.store.answered(at));
  const mark = () => (position instanceof Promise ? void position.then(put) : put(position));
  const asker = shell.live.askers.of.get(requester);
  // With a key its call is found by that, and a read runs again: nobody needs to know whether it arrived.
  if (asker === undefined || requester.written === undefined) return mark();
  asker.call = call;
  asker.ending = requester.written.then((whole) =>
    whole && !isGone(requester) ? mark() : leave(asker, shell).recorded,
  );
}

/** The requester waits no longer, for they left or cancelled. Resolves when that was tried to be put on record. */
export function giveUp(call: Call, requester: Requester, shell: Shell): Promise<void> {
  const asker = shell.live.askers.of.get(requester);
  if (asker === undefined) return requesterLeft(call, shell);
  asker.call = call;
  const { tried, recorded } = leave(asker, shell);
  asker.ending = recorded;
  return tried;
}

function leave(asker: Asker, shell: Shell): { readonly tried: Promise<void>; readonly recorded: Promise<void> } {
  const { promise: recorded, resolve } = Promise.withResolvers<void>();
  const put = () => requesterLeft(asker.call, shell, resolve);
  const held = heldBy(asker.requester);
  const { askers } = shell.live;
  if (held === null || held.aborted || askers.held >= maxHeld) return { tried: put(), recorded };
  askers.held += 1;
  const end = (how: () => Promise<void>) => {
    if (asker.release === null) return;
    asker.release = null;
    askers.held -= 1;
    stopListening();
    takeBack();
    void how();
  };
  asker.release = () => end(put);
  const takeBack = shell.ports.clock.background(shell.limits.attachWindowMs, () =>
    end(async () => {
      // Nobody can take the place any more.
      const position = (await shell.ports.store.call(asker.call.id))?.replyAt ?? null;
      if (position !== null) shell.ports.store.answered(position);
      resolve();
    }),
  );
  const stopListening = onAbort(held, asker.release);
  return { tried: Promise.resolve(), recorded };
}

/** `recorded` is called once it is on record, which may be long after: the sweeper goes on trying. */
export async function requesterLeft(call: Call, shell: Shell, recorded?: () => void): Promise<void> {
  const transition = leaving(call, shell);
  const result = await commit(transition, shell);
  // An equal write of the same caller must find the place free.
  if (result.kind === 'unavailable') keepForLater(transition, shell, null, recorded);
  else recorded?.();
}

/** What is known here of an equal call whose requester is gone and whose place this requester may take. */
export type Earlier =
  | { readonly kind: 'on_record' }
  /** It is the same client's, which keeps its connection. */
  | { readonly kind: 'own'; readonly call: Call; readonly release: () => void }
  | { readonly kind: 'unrecorded' };

/** Two turns of the loop: whatever had arrived when the request was read is heard by then. */
const turns = 2;
const lookEveryMs = 5;
/** Longer than a commit is tried. */
const patienceMs = 15_000;

/**
 * Waits until whatever this process knows about earlier equal calls is on record. While one of them has its requester,
 * it looks again a moment later: a client that closes and sends again on another connection may be heard in the wrong
 * order.
 */
export async function earlierEqual(call: Equal, requester: Requester, shell: Shell): Promise<Earlier> {
  const { askers } = shell.live;
  const until = shell.ports.clock.monotonicMs() + patienceMs;
  for (let looks = 0; ; looks++) {
    const before = earlierAt(placeOf(call), askers.of.get(requester), askers.at);
    const mine = before.filter((asker) => mayTake(asker, requester));
    const own = mine.find(({ release }) => release !== null);
    if (own !== undefined && own.release !== null) return { kind: 'own', call: own.call, release: own.release };
    const isLeaving = mine.some((asker) => isGone(asker.requester));
    if (before.length === 0 || (!isLeaving && looks >= turns)) return { kind: 'on_record' };
    if (shell.ports.clock.monotonicMs() >= until) return { kind: 'unrecorded' };
    await pause(shell.ports.clock, looks < turns ? 0 : lookEveryMs);
  }
}

/**
 * For another process that is about to record an equal write: is what this one knows on record? False if it could not
 * be.
 */
export async function knownOnRecord(equal: Equal, shell: Shell): Promise<boolean> {
  return (await earlierEqual(equal, {}, shell)).kind !== 'unrecorded';
}

/** Those who came before; all who are there, for somebody who is not among them. */
function earlierAt(place: string, mine: Asker | undefined, at: Shell['live']['askers']['at']): readonly Asker[] {
  const here = [...(at.get(place) ?? [])];
  return mine === undefined ? here : here.slice(0, here.indexOf(mine));
}

/** INVARIANT: the place of a request is never taken from a client that is there by another one. */
function mayTake({ requester }: Asker, mine: Requester): boolean {
  const held = heldBy(requester);
  return held === null || held.aborted || requester.connection === mine.connection;
}

function remove(asker: Asker, { live: { askers } }: Shell): void {
  askers.of.delete(asker.requester);
  const here = askers.at.get(asker.place);
  here?.delete(asker);
  if (here?.size === 0) askers.at.delete(asker.place);
}

type Equal = Pick<Call, 'fingerprint'> & { readonly session: string | null };

const placeOf = ({ session, fingerprint }: Equal): string => `${session} ${fingerprint}`;
