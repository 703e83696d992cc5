/**
 * Reads a playbook as it is written: each verdict with what is done about it, for every effect class or for each of
 * them. Reports what could never work. Pure and total.
 */
import {
  type CompensationKind,
  compensations,
  type EffectClass,
  effectClasses,
  type Verdict,
  verdicts,
} from '../taxonomy.ts';
import { isObject } from '../values/json.ts';
import { nearest } from '../values/nearest.ts';
import { unreachable } from '../values/unreachable.ts';
import { maxBaseMs, maxRetries } from './declared.ts';
import {
  type ByEffect,
  defaultPlaybook,
  type Entry,
  missingPairs,
  type PartialPlaybook,
  retryableVerdicts,
} from './playbook.ts';

/** A compensation: its name alone takes its fields from the default. */
export type WrittenAction =
  | CompensationKind
  | {
      readonly retry_with_backoff: {
        readonly backoff_ms?: readonly number[];
        /** As many as there are pauses. */
        readonly max_attempts?: number;
        readonly jitter?: number;
      };
    }
  | { readonly refresh_evidence: { readonly then?: 'retry' | 'abort' } }
  | { readonly escalate_to_human: { readonly queue?: string } }
  | { readonly issue_reversal: { readonly reason?: string } }
  | { readonly deprecate_tool_call: { readonly reason?: string } };

export type WrittenPlaybook = Readonly<Partial<Record<Verdict, WrittenAction | ByEffect<WrittenAction>>>> & {
  /** `none`: nothing is taken from the default, so every pair of verdict and effect class must be written. */
  readonly extends?: 'none';
};

export interface PlaybookProblem {
  readonly path: readonly string[];
  readonly problem: string;
  readonly fix: string;
  /** The verdict, if it lacks what is to be done: whoever reads a file by its shape has told that already. */
  readonly missing?: string;
}

export interface ReadPlaybook {
  /** What could be read. */
  readonly playbook: PartialPlaybook;
  readonly problems: readonly PlaybookProblem[];
}

export const queuePattern = '^[A-Za-z0-9_.-]{1,64}$';
export const reasonPattern = '^[^\\u0000-\\u001f\\u007f]{1,300}$';

const verdictNames = Object.keys(verdicts) as Verdict[];
const classNames = Object.keys(effectClasses) as EffectClass[];
const actionNames = Object.keys(compensations) as CompensationKind[];

export function readPlaybook(written: unknown): ReadPlaybook {
  if (!isObject(written)) return { playbook: {}, problems: [wrong([], 'this is no playbook', 'name verdicts')] };
  const problems: PlaybookProblem[] = [];
  const playbook: Partial<Record<Verdict, Partial<ByEffect<Entry>>>> = {};
  for (const [key, value] of Object.entries(written)) {
    if (key === 'extends') {
      if (value !== 'none') problems.push(wrong([key], "extends is 'none'", 'leave it out to extend the default'));
    } else if (!Object.hasOwn(verdicts, key)) problems.push(wrong([key], ...strange(key, verdictNames, 'verdict')));
    else playbook[key as Verdict] = readEntries(key as Verdict, value, problems);
  }
  if (written['extends'] === 'none')
    for (const pair of missingPairs(playbook)) {
      const [verdict = ''] = pair.split(' ');
      if (Object.hasOwn(written, verdict)) continue;
      problems.push({
        ...wrong(['extends'], `${pair} is missing`, `add ${verdict}, or leave extends out`),
        missing: verdict,
      });
    }
  return { playbook, problems };
}

/** One entry for all effect classes, or one for each. */
function readEntries(verdict: Verdict, value: unknown, problems: PlaybookProblem[]): Partial<ByEffect<Entry>> {
  const note = (read: Made): read is Entry => {
    if ('action' in read) return true;
    problems.push(read);
    return false;
  };
  if (!isObject(value) || !classNames.some((name) => Object.hasOwn(value, name))) {
    const read = readEntry(verdict, value, [verdict]);
    return note(read) ? Object.fromEntries(classNames.map((name) => [name, read])) : {};
  }
  const entries: Partial<Record<EffectClass, Entry>> = {};
  for (const [name, each] of Object.entries(value)) {
    const path = [verdict, name];
    if (!Object.hasOwn(effectClasses, name)) problems.push(wrong(path, ...strange(name, classNames, 'effect class')));
    else {
      const read = readEntry(verdict, each, path);
      if (note(read)) entries[name as EffectClass] = read;
    }
  }
  for (const name of classNames)
    if (!Object.hasOwn(value, name))
      problems.push({ ...wrong([verdict], `${verdict} × ${name} is missing`, `add ${name}`), missing: verdict });
  return entries;
}

type Loose = Readonly<Record<string, unknown>>;

function readEntry(verdict: Verdict, value: unknown, path: readonly string[]): Made {
  const [name, fields, ...more] = typeof value === 'string' ? [value, {}] : isObject(value) ? namedIn(value) : [];
  if (typeof name !== 'string' || more.length > 0)
    return {
      ...wrong(path, 'what is done must be one compensation', `use one of ${actionNames.join(', ')}`),
      missing: verdict,
    };
  if (!Object.hasOwn(compensations, name)) return wrong(path, ...strange(name, actionNames, 'compensation'));
  const kind = name as CompensationKind;
  const inside = typeof value === 'string' ? path : [...path, kind];
  if (!isObject(fields)) return wrong(inside, `the fields of ${kind} are no set of fields`, `write its name alone`);
  const stranger = Object.keys(fields).find((key) => !knownFields[kind].includes(key));
  if (stranger !== undefined) return wrong([...inside, stranger], ...strange(stranger, knownFields[kind], 'field'));
  return makeEntry(verdict, kind, fields, inside);
}

