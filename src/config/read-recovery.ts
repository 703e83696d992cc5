/**
 * Reads what is declared about recovery: playbooks, breakers, retries, the read that settles a doubt, and operation
 * keys. Reports what could never work. Expressions are compiled here; one that fails at run time decides nothing.
 */
import { type DeclaredRecovery, defaultBreaker, readRetryRule } from '../core/recovery/declared.ts';
import { type BreakerRule, neverRetried, type Reconcile, type RetryRule } from '../core/recovery/playbook.ts';
import { readPlaybook } from '../core/recovery/read-playbook.ts';
import { readReverse } from '../core/reversal/declared-reverse.ts';
import { canonicalText } from '../core/values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../core/values/json.ts';
import { readEvidence } from './shape/read-evidence.ts';
import type { ServerConfig, ToolRule, WrittenRecovery } from './config.ts';
import type { Place } from './problem.ts';
import { compileAt, type ExpressionRule, type ReadingParts } from './shape/read-expression.ts';
import { readPartial } from './read-partial.ts';
import { findScalar, hasKey, keyPlaceOf, placeOf } from './shape/read-shape.ts';
import { mapOf, numberOf, textOf } from './yaml/plain-values.ts';

type Path = readonly string[];

export const readGatewayPlaybook = (written: Json | undefined, parts: ReadingParts): WrittenRecovery =>
  recoveryAt([], { playbook: playbookOf(written, ['playbook'], parts) }, parts);

export function readServerRecovery(read: JsonObject, path: Path, parts: ReadingParts): Pick<ServerConfig, 'recovery'> {
  const declared: DeclaredRecovery = {
    ...(read['playbook'] === undefined ? {} : { playbook: playbookOf(read['playbook'], [...path, 'playbook'], parts) }),
    ...(read['breaker'] === undefined ? {} : { breaker: breakerOf(read['breaker']) }),
  };
  return Object.keys(declared).length === 0 ? {} : { recovery: recoveryAt(path, declared, parts) };
}

export function readProviderRecovery(
  read: JsonObject,
  path: Path,
  parts: ReadingParts,
): Pick<ServerConfig, 'recovery'> {
  const server = readServerRecovery(read, path, parts).recovery?.declared;
  const retry = retryOf(read['retry'], [...path, 'retry'], parts);
  const declared: DeclaredRecovery = { ...server, ...(retry === null ? {} : { retry }) };
  return Object.keys(declared).length === 0 ? {} : { recovery: recoveryAt(path, declared, parts) };
}

export function readToolRecovery(
  read: JsonObject,
  path: Path,
  parts: ReadingParts,
): Pick<ToolRule, 'recovery' | 'operationKey' | 'reverse' | 'evidence'> {
  const quarantineMs = numberOf(read['quarantine']);
  const retry = retryOf(read['retry'], [...path, 'retry'], parts);
  const reconcile = reconcileOf(read['reconcile'], [...path, 'reconcile'], parts);
  const partial = readPartial(read, [...path, 'partial'], parts);
  if (reconcile !== null && read['effect'] === 'pure')
    parts.tell(keyPlaceOf(parts.tree, [...path, 'reconcile']), 'a read is never in doubt', 'leave reconcile out');
  const declared: DeclaredRecovery = {
    ...(read['playbook'] === undefined ? {} : { playbook: playbookOf(read['playbook'], [...path, 'playbook'], parts) }),
    ...(retry === null ? {} : { retry }),
    ...(reconcile === null ? {} : { reconcile }),
    ...(quarantineMs === null ? {} : { quarantineMs }),
    ...(partial === null ? {} : { partial }),
  };
  const key = compileAt(read['operation_key'], [...path, 'operation_key'], { over: ['args'], gives: 'string' }, parts);
  const reverse = reverseOf(read, path, parts);
  const operationKey = key === null ? null : { declared: key.text, of: (args: Json) => textOf(key.valueOf({ args })) };
  return {
    ...(Object.keys(declared).length === 0 ? {} : { recovery: recoveryAt(path, declared, parts) }),
    ...(operationKey === null ? {} : { operationKey }),
    ...(reverse === null ? {} : { reverse }),
    ...readEvidence(read, [...path, 'evidence'], parts),
  };
}

const otherKeys = ['breaker', 'retry', 'reconcile', 'quarantine', 'partial'] as const;

