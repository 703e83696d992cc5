/** The rules of stages that need no code: retry, limits, the names of their calls and timers. Pure. */
import { pausesOf, type RetryRule } from '../recovery/playbook.ts';
import type { JsonObject } from '../values/json.ts';
import type { Snapshot, WorkflowTimer } from './workflow.ts';

/** How often `next` may enter `act` again in one attempt, and how many calls one pass may make. */
export const maxActPasses = 10;
export const maxStageCalls = 1_000;
/** How often a stage is tried later, one time after the other, before it counts as failed. */
export const maxLaterRounds = 10;
/** A week: a longer wait belongs into a calendar. */
export const maxLaterMs = 7 * 24 * 3_600_000;
/** For a stage without a time of its own. */
export const stageTimeoutMs = 300_000;

/** Over all attempts of all processes the same call of a stage has the same name. */
export const stageCallName = (attempt: number, pass: number, position: number): string =>
  `stage/${attempt}.${pass}.${position}`;

/** The pause before attempt `attempt + 1`; null if there is none. */
export function stagePauseMs(rule: RetryRule | null, attempt: number, chance: number): number | null {
  if (rule === null || !rule.retryable) return null;
  const pause = pausesOf(rule)[attempt - 1];
  return pause === undefined ? null : Math.round(pause * (1 + rule.jitter * (2 * chance - 1)));
}

export const laterType = 'recourse.later';

/** A stage of this action is to be tried again: kept among the timers of its session. */
export interface LaterTry {
  readonly action: string;
  /** The call whose inputs it has. */
  readonly call: string;
  readonly round: number;
  readonly dueAtMs: number;
}

export function laterTimer({ action, call, round, dueAtMs }: LaterTry): WorkflowTimer {
  return { id: `${laterType}.${action}`, event: { type: laterType, action, call, round }, dueAtMs };
}

/** Null for a timer of the machine. */
export function readLater({ event, dueAtMs }: WorkflowTimer): LaterTry | null {
  const { type, action, call, round } = event as JsonObject;
  if (type !== laterType || typeof action !== 'string' || typeof call !== 'string') return null;
  return { action, call, round: typeof round === 'number' ? round : 1, dueAtMs };
}

export const laterOf = (snapshot: Snapshot, action: string): LaterTry | null =>
  snapshot.timers.map(readLater).find((later) => later?.action === action) ?? null;

/** A step of the action has ended, whoever asked for it: it is not tried again later. */
export function withoutLater(snapshot: Snapshot, action: string): Snapshot {
  if (laterOf(snapshot, action) === null) return snapshot;
  return { ...snapshot, timers: snapshot.timers.filter((timer) => readLater(timer)?.action !== action) };
}

export function withLater(snapshot: Snapshot, later: LaterTry): Snapshot {
  const timers = [...withoutLater(snapshot, later.action).timers, laterTimer(later)];
  return { ...snapshot, timers: timers.toSorted((a, b) => a.dueAtMs - b.dueAtMs || (a.id < b.id ? -1 : 1)) };
}

/** What setup wrote becomes part of the context. */
export const withContext = (snapshot: Snapshot, context: JsonObject): Snapshot =>
  Object.keys(context).length === 0 ? snapshot : { ...snapshot, context: { ...snapshot.context, ...context } };
