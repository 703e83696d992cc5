/**
 * The last calls, as they are decided and end. Events are collected and put on the page once a frame; so many calls are
 * kept at most. Goes on while other pages are shown, so that coming back shows no gap.
 */
import { signal } from '@preact/signals';
import type { CallEntry, CallMoment } from '../../../src/core/http/look/call-look.ts';
import type { CallState } from '../../../src/core/taxonomy.ts';
import { get } from './api.ts';
import { follow } from './follow.ts';

/** Beyond, the oldest are forgotten here; the store has them all. */
export const maxLive = 5_000;
const backRecords = 2_000;
const firstPage = 200;
/** The sparklines show so many seconds. */
export const seconds = 90;

export interface LiveCall {
  readonly id: string;
  readonly agent: string;
  readonly tool: string;
  readonly session: string | null;
  readonly state: CallState;
  readonly code: string | null;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** What happened in one second. */
export interface Second {
  decided: number;
  ended: number;
  tookMs: number;
}

export interface LiveState {
  /** The newest first. */
  readonly calls: readonly LiveCall[];
  readonly connection: 'opening' | 'open' | 'broken';
  /** By second, the last one is now. */
  readonly pace: readonly Second[];
  /** How many events have come. */
  readonly events: number;
  readonly seen: Seen;
}

/** The values that filters offer: few, and they only grow. */
export interface Seen {
  readonly state: readonly string[];
  readonly code: readonly string[];
  readonly agent: readonly string[];
  readonly tool: readonly string[];
  readonly session: readonly string[];
}

const noneSeen: Seen = { state: [], code: [], agent: [], tool: [], session: [] };

export const live = signal<LiveState>({ calls: [], connection: 'opening', pace: [], events: 0, seen: noneSeen });

const known = new Map<string, LiveCall>();
const pace = new Map<number, Second>();
let ids: string[] = [];
/** Not yet among them. */
let fresh: string[] = [];
let pending: CallMoment[] = [];
let planned = false;
let events = 0;
let connection: LiveState['connection'] = 'opening';
let stop: (() => void) | null = null;

export function startLive(): void {
  if (stop !== null) return;
  const ending = follow({
    path: `/v1/calls/events?back=${backRecords}`,
    after: null,
    onEvent(name, data) {
      if (name !== 'call' || data === null) return;
      pending.push(data as CallMoment);
      plan();
    },
    onOpen: () => setConnection('open'),
    onBroken: () => setConnection('broken'),
  });
  const timer = setInterval(plan, 1_000);
  stop = () => {
    ending();
    clearInterval(timer);
  };
  void loadFirst();
}

export function stopLive(): void {
  stop?.();
  stop = null;
  known.clear();
  [ids, fresh, seen] = [[], [], noneSeen];
  pace.clear();
  pending = [];
  events = 0;
}

function setConnection(now: LiveState['connection']): void {
  connection = now;
  plan();
}

/** Those before the stream begins; they have no code. */
async function loadFirst(): Promise<void> {
  const answer = await get<{ readonly calls: readonly CallEntry[] }>(`/v1/calls?limit=${firstPage}`);
  if (!answer.ok) return;
  for (const call of answer.value.calls) {
    if (known.has(call.call_id)) continue;
    put({
      id: call.call_id,
      agent: call.agent,
      tool: call.tool,
      session: call.session,
      state: call.state,
      code: null,
      createdMs: Date.parse(call.created_at),
      updatedMs: Date.parse(call.updated_at),
    });
  }
  plan();
}

/** Nobody reads faster than this, however many events come; each update is one frame. */
const betweenMs = 100;
/** A page that is hidden gets no frames. */
const hiddenMs = 500;
let shownAtMs = 0;

function plan(): void {
  if (planned) return;
  planned = true;
  const waitMs = document.hidden ? hiddenMs : Math.max(0, shownAtMs + betweenMs - performance.now());
  setTimeout(() => (document.hidden ? show() : requestAnimationFrame(show)), waitMs);
}

function show(): void {
  planned = false;
  shownAtMs = performance.now();
  for (const moment of pending) take(moment);
  events += pending.length;
  pending = [];
  order();
  live.value = { calls: ids.map((id) => known.get(id) as LiveCall), connection, pace: paceNow(), events, seen };
}

/** Ids, the newest first. Those that came since are put in their places; almost always that is before all others. */
function order(): void {
  if (fresh.length === 0) return;
  const isNewer = (a: string, b: string) => (known.get(b)?.createdMs ?? 0) - (known.get(a)?.createdMs ?? 0);
  fresh.sort((a, b) => isNewer(a, b) || (a < b ? 1 : -1));
  const [oldest, newest] = [known.get(fresh.at(-1) ?? ''), known.get(ids[0] ?? '')];
  const isInOrder = oldest === undefined || newest === undefined || oldest.createdMs >= newest.createdMs;
  ids = [...fresh, ...ids];
  if (!isInOrder) ids.sort((a, b) => isNewer(a, b) || (a < b ? 1 : -1));
  for (const id of ids.splice(maxLive)) known.delete(id);
  fresh = [];
}

const maxSeen = 200;
let seen: Seen = noneSeen;

function see(call: LiveCall): void {
  for (const name of Object.keys(seen) as (keyof Seen)[]) {
    const value = call[name];
    if (value === null || seen[name].length >= maxSeen || seen[name].includes(value)) continue;
    seen = { ...seen, [name]: [...seen[name], value].sort() };
  }
}

function put(call: LiveCall): void {
  if (!known.has(call.id)) fresh.push(call.id);
  known.set(call.id, call);
  see(call);
}

function take({ call_id: id, agent, tool, session, state, code, at, created_at, change }: CallMoment): void {
  const atMs = Date.parse(at);
  const before = known.get(id);
  const createdMs = before?.createdMs ?? Date.parse(created_at);
  count(change, state, atMs, atMs - createdMs);
  if (before !== undefined && before.updatedMs > atMs) return;
  // A call that ran after all has no code any more.
  const now = code ?? (state === 'SUCCEEDED' || state === 'PREPARED' ? null : (before?.code ?? null));
  put({ id, agent, tool, session, state, code: now, createdMs, updatedMs: atMs });
}

const decides = new Set(['refused', 'held', 'prepared']);

function count(change: string, state: CallState, atMs: number, tookMs: number): void {
  const second = Math.floor(atMs / 1_000);
  const entry = pace.get(second) ?? { decided: 0, ended: 0, tookMs: 0 };
  pace.set(second, entry);
  if (decides.has(change)) entry.decided += 1;
  if (state !== 'SUCCEEDED') return;
  entry.ended += 1;
  entry.tookMs += tookMs;
}

function paceNow(): readonly Second[] {
  const now = Math.floor(Date.now() / 1_000);
  for (const second of pace.keys()) if (second < now - seconds * 2) pace.delete(second);
  return Array.from({ length: seconds }, (_, at) => pace.get(now - seconds + 1 + at) ?? nothing);
}

const nothing: Second = { decided: 0, ended: 0, tookMs: 0 };