function recoveryAt(path: Path, declared: DeclaredRecovery, { tree }: ReadingParts): WrittenRecovery {
  const places = new Map<string, Place>();
  for (const verdict of Object.keys(declared.playbook ?? {}))
    places.set(verdict, keyPlaceOf(tree, [...path, 'playbook', verdict]));
  for (const key of otherKeys) if (hasKey(tree, [...path, key])) places.set(key, keyPlaceOf(tree, [...path, key]));
  return { declared, places };
}

function playbookOf(written: Json | undefined, path: Path, { tree, tell }: ReadingParts) {
  const { playbook, problems } = readPlaybook(inMilliseconds(written ?? {}));
  for (const { path: within, problem, fix, missing } of problems) {
    // What stands there and could not be read was told already.
    if (missing !== undefined && hasKey(tree, [...path, missing])) continue;
    const names = within.map((name) => (name === 'backoff_ms' ? 'backoff' : name));
    tell(keyPlaceOf(tree, [...path, ...names]), problem, fix);
  }
  return playbook;
}

/** Durations were read as milliseconds, and that is what the key is called in a program. */
function inMilliseconds(written: Json): Json {
  if (!isObject(written)) return written;
  const entries = Object.entries(written as JsonObject);
  return Object.fromEntries(
    entries.map(([key, value]) => (key === 'backoff' ? ['backoff_ms', value] : [key, inMilliseconds(value)])),
  );
}

function breakerOf(written: Json): BreakerRule | null {
  if (!isObject(written)) return null;
  const { failures, open_for: openFor } = written as JsonObject;
  return {
    failures: numberOf(failures) ?? defaultBreaker.failures,
    openMs: numberOf(openFor) ?? defaultBreaker.openMs,
  };
}

function retryOf(written: Json | undefined, path: Path, { tree, tell }: ReadingParts): RetryRule | null {
  if (!isObject(written)) return null;
  const { base, classifier, ...rest } = written as JsonObject;
  for (const [code, says] of Object.entries(mapOf(classifier)))
    if (says === 'retry' && (neverRetried as ReadonlySet<string>).has(code))
      tell(
        placeOf(tree, [...path, 'classifier', code]),
        `${code} is never retried: the same request would be refused again`,
        'leave it out, or write terminal',
      );
  const read = readRetryRule({
    ...rest,
    ...(base === undefined ? {} : { base_ms: base }),
    ...(classifier === undefined ? {} : { classifier }),
  });
  return read.ok ? read.value : null;
}

function reconcileOf(written: Json | undefined, path: Path, parts: ReadingParts): Reconcile | null {
  if (!isObject(written)) return null;
  const { tool, ...read } = written as JsonObject;
  const at = (key: string, rule: ExpressionRule) => compileAt(read[key], [...path, key], rule, parts);
  const ask = at('args', { over: ['args'], gives: 'map' });
  const happened = at('happened', { over: ['args', 'result'], gives: 'bool' });
  const result = at('result', { over: ['args', 'result'] });
  if (typeof tool !== 'string' || ask === null || happened === null) return null;
  return {
    tool,
    ask: (args) => {
      const made = ask.valueOf({ args });
      return isObject(made) ? (made as JsonObject) : null;
    },
    interpret: (args, found) => {
      const said = happened.valueOf({ args, result: found });
      if (said === true) return { kind: 'happened', result: result?.valueOf({ args, result: found }) ?? null };
      if (said === false) return { kind: 'did_not' };
      return { kind: 'unclear', reason: 'happened gives neither true nor false for this answer' };
    },
    declared: canonicalText({ tool, args: ask.text, happened: happened.text, result: result?.text ?? null }),
  };
}

function reverseOf(
  read: JsonObject,
  path: Path,
  { tree, tell }: ReadingParts,
): NonNullable<ToolRule['reverse']> | null {
  const here = [...path, 'reverse'];
  const { tool, args, window } = mapOf(read['reverse']);
  if (typeof tool !== 'string' || !isObject(args) || typeof window !== 'number') return null;
  if (read['effect'] === 'pure') tell(keyPlaceOf(tree, here), 'a read has nothing to undo', 'leave reverse out');
  const found = readReverse(tool, args, window);
  if (found.ok) return { declared: found.reverse, at: keyPlaceOf(tree, here) };
  for (const { argument, problem, at } of found.problems) {
    const where = argument === null ? [...here, 'args'] : [...here, 'args', argument];
    const inside = at === undefined ? undefined : findScalar(tree, where)?.inside(at);
    tell(
      inside ?? placeOf(tree, where),
      `this expression is wrong: ${problem}`,
      'write an expression over args and result',
    );
  }
  return null;
}
