/**
 * Runs tools that are functions of this process. Implements the ports `Upstream` and `Validator`; never rejects, whatever
 * a body throws, returns or declares. Results are checked and passed on as they are. Must not time anything: the shell does.
 */
import { canonicalText } from '../../core/canonical.ts';
import type { Catalogue, FieldError, ToolEntry } from '../../core/catalogue.ts';
import type { Json } from '../../core/json.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { Attempt, Failure, ItemFailure, Upstream, UpstreamResult } from '../../ports/upstream.ts';
import type { Validated, Validator } from '../../ports/validator.ts';
import { ToolDefinitionError, type CheckedTool } from './check-definition.ts';
import { failure, failureOf, itemFailures } from './describe-throw.ts';
import { findNotJson } from './find-not-json.ts';
import { checkedTool, type Tool } from './tool.ts';
import { contextFacts, createContext } from './tool-context.ts';
import { isPartialResult } from './tool-failure.ts';

export interface FunctionUpstreamOptions {
  /** For tools that set no timeout. */
  readonly defaultTimeoutMs?: number;
}

export interface FunctionUpstream {
  readonly upstream: Upstream;
  readonly validator: Validator;
  readonly catalogue: Catalogue;
  close(): Promise<void>;
}

export function createFunctionUpstream(tools: readonly Tool[], options: FunctionUpstreamOptions = {}): FunctionUpstream {
  const byName = new Map<string, CheckedTool>();
  for (const definition of tools) {
    const checked = checkedTool(definition);
    if (byName.has(checked.name)) {
      throw new ToolDefinitionError(checked.name, 'its name is taken', 'give each tool a name of its own');
    }
    byName.set(checked.name, checked);
  }
  const defaultTimeoutMs = options.defaultTimeoutMs ?? defaultLimits.defaultTimeoutMs;
  return {
    upstream: { invoke: (attempt, signal) => invoke(byName.get(attempt.tool), attempt, signal) },
    validator: { validate: (name, args) => validate(byName.get(name), args) },
    catalogue: new Map([...byName].map(([name, checked]) => [name, entryOf(checked, defaultTimeoutMs)])),
    close: async () => {},
  };
}

function entryOf(checked: CheckedTool, defaultTimeoutMs: number): ToolEntry {
  const { name, description, effectClass, dedupeWindowMs, input, output } = checked;
  const timeoutMs = checked.timeoutMs ?? defaultTimeoutMs;
  const manifest = canonicalText({
    name,
    description,
    effect: effectClass,
    timeout_ms: timeoutMs,
    dedupe_window_ms: dedupeWindowMs,
    input: input.written,
    output: output === null ? null : output.written,
  });
  return { name, description, effectClass, timeoutMs, dedupeWindowMs, input: input.rule, manifest };
}

async function invoke(checked: CheckedTool | undefined, attempt: Attempt, signal: AbortSignal): Promise<UpstreamResult> {
  if (checked === undefined) return failed(failure('404_not_found', 'no tool has this name'));
  if (signal.aborted) return failed(failure('cancelled', 'stopped before it began', { effect: 'none' }));
  try {
    const returned = await runBody(checked, attempt, signal);
    return await settleReturn(checked, returned);
  } catch (thrown) {
    return failed(failureOf(thrown, signal));
  }
}

async function runBody(checked: CheckedTool, attempt: Attempt, signal: AbortSignal): Promise<unknown> {
  const { body } = checked;
  if (body.kind !== 'here') throw new Error('isolation is not built yet');
  return await body.run(attempt.args as never, createContext(contextFacts(attempt), signal));
}

async function settleReturn(checked: CheckedTool, returned: unknown): Promise<UpstreamResult> {
  const isPartial = isPartialResult(returned);
  const output = isPartial ? returned.result : returned;
  const errors: readonly ItemFailure[] = isPartial ? itemFailures(returned.errors) : [];
  if (checked.output === null) return { kind: 'returned', output, errors };
  const judgement = await checked.output.judge(output);
  if (judgement.ok) return { kind: 'returned', output, errors };
  return failed(malformed(checked.name, judgement.errors));
}

/** The values themselves are for the audit only. */
export function malformed(name: string, errors: readonly FieldError[]): Failure {
  const listed = errors.map(({ path, expected }) => `${path || 'the result'} should be ${expected}`);
  const message = `the result of '${name}' does not match its output schema: ${listed.join('; ')}`;
  return failure('schema_validation', message, {
    subject: 'response',
    errorType: 'OutputMalformed',
    cause: JSON.stringify(errors),
  });
}

async function validate(checked: CheckedTool | undefined, args: Json): Promise<Validated> {
  if (checked === undefined) return refused('', 'the name of a known tool');
  const judgement = await checked.input.judge(args);
  if (!judgement.ok) return judgement;
  try {
    const found = findNotJson(judgement.value);
    if (found === null) return { ok: true, args: judgement.value as Json };
    // Arguments are recorded, hashed and perhaps sent again after a restart, so they must survive as JSON.
    return refused(found.path, `a value that JSON can carry; the input schema made ${found.what} of it`);
  } catch {
    return refused('', 'a value that JSON can carry; what the input schema made of it cannot be read');
  }
}

function refused(path: string, expected: string): Validated {
  return { ok: false, errors: [{ path, expected, got: null }] };
}

function failed(reason: Failure): UpstreamResult {
  return { kind: 'failed', failure: reason };
}
