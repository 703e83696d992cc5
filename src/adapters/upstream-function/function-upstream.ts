/**
 * Runs tools that are functions of this process. Implements the ports `Upstream` and `Validator` and never rejects.
 * Results are checked and passed on as plain JSON. Must not time anything: the shell does.
 */
import { canonicalise, canonicalText } from '../../core/values/canonical.ts';
import type { Catalogue, FieldError, ToolEntry } from '../../core/call/catalogue.ts';
import { defaultLimits } from '../../core/limits.ts';
import { reachOf } from '../../core/policy/policy.ts';
import { describeMismatch } from '../../core/schema/field-errors.ts';
import { type Attempt, type Failure, makeFailure, type Upstream, type UpstreamResult } from '../../ports/upstream.ts';
import type { Validated, Validator } from '../../ports/validator.ts';
import { ToolDefinitionError, type CheckedTool, type LocalBody } from './check-definition.ts';
import { failureOf, outcomeOf } from './describe-throw.ts';
import { judgeArguments } from './declared-schema.ts';
import { checkedTool, type Tool } from './tool.ts';
import { servicesOf, noServices, type BodyServices } from './body-services.ts';
import { createModuleThreads, type Frozen, type ModuleThreads } from './isolate/module-thread.ts';
import { runStage } from './stage/run-stage.ts';
import { contextFacts, createContext, type ToolContext } from './tool-context.ts';
import { watchEventLoop, type LoopWatch } from './watch-event-loop.ts';
import {
  createWorkerPool,
  defaultIsolationLimits,
  type IsolationLimits,
  type WorkerPool,
} from './isolate/worker-pool.ts';
import type { BodyOutput } from './isolate/worker-thread.ts';
import type { Json } from '../../core/values/json.ts';

type Returned = Extract<UpstreamResult, { kind: 'returned' }>;

export interface FunctionUpstreamOptions {
  readonly isolation?: Partial<IsolationLimits>;
  /** What isolated bodies print. Without it their output is dropped, never mixed into the gateway's own. */
  readonly onOutput?: ((output: BodyOutput) => void) | undefined;
  /** Called when a body blocks a thread. */
  readonly onFrozen?: ((frozen: Frozen, thread: 'module' | 'gateway') => void) | undefined;
  /** Called with an uncaught exception of a workflow module. */
  readonly onCrash?: ((tools: readonly string[], error: unknown) => void) | undefined;
  /** For tools that set no timeout. */
  readonly defaultTimeoutMs?: number;
  /** Results nested deeper than this are refused. */
  readonly maxDepth?: number;
}

