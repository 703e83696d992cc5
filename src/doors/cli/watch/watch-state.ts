/** The state of the live screen: a state and an event in, the next state and the effects out. Pure. */
import type { ApprovalEvent, ApprovalView } from '../../../core/approval/approval-view.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { Key } from './screen.ts';
import { pairsOf, sentenceOf, stateNow } from '../print/write-approval.ts';

/** The mode of the screen. An approval that is asked about is kept as it was shown. */
export type WatchMode =
  | { readonly kind: 'list' }
  | { readonly kind: 'details'; readonly id: string; readonly from: number }
  | { readonly kind: 'approving'; readonly seen: ApprovalView; readonly from: number }
  | { readonly kind: 'denying'; readonly seen: ApprovalView; readonly reason: string };

export interface WatchState {
  readonly link: 'connecting' | 'live' | 'lost';
  /** Why there is no connection; null while there is one. */
  readonly trouble: string | null;
  /** Oldest first. */
  readonly pending: readonly ApprovalView[];
  /** The id of the selected approval, so that updates do not move the selection. */
  readonly chosen: string | null;
  readonly mode: WatchMode;
  /** Recent events, newest last. */
  readonly heard: readonly string[];
  readonly nowMs: number;
}

export type WatchEvent =
  | { readonly kind: 'key'; readonly key: Key }
  | { readonly kind: 'listed'; readonly pending: readonly ApprovalView[] }
  | { readonly kind: 'changed'; readonly event: ApprovalEvent }
  | { readonly kind: 'lost'; readonly trouble: string }
  /** The answer to a decision of this user. */
  | { readonly kind: 'answered'; readonly sentence: string }
  | { readonly kind: 'ticked'; readonly nowMs: number };

export type WatchEffect =
  | { readonly kind: 'approve'; readonly id: string; readonly shown: string }
  | { readonly kind: 'deny'; readonly id: string; readonly shown: string; readonly reason: string }
  | { readonly kind: 'quit' };

export type Watched = readonly [next: WatchState, effects: readonly WatchEffect[]];

const maxHeard = 50;
const maxReasonChars = 500;

export const watchBegins = (nowMs: number): WatchState => ({
  link: 'connecting',
  trouble: null,
  pending: [],
  chosen: null,
  mode: { kind: 'list' },
  heard: [],
  nowMs,
});

export function watch(state: WatchState, event: WatchEvent): Watched {
  switch (event.kind) {
    case 'key':
      return pressed(state, event.key);
    case 'listed':
      return [settled({ ...state, link: 'live', trouble: null, pending: event.pending }), []];
    case 'changed':
      return [settled(changed(state, event.event)), []];
    case 'lost':
      return [{ ...state, link: 'lost', trouble: event.trouble }, []];
    case 'answered':
      return [hear(state, event.sentence), []];
    case 'ticked':
      return [settled({ ...state, nowMs: event.nowMs }), []];
    default:
      return unreachable(event);
  }
}

function changed(state: WatchState, event: ApprovalEvent): WatchState {
  const { approval } = event;
  const others = state.pending.filter((each) => each.approval_id !== approval.approval_id);
  const isPending = approval.state === 'pending';
  const pending = isPending ? [...others, approval] : others;
  return hear({ ...state, pending }, sentenceOf(event));
}

const hear = (state: WatchState, sentence: string): WatchState => ({
  ...state,
  heard: [...state.heard, `${clock(state.nowMs)} ${sentence}`].slice(-maxHeard),
});

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

/** Sorted, without expired approvals, with a valid selection; a question about a removed approval is closed. */
function settled(state: WatchState): WatchState {
  const pending = state.pending
    .filter((each) => stateNow(each, state.nowMs) === 'pending')
    .toSorted((a, b) => a.opened_at.localeCompare(b.opened_at) || a.approval_id.localeCompare(b.approval_id));
  const isThere = (id: string | null) => pending.some((each) => each.approval_id === id);
  const before = state.pending.findIndex((each) => each.approval_id === state.chosen);
  const next = pending[Math.min(Math.max(before, 0), pending.length - 1)]?.approval_id ?? null;
  const chosen = isThere(state.chosen) ? state.chosen : next;
  const about = aboutWhat(state.mode);
  if (about === null || isThere(about)) return { ...state, pending, chosen };
  const list: WatchState = { ...state, pending, chosen, mode: { kind: 'list' } };
  // Say why the question is gone.
  return state.mode.kind === 'details' ? list : hear(list, `${about} is no longer pending: nothing was sent`);
}

