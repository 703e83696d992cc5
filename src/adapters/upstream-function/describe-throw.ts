/**
 * Converts whatever a body threw into a failure. The outermost link of the cause chain that says what went wrong gives
 * kind and code. Message and name go to the agent; stacks and causes go only into `cause`, for the audit.
 */
import { classify } from '../../core/recovery/classify.ts';
import { codes, effects, errors, kinds } from '../../core/taxonomy.ts';
import type { Effect, ErrorCode, ErrorKind, ErrorSubject } from '../../core/taxonomy.ts';
import { maxFailedItems } from '../../core/partial/partial-rule.ts';
import { type Failure, type ItemFailure, makeFailure, type UpstreamResult } from '../../ports/upstream.ts';
import { chainOf, chainText, gatheredBy, wrappedMessage } from './cause-chain.ts';
import { kindOfCode } from './coded-failure.ts';
import { maxMessageChars, messageOf, nameOf, read, textOf } from './read-thrown.ts';
import { isPartialResult, isToolFailure } from './tool-failure.ts';

export { messageOf, nameOf, read } from './read-thrown.ts';

export function failureOf(thrown: unknown, signal: AbortSignal): Failure {
  const links = chainOf(thrown);
  const cause = chainText(links);
  const at = links.findIndex((link) => isToolFailure(link) || isErrorReply(link));
  const speaks = links[at];
  if (at >= 0) {
    const stated = isToolFailure(speaks) ? statedFailure(speaks) : relayedFailure(speaks);
    return { ...stated, message: wrappedMessage(links, at, stated.message), cause };
  }
  const said = { errorType: nameOf(thrown), cause };
  const stops = (link: unknown) => link === signal.reason || nameOf(link) === 'AbortError';
  if (signal.aborted && links.some(stops)) return makeFailure('cancelled', messageOf(thrown), said);
  const effect = links.some((link) => gatheredBy(link).some(mayHaveEffect)) ? 'unknown' : null;
  return makeFailure('threw', messageOf(thrown), { ...said, effect });
}

function statedFailure(thrown: unknown): Failure {
  const subject = read(thrown, 'subject');
  const seconds = read(thrown, 'retry_after_seconds');
  return makeFailure(kindOf(read(thrown, 'kind')), messageOf(thrown), {
    errorType: nameOf(thrown),
    subject: typeof subject === 'string' ? subject.slice(0, 100) : null,
    effect: effectOf(read(thrown, 'effect')),
    retryAfterSeconds: secondsOf(seconds),
    code: codeOf(read(thrown, 'code')),
  });
}

/** What `ctx.tools.call` answered, or an error of the client that carries the same. */
function isErrorReply(link: unknown): boolean {
  const [error, code] = [read(link, 'error'), read(link, 'code')];
  if (typeof error !== 'string' || !Object.hasOwn(errors, error)) return false;
  if (typeof code !== 'string' || !Object.hasOwn(codes, code)) return false;
  return codes[code as ErrorCode].class === read(link, 'class') && effectOf(read(link, 'effect')) !== null;
}

/** Class and code stay those of the call that failed, where a failed action can have them; otherwise they are told. */
function relayedFailure(reply: unknown): Failure {
  const [code, effect] = [read(reply, 'code') as ErrorCode, effectOf(read(reply, 'effect'))];
  const legal = codeOf(code);
  const [kind, subject] = (legal === null ? undefined : kindOfCode[legal as keyof typeof kindOfCode]) ?? ['threw'];
  const message = messageOf(reply);
  return makeFailure(kind, legal === null ? `${message} (${codes[code].class}/${code})` : message, {
    errorType: textOf(read(reply, 'error_type'), 100) ?? code,
    subject: subject ?? null,
    // INVARIANT: that the inner call had no effect says nothing about the body; that it may have had one does.
    effect: effect === 'none' ? null : 'unknown',
    retryAfterSeconds: secondsOf(read(read(reply, 'resolution'), 'retry_after_seconds')),
    // A code that the table gives anyway is not named: a failure that nobody recognises stays one.
    code: code === 'ExecutionFailed' ? null : legal,
    relayed: true,
  });
}

/** Whether an error among several states that something may have happened. */
function mayHaveEffect(gathered: unknown): boolean {
  return chainOf(gathered).some((link) => {
    if (isErrorReply(link)) return read(link, 'effect') !== 'none';
    if (!isToolFailure(link)) return false;
    const { kind, subject, effect } = statedFailure(link);
    if (effect === null && kind === 'threw') return false;
    return (effect ?? classify(kind, (subject ?? undefined) as ErrorSubject | undefined, 'plain').effect) !== 'none';
  });
}

const effectOf = (effect: unknown): Effect | null =>
  typeof effect === 'string' && Object.hasOwn(effects, effect) ? (effect as Effect) : null;

const secondsOf = (seconds: unknown): number | null =>
  typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? seconds : null;

export function itemFailures(errors: unknown): readonly ItemFailure[] {
  const length = read(errors, 'length');
  if (typeof length !== 'number') return [];
  return Array.from({ length: Math.min(length, maxFailedItems + 1) }, (_, index) => {
    const error = read(errors, index);
    const item = read(error, 'item');
    return {
      item: typeof item === 'string' || (typeof item === 'number' && Number.isFinite(item)) ? item : index,
      kind: kindOf(read(error, 'kind')),
      message: textOf(read(error, 'message'), maxMessageChars) ?? 'failed without a message',
      ...provenOf(error),
    };
  });
}

function provenOf(error: unknown): Pick<ItemFailure, 'subject' | 'effect'> {
  const [subject, effect] = [textOf(read(error, 'subject'), 100), effectOf(read(error, 'effect'))];
  return { ...(subject === null ? {} : { subject }), ...(effect === null ? {} : { effect }) };
}

/** What a body returned that did not throw; `plain` makes it what can be passed on. */
export function outcomeOf(returned: unknown, plain: (output: unknown) => unknown = (output) => output): UpstreamResult {
  if (!isPartialResult(returned)) return { kind: 'returned', output: plain(returned), errors: [] };
  const of: unknown = read(returned, 'of');
  const counted = typeof of === 'number' && Number.isInteger(of) && of > 0 ? { of } : {};
  return { kind: 'returned', output: plain(returned.result), errors: itemFailures(returned.errors), ...counted };
}

/** A kind that is not in the taxonomy is `unknown`. */
function kindOf(kind: unknown): ErrorKind {
  return typeof kind === 'string' && Object.hasOwn(kinds, kind) ? (kind as ErrorKind) : 'unknown';
}

/** Only a code that a failed action can have. */
function codeOf(code: unknown): ErrorCode | null {
  const legal: readonly string[] = errors.action_error.codes;
  return typeof code === 'string' && legal.includes(code) ? (code as ErrorCode) : null;
}
