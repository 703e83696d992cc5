/**
 * Runs a stage phase by phase: setup, act, assert, exit, next. Each phase is on record before it begins, so a stage that
 * is run again after a crash goes on where it stood. Effects are those of its calls alone, each under a name of its own.
 */
import { canonicalise } from '../../../core/values/canonical.ts';
import type { Json, JsonObject } from '../../../core/values/json.ts';
import { isObject } from '../../../core/values/json.ts';
import { invariant, unreachable } from '../../../core/values/unreachable.ts';
import { maxActPasses, stagePauseMs } from '../../../core/workflow/stage-rule.ts';
import type { StageAt, StageEnd, StageJournal } from '../../../ports/stage.ts';
import { type Attempt, type Failure, makeFailure, type UpstreamResult } from '../../../ports/upstream.ts';
import { failureOf } from '../describe-throw.ts';
import { freeze } from '../tool-context.ts';
import type { CheckedStage } from './check-stage.ts';
import { type Calls, createCalls } from './stage-calls.ts';
import { errorOf, isKnownFailure } from './stage-error.ts';

const first: StageAt = {
  phase: 'setup',
  attempt: 1,
  pass: 1,
  context: {},
  acted: null,
  hadEffect: false,
  outcome: null,
  result: null,
  error: null,
  untilMs: null,
};

interface Run {
  readonly stage: CheckedStage;
  readonly inputs: Json;
  readonly given: Attempt;
  readonly journal: StageJournal;
  readonly signal: AbortSignal;
  readonly maxDepth: number;
}

/** What follows a phase: the next one, or the end. */
type Move = { readonly to: StageAt } | { readonly end: UpstreamResult };

/** Never rejects. */
export async function runStage(
  stage: CheckedStage,
  given: Attempt,
  signal: AbortSignal,
  maxDepth: number,
): Promise<UpstreamResult> {
  const { stage: journal } = given;
  invariant(journal !== undefined, 'a stage has its journal');
  const inputs = freeze(structuredClone(given.args));
  const run: Run = { stage, inputs, given, journal, signal, maxDepth };
  let at = (await journal.last()) ?? first;
  // What was read from the record is there.
  let isOnRecord = true;
  for (;;) {
    if (signal.aborted) return stopped(at, signal);
    // INVARIANT: a phase of the author's is on record before it begins.
    if (!isOnRecord && isKept(at, stage) && !(await journal.record(at))) return stopped(at, signal);
    const move = await runPhase(at, run);
    if ('end' in move) return move.end;
    at = move.to;
    isOnRecord = false;
  }
}

/** A phase without code leaves nothing to lose; setup begins again from where its attempt began. */
function isKept({ phase }: StageAt, stage: CheckedStage): boolean {
  return phase === 'wait' || (phase !== 'setup' && stage[phase] !== null);
}

function runPhase(at: StageAt, run: Run): Promise<Move> {
  switch (at.phase) {
    case 'setup':
      return setUp(at, run);
    case 'act':
      return act(at, run);
    case 'assert':
      return check(at, run);
    case 'exit':
      return exit(at, run);
    case 'next':
      return next(at, run);
    case 'wait':
      return wait(at, run);
    default:
      return unreachable(at.phase);
  }
}

async function setUp(at: StageAt, run: Run): Promise<Move> {
  const made = await author(run.stage.setup, at, run);
  if ('failure' in made) return afterFailure(at, made.failure, run);
  const context = made.value ?? {};
  if (isObject(context)) return { to: { ...at, phase: 'act', pass: 1, context: context as JsonObject } };
  return afterFailure(at, makeFailure('threw', 'setup must give the fields of the context that change'), run);
}

async function act(at: StageAt, run: Run): Promise<Move> {
  const calls = createCalls(at, run.given, run.signal);
  const made = await author(run.stage.act, at, run, { call: calls.call });
  await calls.rest();
  const after = { ...at, hadEffect: at.hadEffect || calls.hadEffect() };
  // INVARIANT: while a call of it is in doubt a stage neither fails nor succeeds, whatever its author made of that.
  const doubt = calls.doubt();
  if (doubt !== null) return { end: inDoubt(after, doubt) };
  if (run.signal.aborted) return { end: stopped(after, run.signal) };
  if ('failure' in made) return afterFailure(after, made.failure, run);
  return { to: { ...after, phase: 'assert', acted: made.value } };
}

async function check(at: StageAt, run: Run): Promise<Move> {
  const made = await author(run.stage.assert, at, run, undefined, at.acted);
  if ('failure' in made) return afterFailure(at, made.failure, run);
  const { value } = made;
  if (value === null || value === true) return { to: { ...at, phase: 'exit' } };
  const why = typeof value === 'string' ? value : 'the assertion of the stage does not hold';
  return afterFailure(at, makeFailure('threw', why, { errorType: 'AssertionFailed' }), run);
}

async function exit(at: StageAt, run: Run): Promise<Move> {
  const { exit: code } = run.stage;
  const made = code === null ? { value: at.acted } : await author(code, at, run, undefined, at.acted);
  if ('failure' in made) return afterFailure(at, made.failure, run);
  return { to: { ...at, phase: 'next', outcome: 'succeeded', result: made.value, error: null } };
}

