/**
 * Reads what an author declares about the recovery of a tool: retries, the read that settles a doubt, how long a late
 * execution may take, and which calls are the same operation.
 */
import { type DeclaredRecovery, type OperationKey, readRetryRule } from '../../core/recovery/declared.ts';
import { type DeclaredRead, maxDeclaredReads } from '../../core/evidence/declared-read.ts';
import type { Probed, Reconcile, RetryRule } from '../../core/recovery/playbook.ts';
import { leastWindowMs, maxWindowMs, readReverse, type Reverse } from '../../core/reversal/declared-reverse.ts';
import type { ErrorCode } from '../../core/taxonomy.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type Json } from '../../core/values/json.ts';
import { declaredPartial, type Loose, type Refuse } from './declared-partial.ts';

export interface WrittenRetry {
  /** False: it is sent once. */
  readonly retryable?: boolean;
  /** How many retries, one for each pause. */
  readonly max_attempts?: number;
  readonly backoff?: RetryRule['backoff'];
  readonly base_ms?: number;
  readonly jitter?: number;
  /** By code. */
  readonly classifier?: Readonly<Partial<Record<ErrorCode, 'retry' | 'terminal'>>>;
}

export interface WrittenReconcile {
  /** A tool without effect. */
  readonly tool: string;
  /** Its arguments, from those of the call. */
  readonly args: (args: never) => unknown;
  /** Whether it happened, from what the read returned; undefined if that cannot be told. */
  readonly happened: (found: never, args: never) => boolean | undefined;
  /** What the call returned, if the read can tell; null if not given. */
  readonly result?: (found: never, args: never) => unknown;
}

export interface WrittenReverse {
  /** The tool that undoes it. */
  readonly tool: string;
  /** Its arguments: an expression (CEL) for each, over `args` and `result` of the call. */
  readonly args: Readonly<Record<string, string>>;
  /** How long after its success a call can be undone. */
  readonly window_seconds: number;
}

export interface WrittenRead {
  /** A tool without effect. */
  readonly tool: string;
  /** Its arguments, from those of the call. */
  readonly args: (args: never) => unknown;
}

interface DeclaredBeside {
  readonly recovery?: DeclaredRecovery;
  readonly operationKey?: OperationKey;
  readonly reverse?: Reverse;
  readonly evidence?: readonly DeclaredRead[];
}

export function declaredRecovery(
  { retry, reconcile, partial, evidence, operation_key: operationKey, reverse, effect }: Loose,
  quarantineMs: number | null,
  refuse: Refuse,
): DeclaredBeside {
  const recovery: DeclaredRecovery = {
    ...(retry === undefined ? {} : { retry: retryOf(retry, refuse) }),
    ...(reconcile === undefined ? {} : { reconcile: reconcileOf(reconcile, refuse) }),
    ...(quarantineMs === null ? {} : { quarantineMs }),
    ...(partial === undefined ? {} : { partial: declaredPartial(partial, refuse) }),
  };
  return {
    ...(Object.keys(recovery).length === 0 ? {} : { recovery }),
    ...(operationKey === undefined ? {} : { operationKey: operationOf(operationKey, refuse) }),
    ...(reverse === undefined ? {} : { reverse: reverseOf(reverse, effect, refuse) }),
    ...(evidence === undefined ? {} : { evidence: evidenceOf(evidence, refuse) }),
  };
}

function reverseOf(written: unknown, effect: unknown, refuse: Refuse): Reverse {
  const { tool, args, window_seconds: seconds, ...strange } = isObject(written) ? (written as Loose) : {};
  const [other] = Object.keys(strange);
  if (typeof tool !== 'string' || other !== undefined)
    return refuse('its reverse is not usable', "write reverse: { tool, args: { name: 'result.id' }, window_seconds }");
  if (effect === 'pure') return refuse('it is pure, and a read has nothing to undo', 'leave reverse out');
  const windowMs = typeof seconds === 'number' ? seconds * 1_000 : 0;
  if (!(windowMs >= leastWindowMs && windowMs <= maxWindowMs))
    return refuse('window_seconds of its reverse is not usable', 'use a number of seconds from 1 up to a year');
  const read = readReverse(tool, args, Math.round(windowMs));
  if (read.ok) return read.reverse;
  const [first] = read.problems;
  const what = first?.argument === null ? 'args' : `'${first?.argument ?? ''}'`;
  return refuse(`${what} of its reverse is wrong: ${first?.problem ?? ''}`, 'write an expression over args and result');
}

function retryOf(retry: unknown, refuse: Refuse): RetryRule {
  const read = readRetryRule(retry);
  if (read.ok) return read.value;
  return refuse(`its retry is not usable: ${read.problem}`, 'correct it, or leave retry out');
}

function reconcileOf(written: unknown, refuse: Refuse): Reconcile {
  const fix = 'write reconcile: { tool, args: (args) => …, happened: (found, args) => … }';
  const { tool, args: ask, happened, result } = isObject(written) ? (written as Loose) : {};
  if (typeof tool !== 'string' || typeof ask !== 'function' || typeof happened !== 'function')
    return refuse('its reconcile is not usable', fix);
  if (result !== undefined && typeof result !== 'function')
    return refuse('result of its reconcile is no function', fix);
  const interpret = (args: Json, found: Json): Probed => {
    const said: unknown = happened(found, args);
    if (said === true) return { kind: 'happened', result: (result?.(found, args) ?? null) as Json };
    return said === false ? { kind: 'did_not' } : { kind: 'unclear', reason: 'happened says neither yes nor no' };
  };
  return {
    tool,
    ask: (args) => attempted(() => ask(args) as Json),
    interpret,
    declared: canonicalText({ tool, args: String(ask), happened: String(happened), result: String(result ?? null) }),
  };
}

function operationOf(key: unknown, refuse: Refuse): OperationKey {
  if (typeof key !== 'function') return refuse('its operation_key is no function', 'write operation_key: (args) => …');
  return (args) => {
    const made = attempted(() => key(args) as unknown);
    return typeof made === 'string' ? made : null;
  };
}

function evidenceOf(written: unknown, refuse: Refuse): readonly DeclaredRead[] {
  const fix = 'write evidence: [{ tool, args: (args) => … }]';
  if (!Array.isArray(written) || written.length === 0 || written.length > maxDeclaredReads)
    return refuse(`its evidence is no list of 1 to ${maxDeclaredReads} reads`, fix);
  return (written as readonly unknown[]).map((each) => {
    const { tool, args } = isObject(each) ? (each as Loose) : {};
    if (typeof tool !== 'string' || typeof args !== 'function') return refuse('its evidence is not usable', fix);
    const ask = (sent: Json): Json | null => attempted(() => args(sent) as Json);
    return { tool, ask, declared: canonicalText({ tool, args: String(args) }) };
  });
}

/** Null if the author's function throws: then nothing can be told. */
function attempted<Value>(make: () => Value): Value | null {
  try {
    return make();
  } catch {
    return null;
  }
}
