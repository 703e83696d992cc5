/**
 * Wraps an upstream that an extension made. INVARIANT: whatever it throws or gives, its call gets a typed answer; the
 * shell limits the wait.
 */
import { codedFailure } from '../../adapters/upstream-function/coded-failure.ts';
import { failureOf, itemFailures, messageOf } from '../../adapters/upstream-function/describe-throw.ts';
import { plainResult } from '../../adapters/upstream-function/function-upstream.ts';
import { openingFor } from '../../core/egress/egress-list.ts';
import { describeMismatch } from '../../core/schema/field-errors.ts';
import { codes, effects, type ErrorCode, type Effect, type ErrorKind, kinds } from '../../core/taxonomy.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { isExtensionFailure } from '../../extension/failure.ts';
import type { ExtensionUpstream } from '../../extension/kinds.ts';
import { type Attempt, type Failure, makeFailure, type Upstream, type UpstreamResult } from '../../ports/upstream.ts';
import type { HostedTool } from './hosted-tools.ts';

const maxDepth = 64;
const maxMessageChars = 16_000;

/** `server`: the name under `tools`, for messages. */
export function guardUpstream(
  server: string,
  made: () => ExtensionUpstream,
  tools: ReadonlyMap<string, HostedTool>,
): Upstream {
  const judge = (tool: HostedTool, result: unknown): UpstreamResult => {
    try {
      return readResult(server, tool, result);
    } catch {
      return failed(makeFailure('unknown', `'${server}' gave a result that cannot be read`));
    }
  };
  return {
    async invoke(attempt, signal, late) {
      const tool = tools.get(attempt.tool);
      if (tool === undefined)
        return failed(makeFailure('404_not_found', `'${server}' has no such tool`, { effect: 'none' }));
      if (signal.aborted)
        return failed(makeFailure('cancelled', 'it was stopped before it was sent', { effect: 'none' }));
      let heard = false;
      const hearLate = (result: unknown): void => {
        if (heard || late === undefined) return;
        heard = true;
        late(judge(tool, result));
      };
      try {
        return judge(tool, await made().invoke(attemptFor(tool, attempt), signal, hearLate));
      } catch (error) {
        return failed(failureOf(statedBy(error), signal));
      }
    },
  };
}

/** As its author declared the tool. Where it says that it sends to, it may send. */
function attemptFor({ own, to }: HostedTool, attempt: Attempt): Attempt {
  const egress = to === null ? (attempt.egress ?? null) : openingFor(attempt.egress ?? null, to);
  return { ...attempt, tool: own, args: structuredClone(attempt.args), egress };
}

/** What `host.fail` threw keeps its class and code. */
const statedBy = (error: unknown): unknown =>
  isExtensionFailure(error)
    ? codedFailure(error.errorClass, error.code, messageOf(error), 'cause' in error ? { cause: error.cause } : {})
    : error;

function readResult(server: string, tool: HostedTool, result: unknown): UpstreamResult {
  if (isObject(result) && result['kind'] === 'returned') return readOutput(tool, result);
  if (isObject(result) && result['kind'] === 'failed' && isObject(result['failure']))
    return failed(readFailure(result['failure']));
  return failed(makeFailure('unknown', `'${server}' gave no result of an upstream`));
}

function readOutput(tool: HostedTool, said: Readonly<Record<string, unknown>>): UpstreamResult {
  const { output, errors, of, mixed } = said;
  const plain = plainResult(output, maxDepth);
  if (!plain.ok) return failed(plain.failure);
  const wrong = tool.checkOutput?.(plain.output) ?? [];
  const counted = typeof of === 'number' && Number.isInteger(of) && of > 0 ? { of } : {};
  const parted = mixed === true ? ({ mixed } as const) : {};
  if (wrong.length === 0)
    return { kind: 'returned', output: plain.output, errors: itemFailures(errors), ...counted, ...parted };
  const message = describeMismatch(tool.entry.name, wrong);
  const cause = canonicalText(wrong.map(({ path, expected }) => ({ path, expected })));
  const given = { output: plain.output, tell: () => ({ message, cause }) };
  const more = { subject: 'response', errorType: 'OutputMalformed', cause, given };
  return failed(makeFailure('schema_validation', message, more));
}

function readFailure(said: Readonly<Record<string, unknown>>): Failure {
  const { kind, subject, errorType, message, effect, retryAfterSeconds, code, cause, used, partial } = said;
  const text = (value: unknown, most: number): string | null =>
    typeof value === 'string' && value !== '' ? value.slice(0, most).toWellFormed() : null;
  const known = typeof kind === 'string' && Object.hasOwn(kinds, kind) ? (kind as ErrorKind) : 'unknown';
  const seconds = typeof retryAfterSeconds === 'number' && retryAfterSeconds >= 0 ? retryAfterSeconds : null;
  return makeFailure(known, text(message, maxMessageChars) ?? 'failed without a message', {
    subject: text(subject, 100),
    errorType: text(errorType, 100) ?? 'Error',
    effect: typeof effect === 'string' && Object.hasOwn(effects, effect) ? (effect as Effect) : null,
    retryAfterSeconds: seconds,
    code: typeof code === 'string' && Object.hasOwn(codes, code) ? (code as ErrorCode) : null,
    cause: text(cause, maxMessageChars),
    ...(used === null || isObject(used) ? { used: plainOr(used, null) as JsonObject | null } : {}),
    ...(partial === undefined ? {} : { partial: plainOr(partial, null) }),
  });
}

function plainOr(value: unknown, otherwise: Json): Json {
  const plain = plainResult(value, maxDepth);
  return plain.ok ? plain.output : otherwise;
}

const failed = (failure: Failure): UpstreamResult => ({ kind: 'failed', failure });