export interface FunctionUpstream {
  readonly upstream: Upstream;
  readonly validator: Validator;
  readonly catalogue: Catalogue;
  /** Loads the bodies of workflow modules in their threads. Returns what could not be loaded, and what to do. */
  prepare(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export function createFunctionUpstream(
  tools: readonly Tool[],
  options: FunctionUpstreamOptions = {},
): FunctionUpstream {
  const byName = new Map<string, CheckedTool>();
  for (const definition of tools) {
    const checked = checkedTool(definition);
    if (byName.has(checked.name)) {
      throw new ToolDefinitionError(checked.name, 'its name is taken', 'give each tool a name of its own');
    }
    byName.set(checked.name, checked);
  }
  const defaultTimeoutMs = options.defaultTimeoutMs ?? defaultLimits.defaultTimeoutMs;
  const pool = createWorkerPool({ ...defaultIsolationLimits, ...options.isolation }, quietly(options.onOutput));
  const told = quietly(options.onFrozen);
  const crashed = quietly(options.onCrash);
  const threads = createModuleThreads({
    onFrozen: (frozen) => told?.(frozen, 'module'),
    onCrash: (names, error) => crashed?.(names, error),
  });
  const loop = watchEventLoop((frozen) => told?.(frozen, 'gateway'));
  const places = { pool, threads, loop, maxDepth: options.maxDepth ?? defaultLimits.maxDepth };
  return {
    upstream: { invoke: (attempt, signal) => invoke(byName.get(attempt.tool), places, attempt, signal) },
    validator: { validate: (name, args) => validate(byName.get(name), args) },
    catalogue: new Map([...byName].map(([name, checked]) => [name, entryOf(checked, defaultTimeoutMs)])),
    prepare: () => prepare([...byName.values()], threads),
    close: async () => void (await Promise.all([pool.close(), threads.close()])),
  };
}

function entryOf(checked: CheckedTool, defaultTimeoutMs: number): ToolEntry {
  const { name, description, effectClass, dedupeWindowMs, reportsWithinMs, input, output } = checked;
  const timeoutMs = checked.timeoutMs ?? defaultTimeoutMs;
  const manifest = canonicalText({
    name,
    description,
    effect: effectClass,
    timeout_ms: timeoutMs,
    dedupe_window_ms: dedupeWindowMs,
    ...(reportsWithinMs === null ? {} : { reports_within_ms: reportsWithinMs }),
    input: input.written,
    output: output === null ? null : output.written,
    ...(checked.reverse === undefined ? {} : { reverse: JSON.parse(checked.reverse.declared) as Json }),
    ...(checked.evidence === undefined ? {} : { evidence: checked.evidence.map(({ declared }) => declared) }),
  });
  return {
    name,
    description,
    effectClass,
    timeoutMs,
    dedupeWindowMs,
    reportsWithinMs,
    ...(checked.recovery === undefined ? {} : { recovery: checked.recovery }),
    ...(checked.operationKey === undefined ? {} : { operationKey: checked.operationKey }),
    ...(checked.reverse === undefined ? {} : { reverse: checked.reverse }),
    ...(checked.evidence === undefined || effectClass === 'pure' ? {} : { evidence: checked.evidence }),
    input: input.rule,
    invokes: name,
    inputSchema: input.listed,
    listing: null,
    policyName: name,
    reach: checked.reach ?? reachOf(effectClass),
    host: null,
    manifest,
  };
}

async function invoke(
  checked: CheckedTool | undefined,
  places: Places,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<UpstreamResult> {
  if (checked === undefined) return failed(makeFailure('404_not_found', 'no tool has this name'));
  if (signal.aborted) return failed(makeFailure('cancelled', 'stopped before it began', { effect: 'none' }));
  const services = servicesOf(attempt, signal);
  const ended = await runIn(places, checked, attempt, signal, services);
  const result = ended.kind === 'failed' ? ended : await judgeOutput(checked, ended, places.maxDepth);
  return result.kind === 'failed' ? failed(withEffect(result.failure, checked, services.hadEffect())) : result;
}

/**
 * The effect that the author states counts first, then that of tools that the body called, then what a throw proves.
 */
function withEffect(found: Failure, { throwProvesNone }: CheckedTool, hadEffect: boolean): Failure {
  const { relayed, effect, kind } = found;
  if (effect !== null) return found;
  if (hadEffect) return { ...found, effect: 'unknown' };
  if (throwProvesNone && (kind === 'threw' || relayed)) return { ...found, effect: 'none' };
  // INVARIANT: the refusal of a tool that the body called does not prove that the body did nothing else.
  return relayed ? { ...found, effect: 'unknown' } : found;
}

/** Loads modules early, so that no step waits for it or fails by it. */
async function prepare(all: readonly CheckedTool[], threads: ModuleThreads): Promise<readonly string[]> {
  const outcomes = all.map(async ({ body }) => {
    if (body.kind !== 'thread') return null;
    const { signal } = new AbortController();
    const outcome = await threads.run({ body, args: null, facts: null, services: noServices }, signal);
    return outcome.kind === 'failed' ? outcome.failure.message : null;
  });
  const problems = (await Promise.all(outcomes)).filter((problem) => problem !== null);
  return [...new Set(problems)];
}

/** Where bodies run. */
interface Places {
  readonly pool: WorkerPool;
  readonly threads: ModuleThreads;
  /** For bodies that run in this thread. */
  readonly loop: LoopWatch;
  readonly maxDepth: number;
}

async function runIn(
  { pool, threads, loop, maxDepth }: Places,
  { name, body }: CheckedTool,
  attempt: Attempt,
  signal: AbortSignal,
  services: BodyServices,
): Promise<UpstreamResult> {
  const { args } = attempt;
  const facts = contextFacts(attempt);
  switch (body.kind) {
    case 'here':
      return runHere(
        (given, ctx) => loop.run(name, () => body.run(given, ctx)),
        args,
        createContext(facts, signal, services),
        signal,
      );
    case 'stage':
      return loop.run(name, () => runStage(body.stage, attempt, signal, maxDepth)) as Promise<UpstreamResult>;
    case 'thread':
      return threads.run({ body, args, facts, services }, signal);
    default:
      return pool.run(name, { body, args, facts }, signal, services.suppressed);
  }
}

async function runHere(run: LocalBody, args: Json, context: ToolContext, signal: AbortSignal): Promise<UpstreamResult> {
  try {
    // INVARIANT: a body gets its own copy. The state is made from the arguments that were validated.
    const returned = await run(structuredClone(args) as never, context);
    return outcomeOf(returned);
  } catch (thrown) {
    return failed(failureOf(thrown, signal));
  }
}

async function judgeOutput(
  { name, output: schema }: CheckedTool,
  returned: Returned,
  maxDepth: number,
): Promise<UpstreamResult> {
  // INVARIANT: only this plain copy of a result is passed on, so what is masked later is what is recorded.
  const plain = plainResult(returned.output, maxDepth);
  if (!plain.ok) return failed(plain.failure);
  const { output } = plain;
  const judgement = await schema?.judge(returned.output);
  return judgement === undefined || judgement.ok
    ? { ...returned, output }
    : failed(malformed(name, judgement.errors, output));
}

/** The values themselves are for the audit only. */
function malformed(name: string, errors: readonly FieldError[], output: Json): Failure {
  const written = canonicalise(errors, { maxDepth: 64 });
  const message = describeMismatch(name, errors);
  const places = canonicalText(errors.map(({ path, expected }) => ({ path, expected })));
  return makeFailure('schema_validation', message, {
    subject: 'response',
    errorType: 'OutputMalformed',
    cause: written.ok ? written.text : null,
    given: { output, tell: () => ({ message, cause: places }) },
  });
}

async function validate(checked: CheckedTool | undefined, args: Json): Promise<Validated> {
  if (checked === undefined) {
    return { ok: false, errors: [{ path: '', expected: 'the name of a known tool', got: null }] };
  }
  return judgeArguments(checked.input, args);
}

function failed(reason: Failure): UpstreamResult {
  return { kind: 'failed', failure: reason };
}

/** A listener that throws must not end the gateway. */
function quietly<Told extends readonly unknown[]>(
  listener: ((...told: Told) => void) | undefined,
): ((...told: Told) => void) | undefined {
  if (listener === undefined) return undefined;
  return (...told) => {
    try {
      listener(...told);
    } catch {
      // Ignored: only output of a body, or a notice about a blocked thread, is lost.
    }
  };
}

export type PlainResult =
  | { readonly ok: true; readonly output: Json }
  | { readonly ok: false; readonly failure: Failure };

/** The result as plain JSON, copied because the body may still change it. Never throws. */
export function plainResult(output: unknown, maxDepth: number): PlainResult {
  const written = canonicalise(output === undefined ? null : output, { maxDepth });
  if (written.ok) return { ok: true, output: JSON.parse(written.text) as Json };
  const message = `the result is not JSON at '${written.path}': ${written.problem}`;
  return {
    ok: false,
    failure: makeFailure('schema_validation', message, { subject: 'response', errorType: 'OutputMalformed' }),
  };
}
