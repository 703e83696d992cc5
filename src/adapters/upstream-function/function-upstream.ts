/**
 * Runs tools that are functions of this process. Implements the ports `Upstream` and `Validator`; never rejects, whatever
 * a body throws, returns or declares. Results are checked and passed on as they are. Must not time anything: the shell does.
 */
import { canonicalise, canonicalText } from '../../core/canonical.ts';
import type { Catalogue, FieldError, ToolEntry } from '../../core/catalogue.ts';
import type { Json } from '../../core/json.ts';
import { defaultLimits } from '../../core/limits.ts';
import { reachOf } from '../../core/policy/policy.ts';
import { describeMismatch } from '../../core/schema/describe-mismatch.ts';
import type { Attempt, Failure, Upstream, UpstreamResult } from '../../ports/upstream.ts';
import type { Validated, Validator } from '../../ports/validator.ts';
import { ToolDefinitionError, type CheckedTool, type LocalBody } from './check-definition.ts';
import { failure, failureOf, itemFailures } from './describe-throw.ts';
import { judgeArguments } from './judge-arguments.ts';
import { checkedTool, type Tool } from './tool.ts';
import { linesOf } from './body-lines.ts';
import { contextFacts, createContext, type ToolContext } from './tool-context.ts';
import { isPartialResult } from './tool-failure.ts';
import { createWorkerPool, defaultIsolationLimits, type IsolationLimits, type WorkerPool } from './worker-pool.ts';
import type { BodyOutput } from './worker-thread.ts';

type Returned = Extract<UpstreamResult, { kind: 'returned' }>;

export interface FunctionUpstreamOptions {
  readonly isolation?: Partial<IsolationLimits>;
  /** What isolated bodies print. Without it their output is dropped, never mixed into the gateway's own. */
  readonly onOutput?: ((output: BodyOutput) => void) | undefined;
  /** For tools that set no timeout. */
  readonly defaultTimeoutMs?: number;
}

export interface FunctionUpstream {
  readonly upstream: Upstream;
  readonly validator: Validator;
  readonly catalogue: Catalogue;
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
  return {
    upstream: { invoke: (attempt, signal) => invoke(byName.get(attempt.tool), pool, attempt, signal) },
    validator: { validate: (name, args) => validate(byName.get(name), args) },
    catalogue: new Map([...byName].map(([name, checked]) => [name, entryOf(checked, defaultTimeoutMs)])),
    close: () => pool.close(),
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
  });
  return {
    name,
    description,
    effectClass,
    timeoutMs,
    dedupeWindowMs,
    reportsWithinMs,
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
  pool: WorkerPool,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<UpstreamResult> {
  if (checked === undefined) return failed(failure('404_not_found', 'no tool has this name'));
  if (signal.aborted) return failed(failure('cancelled', 'stopped before it began', { effect: 'none' }));
  try {
    const { name, body, isAtomic } = checked;
    const facts = contextFacts(attempt);
    const result =
      body.kind === 'here'
        ? await runHere(body.run, attempt.args, createContext(facts, signal, linesOf(attempt, signal)))
        : await pool.run(name, { body, args: attempt.args, facts, isAtomic }, signal);
    return result.kind === 'failed' ? result : await judgeOutput(checked, result);
  } catch (thrown) {
    return failed(failureOf(thrown, signal, checked.isAtomic));
  }
}

async function runHere(run: LocalBody, args: Json, context: ToolContext): Promise<Returned> {
  // INVARIANT: a body changes a copy of its own. The arguments that were judged are those that the state is made of.
  const returned = await run(structuredClone(args) as never, context);
  if (!isPartialResult(returned)) return { kind: 'returned', output: returned, errors: [] };
  return { kind: 'returned', output: returned.result, errors: itemFailures(returned.errors) };
}

async function judgeOutput({ name, output: schema }: CheckedTool, returned: Returned): Promise<UpstreamResult> {
  if (schema === null) return returned;
  const judgement = await schema.judge(returned.output);
  return judgement.ok ? returned : failed(malformed(name, judgement.errors));
}

/** The values themselves are for the audit only. */
function malformed(name: string, errors: readonly FieldError[]): Failure {
  const written = canonicalise(errors, { maxDepth: 64 });
  return failure('schema_validation', describeMismatch(name, errors), {
    subject: 'response',
    errorType: 'OutputMalformed',
    cause: written.ok ? written.text : null,
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
function quietly(listener: FunctionUpstreamOptions['onOutput']): FunctionUpstreamOptions['onOutput'] {
  if (listener === undefined) return undefined;
  return (output) => {
    try {
      listener(output);
    } catch {
      // What it was told is only what a body printed.
    }
  };
}