const namedIn = (value: object): readonly unknown[] => Object.entries(value).flat();

const knownFields: Readonly<Record<CompensationKind, readonly string[]>> = {
  retry_with_backoff: ['backoff_ms', 'max_attempts', 'jitter'],
  refresh_evidence: ['then'],
  escalate_to_human: ['queue'],
  issue_reversal: ['reason'],
  deprecate_tool_call: ['reason'],
};

type Made = Entry | PlaybookProblem;

function makeEntry(verdict: Verdict, kind: CompensationKind, fields: Loose, path: readonly string[]): Made {
  switch (kind) {
    case 'retry_with_backoff':
      return makeRetry(verdict, fields, path);
    case 'refresh_evidence':
      return makeRefresh(verdict, fields, path);
    case 'escalate_to_human': {
      const queue = fields['queue'] ?? defaultOf(verdict, kind)?.queue ?? verdict;
      if (!isText(queue, queuePattern))
        return wrong([...path, 'queue'], 'this is no name of a queue', 'use 1 to 64 letters, digits, _ . or -');
      return { action: { kind, queue }, jitter: 0 };
    }
    case 'issue_reversal':
    case 'deprecate_tool_call': {
      const reason = fields['reason'] ?? defaultOf(verdict, kind)?.reason ?? `the playbook says so for ${verdict}`;
      if (!isText(reason, reasonPattern))
        return wrong([...path, 'reason'], 'this is no reason', 'use one line of 1 to 300 characters');
      const action = kind === 'issue_reversal' ? { kind, reason } : ({ kind, reason, replan: true } as const);
      return { action, jitter: 0 };
    }
    default:
      return unreachable(kind);
  }
}

function makeRefresh(verdict: Verdict, { then = 'retry' }: Loose, path: readonly string[]): Made {
  // INVARIANT: only a refusal because of stale evidence proves that nothing was done before it is sent again.
  if (verdict !== 'evidence_stale')
    return wrong(path, `refresh_evidence has no meaning for ${verdict}`, 'use it for evidence_stale only');
  if (then !== 'retry' && then !== 'abort') return wrong([...path, 'then'], 'then is retry or abort', 'use one');
  return { action: { kind: 'refresh_evidence', then }, jitter: 0 };
}

function makeRetry(verdict: Verdict, fields: Loose, path: readonly string[]): Made {
  const kind = 'retry_with_backoff';
  if (!retryableVerdicts.has(verdict))
    return wrong(path, `${verdict} is never retried: ${whyNever(verdict)}`, 'use another compensation');
  const backoff_ms = fields['backoff_ms'] ?? defaultOf(verdict, kind)?.backoff_ms;
  if (!isPauses(backoff_ms))
    return wrong([...path, 'backoff_ms'], `the pauses are 1 to ${maxRetries} times of at most an hour`, 'correct them');
  const { max_attempts = backoff_ms.length } = fields;
  if (max_attempts !== backoff_ms.length)
    return wrong(
      [...path, 'max_attempts'],
      `max_attempts must be the number of pauses, which is ${backoff_ms.length}`,
      `write ${backoff_ms.length}, or leave it out`,
    );
  const jitter = fields['jitter'] ?? defaultPlaybook[verdict].pure.jitter;
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1))
    return wrong([...path, 'jitter'], 'jitter is a number from 0 to 1', 'use 0.2 for a fifth more or less');
  return { action: { kind, max_attempts, backoff_ms }, jitter };
}

/** Null for verdicts that can be retried. */
export function whyNever(verdict: Verdict): string | null {
  switch (verdict) {
    case 'transient_timeout':
    case 'server_error_5xx':
    case 'rate_limited':
      return null;
    case 'idempotency_conflict':
      return 'the upstream knows the key already';
    case 'evidence_stale':
      return 'what it relies on must be read again first';
    case 'policy_denied':
      return 'only a person can lift the refusal';
    case 'schema_mismatch':
      return 'the same request would get an answer of the same shape, and a write may have happened';
    case 'invalid_request':
      return 'the same request would be refused again';
    case 'auth_expired':
      return 'the same credential would be refused again';
    case 'cancelled':
      return 'somebody stopped it';
    default:
      return unreachable(verdict);
  }
}

/** The fields of the default for this verdict, if it does the same. */
function defaultOf<Kind extends CompensationKind>(verdict: Verdict, kind: Kind) {
  const { action } = defaultPlaybook[verdict].pure;
  return action.kind === kind ? (action as Extract<Entry['action'], { readonly kind: Kind }>) : null;
}

const isPauses = (value: unknown): value is readonly number[] =>
  Array.isArray(value) &&
  value.length >= 1 &&
  value.length <= maxRetries &&
  value.every((each) => Number.isInteger(each) && each >= 0 && each <= maxBaseMs);

const isText = (value: unknown, pattern: string): value is string =>
  typeof value === 'string' && new RegExp(pattern).test(value);

function strange(name: string, known: readonly string[], what: string): readonly [problem: string, fix: string] {
  const near = nearest(name, known);
  return [
    `there is no ${what} '${name.slice(0, 80)}'`,
    near === null ? `use one of ${known.join(', ')}` : `did you mean ${near}?`,
  ];
}

const wrong = (path: readonly string[], problem: string, fix: string): PlaybookProblem => ({ path, problem, fix });