function aboutWhat(mode: WatchMode): string | null {
  if (mode.kind === 'list') return null;
  return mode.kind === 'details' ? mode.id : mode.seen.approval_id;
}

function pressed(state: WatchState, key: Key): Watched {
  if (key.name === 'interrupt') return [state, [{ kind: 'quit' }]];
  const { mode } = state;
  switch (mode.kind) {
    case 'list':
      return inList(state, key);
    case 'details':
      return inDetails(state, mode, key);
    case 'approving':
      return inApproving(state, mode, key);
    case 'denying':
      return inDenying(state, mode, key);
    default:
      return unreachable(mode);
  }
}

const chosenIn = ({ pending, chosen }: WatchState): ApprovalView | undefined =>
  pending.find((each) => each.approval_id === chosen);

/** One step up or down; null for every other key. */
function move({ name, text }: Key): -1 | 1 | null {
  if (name === 'up' || text === 'k') return -1;
  return name === 'down' || text === 'j' ? 1 : null;
}

/** Not past the last line, however large the screen is. */
function scrolled(to: number, seen: ApprovalView | undefined, nowMs: number): number {
  if (seen === undefined) return 0;
  const lines = pairsOf(seen, nowMs).reduce((sum, [, value]) => sum + [value].flat().length, 0);
  return Math.min(Math.max(0, to), lines);
}

function inList(state: WatchState, key: Key): Watched {
  const step = move(key);
  if (step !== null) {
    const at = state.pending.findIndex((each) => each.approval_id === state.chosen);
    const next = state.pending[Math.min(Math.max(at + step, 0), state.pending.length - 1)];
    return [{ ...state, chosen: next?.approval_id ?? null }, []];
  }
  if (key.text === 'q') return [state, [{ kind: 'quit' }]];
  const seen = chosenIn(state);
  if (seen === undefined) return [state, []];
  if (key.name === 'enter') return [{ ...state, mode: { kind: 'details', id: seen.approval_id, from: 0 } }, []];
  return asking(state, seen, key, 0);
}

function asking(state: WatchState, seen: ApprovalView, { text }: Key, from: number): Watched {
  if (text === 'a') return [{ ...state, mode: { kind: 'approving', seen, from } }, []];
  if (text === 'd') return [{ ...state, mode: { kind: 'denying', seen, reason: '' } }, []];
  return [state, []];
}

function inDetails(state: WatchState, mode: WatchMode & { kind: 'details' }, key: Key): Watched {
  const step = move(key);
  if (step !== null) {
    const seen = state.pending.find((each) => each.approval_id === mode.id);
    return [{ ...state, mode: { ...mode, from: scrolled(mode.from + step, seen, state.nowMs) } }, []];
  }
  if (key.name === 'escape' || key.name === 'enter' || key.text === 'q')
    return [{ ...state, mode: { kind: 'list' } }, []];
  const seen = state.pending.find((each) => each.approval_id === mode.id);
  return seen === undefined ? [state, []] : asking(state, seen, key, mode.from);
}

/** INVARIANT: only `y` approves, and only what was on the screen when the question was asked. */
function inApproving(state: WatchState, mode: WatchMode & { kind: 'approving' }, key: Key): Watched {
  const step = move(key);
  if (step !== null)
    return [{ ...state, mode: { ...mode, from: scrolled(mode.from + step, mode.seen, state.nowMs) } }, []];
  const list: WatchState = { ...state, mode: { kind: 'list' } };
  if (key.text !== 'y') return [list, []];
  const { approval_id: id, shown } = mode.seen;
  return [list, [{ kind: 'approve', id, shown }]];
}

function inDenying(state: WatchState, mode: WatchMode & { kind: 'denying' }, key: Key): Watched {
  const { seen, reason } = mode;
  const list: WatchState = { ...state, mode: { kind: 'list' } };
  if (key.name === 'escape') return [list, []];
  if (key.name === 'backspace') return [{ ...state, mode: { ...mode, reason: [...reason].slice(0, -1).join('') } }, []];
  if (key.name === 'text')
    return [{ ...state, mode: { ...mode, reason: `${reason}${key.text}`.slice(0, maxReasonChars) } }, []];
  if (key.name !== 'enter' || reason.trim() === '') return [state, []];
  return [list, [{ kind: 'deny', id: seen.approval_id, shown: seen.shown, reason: reason.trim() }]];
}
