/** Checks a stage as its author wrote it, and finds every problem. Must not run any code of the author's. */
import { maxBaseMs, maxRetries } from '../../../core/recovery/declared.ts';
import type { RetryRule } from '../../../core/recovery/playbook.ts';
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import { durationMs } from '../../../core/values/duration.ts';
import { maxLaterMs } from '../../../core/workflow/stage-rule.ts';
import { failedOutcome, skippedOutcome } from '../../../core/workflow/step-error.ts';
import { sourceOf } from '../../../core/workflow/read/reading.ts';

type Phase = (ctx: never, end: never) => unknown;

export interface CheckedStage {
  readonly setup: Phase | null;
  readonly act: Phase;
  readonly assert: Phase | null;
  readonly exit: Phase | null;
  readonly next: Phase | null;
  readonly events: readonly string[];
  /** The tools that it says it calls; empty if it does not say. */
  readonly calls: readonly string[];
  readonly retry: RetryRule | null;
  readonly unrecoverable: 'skip' | 'abort-workflow' | { readonly laterMs: number } | null;
  /** For the manifest that a session is pinned to. */
  readonly written: JsonObject;
}

type Report = (problem: string) => void;

const keys = ['setup', 'act', 'assert', 'exit', 'next', 'events', 'calls', 'retry', 'unrecoverable'];
const retryKeys = ['max_attempts', 'backoff', 'base', 'jitter'];
const backoffs = ['fixed', 'linear', 'exponential'] as const;
const eventName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Null if anything is wrong, which was reported. */
export function checkStage(given: unknown, report: Report): CheckedStage | null {
  if (!isObject(given)) {
    report('its stage is not an object; write stage: { act: async (ctx) => … }');
    return null;
  }
  let isRight = true;
  const complain: Report = (problem) => {
    isRight = false;
    report(problem);
  };
  for (const key of Object.keys(given))
    if (!keys.includes(key)) complain(`its stage has no part '${key.slice(0, 80)}'; known are ${keys.join(', ')}`);
  const phase = (name: string): Phase | null => {
    const code = given[name];
    if (code === undefined) return null;
    if (typeof code === 'function') return code as Phase;
    complain(`its stage has a '${name}' that is no function`);
    return null;
  };
  const act = phase('act');
  if (given['act'] === undefined) complain('its stage has no act; write act: async (ctx) => …');
  const parts = { setup: phase('setup'), assert: phase('assert'), exit: phase('exit'), next: phase('next') };
  const events = eventsOf(given['events'], parts.next !== null, complain);
  const calls = callsOf(given['calls'], complain);
  const retry = retryOf(given['retry'], complain);
  const unrecoverable = unrecoverableOf(given['unrecoverable'], complain);
  if (!isRight || act === null) return null;
  const written = writtenOf({ act, ...parts }, { events, retry, unrecoverable });
  return { act, ...parts, events, calls, retry, unrecoverable, written };
}

function eventsOf(given: unknown, hasNext: boolean, complain: Report): readonly string[] {
  if (given === undefined) return [];
  const own = [failedOutcome, skippedOutcome];
  const isUsable = (name: unknown) => typeof name === 'string' && eventName.test(name) && !own.includes(name);
  if (!Array.isArray(given) || !given.every(isUsable)) {
    complain(`its stage has events that are not usable; use names such as 'needs_repair', and not ${own.join(' or ')}`);
    return [];
  }
  if (!hasNext) complain('its stage has events and no next that names them; write next, or leave them out');
  return Object.freeze([...new Set(given as readonly string[])]);
}

function callsOf(given: unknown, complain: Report): readonly string[] {
  if (given === undefined) return [];
  if (Array.isArray(given) && given.every((tool) => typeof tool === 'string' && tool !== '')) return given as string[];
  complain("its stage has calls that are no names of tools; write calls: ['payments/charge']");
  return [];
}

function retryOf(given: unknown, complain: Report): RetryRule | null {
  if (given === undefined) return null;
  if (!isObject(given)) {
    complain('its stage has a retry that is no object; write retry: { max_attempts: 2 }');
    return null;
  }
  for (const key of Object.keys(given))
    if (!retryKeys.includes(key))
      complain(`the retry of its stage has no '${key.slice(0, 80)}'; known are ${retryKeys.join(', ')}`);
  const { max_attempts: most, backoff = 'exponential', base = 1_000, jitter = 0.2 } = given;
  const baseMs = msOf(base);
  const checks: readonly (readonly [boolean, string])[] = [
    [
      isWithin(most, maxRetries) && Number.isInteger(most),
      `the retry of its stage needs max_attempts, from 0 to ${maxRetries}`,
    ],
    [backoffs.includes(backoff as never), `the backoff of its stage is one of ${backoffs.join(', ')}`],
    [baseMs !== null && baseMs <= maxBaseMs, "the base of its stage's retry is a duration such as '2s', up to 1h"],
    [isWithin(jitter, 1), 'the jitter of its stage is from 0 to 1'],
  ];
  for (const [isRight, problem] of checks) if (!isRight) complain(problem);
  return {
    retryable: true,
    maxAttempts: most as number,
    backoff: backoff as RetryRule['backoff'],
    baseMs: baseMs ?? 0,
    jitter: jitter as number,
    classifier: {},
  };
}

const isWithin = (given: unknown, most: number): boolean => typeof given === 'number' && given >= 0 && given <= most;

function unrecoverableOf(given: unknown, complain: Report): CheckedStage['unrecoverable'] {
  if (given === undefined) return null;
  if (given === 'skip' || given === 'abort-workflow') return given;
  const laterMs = isObject(given) && Object.keys(given).join() === 'retry_later' ? msOf(given['retry_later']) : null;
  if (laterMs !== null && laterMs > 0 && laterMs <= maxLaterMs) return { laterMs };
  complain(
    "its stage has an unrecoverable that is not usable; write 'skip', 'abort-workflow' or { retry_later: '10m' }",
  );
  return null;
}

function msOf(given: unknown): number | null {
  if (typeof given === 'string') return durationMs(given);
  return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0 ? given : null;
}

function writtenOf(
  code: Readonly<Record<string, Phase | null>>,
  { events, retry, unrecoverable }: Pick<CheckedStage, 'events' | 'retry' | 'unrecoverable'>,
): JsonObject {
  const sources = Object.entries(code).flatMap(([name, each]) =>
    each === null ? [] : [[name, sourceOf(each)] as const],
  );
  return {
    ...Object.fromEntries(sources),
    events: [...events],
    retry: retry as unknown as Json,
    unrecoverable: unrecoverable as unknown as Json,
  };
}