async function next(at: StageAt, run: Run): Promise<Move> {
  const { stage } = run;
  const { outcome, acted, result, error } = at;
  const end = outcome === 'failed' ? { outcome, acted: null, result: null, error } : { outcome, acted, result, error };
  const made = await author(stage.next, at, run, undefined, end as unknown as Json);
  if ('failure' in made) return { end: await failed(at, made.failure, null, run) };
  const chosen = isObject(made.value) ? made.value : {};
  const { event } = chosen;
  if (chosen['again'] === true && at.pass < maxActPasses)
    return { to: { ...at, phase: 'act', pass: at.pass + 1, outcome: null, acted: null, result: null, error: null } };
  if (typeof event === 'string' && !stage.events.includes(event)) {
    const message = `next named the event '${event.slice(0, 80)}', which the stage does not declare in events`;
    return { end: await failed(at, makeFailure('threw', message), null, run) };
  }
  const named = typeof event === 'string' ? event : null;
  if (outcome === 'succeeded')
    return { end: { kind: 'returned', output: result, errors: [], stage: endOf(at, { outcome: named }) } };
  return { end: await failed(at, failureFrom(at.error), named, run) };
}

async function wait(at: StageAt, run: Run): Promise<Move> {
  const leftMs = Math.max(0, (at.untilMs ?? 0) - run.journal.nowMs());
  if (leftMs > 0 && !(await run.journal.pause(leftMs, run.signal))) return { end: stopped(at, run.signal) };
  return { to: { ...first, attempt: at.attempt + 1, hadEffect: at.hadEffect } };
}

/** An attempt has failed: another one from setup on, or `next` decides. */
async function afterFailure(at: StageAt, failure: Failure, { stage, journal, signal }: Run): Promise<Move> {
  if (signal.aborted) return { end: stopped(at, signal) };
  const error = errorOf(failure, at.hadEffect);
  const pauseMs = stagePauseMs(stage.retry, at.attempt, journal.chance());
  if (pauseMs !== null) return { to: { ...at, phase: 'wait', error, untilMs: journal.nowMs() + pauseMs } };
  return { to: { ...at, phase: 'next', outcome: 'failed', acted: null, result: null, error } };
}

/** What a phase gave, as our own JSON; null if it gave nothing or is not there. */
type Made = { readonly value: Json } | { readonly failure: Failure };

async function author(
  code: CheckedStage['act'] | null,
  at: StageAt,
  run: Run,
  more: object = {},
  end?: Json,
): Promise<Made> {
  if (code === null) return { value: null };
  try {
    const given: unknown = await code(
      Object.freeze({ ...contextOf(at, run), ...more }) as never,
      freeze(end ?? null) as never,
    );
    const written = canonicalise(given === undefined ? null : given, { maxDepth: run.maxDepth });
    if (written.ok) return { value: JSON.parse(written.text) as Json };
    const message = `what ${at.phase} gave is not JSON at '${written.path}': ${written.problem}`;
    return { failure: makeFailure('threw', message, { errorType: 'NotJson' }) };
  } catch (thrown) {
    return { failure: failureOf(thrown, run.signal) };
  }
}

function contextOf(at: StageAt, { inputs, given, signal }: Run) {
  const { attempt, pass } = at;
  const { callId, session, agent, tenant } = given;
  const context = freeze({ ...given.workflowContext, ...at.context });
  return { inputs, context, attempt, pass, signal, call_id: callId, session, agent, tenant };
}

/** INVARIANT: what its calls have done is told, by the record: a stage that failed after an effect proves nothing. */
async function failed(
  at: StageAt,
  failure: Failure,
  event: string | null,
  { stage, journal }: Run,
): Promise<UpstreamResult> {
  const { hadEffect, open } = await journal.done();
  if (open !== null) return inDoubt(at, open);
  const effect = at.hadEffect || hadEffect ? 'applied' : 'none';
  const unrecoverable = event === null ? stage.unrecoverable : null;
  const outcome = unrecoverable === 'skip' ? 'skipped' : event;
  const told = { ...failure, effect, stage: endOf(at, { outcome, resolution: resolutionOf(unrecoverable) }) } as const;
  return { kind: 'failed', failure: told };
}

function resolutionOf(unrecoverable: CheckedStage['unrecoverable']): StageEnd['resolution'] {
  if (unrecoverable === null || unrecoverable === 'skip') return null;
  if (unrecoverable === 'abort-workflow') return { kind: 'abort' };
  return { kind: 'retry_later', afterMs: unrecoverable.laterMs };
}

function endOf({ attempt, context }: StageAt, more: Partial<StageEnd>): StageEnd {
  return { attempts: attempt, context, outcome: null, resolution: null, waitsFor: null, ...more };
}

function inDoubt(at: StageAt, doubt: NonNullable<ReturnType<Calls['doubt']>>): UpstreamResult {
  const { callId, tool } = doubt;
  const message = `its call of '${tool}' is in doubt; the stage goes on when that is settled`;
  const stage = endOf(at, { waitsFor: callId });
  return {
    kind: 'failed',
    failure: makeFailure('unknown', message, { errorType: 'InDoubt', effect: 'unknown', stage }),
  };
}

/** Nobody waits for it any more, or another process runs it. */
function stopped(at: StageAt, signal: AbortSignal): UpstreamResult {
  const message = 'the stage was stopped before its end';
  const effect = at.hadEffect || at.phase === 'act' ? 'unknown' : 'none';
  if (signal.aborted) return { kind: 'failed', failure: makeFailure('cancelled', message, { effect }) };
  const stage = endOf(at, { leaves: true });
  return { kind: 'failed', failure: makeFailure('unknown', message, { effect: 'unknown', stage }) };
}

function failureFrom(error: JsonObject | null): Failure {
  invariant(error !== null && isKnownFailure(error), 'a failed attempt has its failure on record');
  return error['failure'] as unknown as Failure;
}
