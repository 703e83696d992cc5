/**
 * Makes the decisions about a failed call again, from its records and its playbook alone, and compares them with what
 * was recorded: verdicts, compensation, schedule, outcome, ticket. Pure: asks nobody and reads no clock.
 */
import type { Call } from '../call/call.ts';
import { type ErrorCode, type ErrorKind, kinds, codes, type ToolError } from '../taxonomy.ts';
import { canonicalText } from '../values/canonical.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { classify, withCode } from './classify.ts';
import { dispatchOf, type FactsOnRecord } from './dispatch.ts';
import { type DispatchRecord, recordOfTicket, recordsOfDispatch } from './dispatch-records.ts';
import {
  type History,
  nothingTried,
  plan,
  planAfterCredential,
  planAfterProof,
  planAfterRefresh,
  type PlanFacts,
  remember,
} from './plan.ts';
import { missingPairs, type ToolRecovery } from './playbook.ts';

export interface ReplayRecord {
  readonly kind: string;
  readonly body: string;
  readonly payloads: readonly { readonly part: string; readonly text: string | null }[];
}

/** What of a call the journal and its row say. */
export type ReplayCall = Pick<Call, 'id' | 'tool' | 'effectClass' | 'createdAtMs' | 'deadlineAtMs' | 'state'>;

export interface Difference {
  readonly attempt: number;
  readonly record: string;
  /** The path of the field; empty if the record itself is missing or too much. */
  readonly field: string;
  readonly recorded: Json;
  readonly recomputed: Json;
}

export type Replay =
  /** `failures` is how many there were; `erased` what could not be compared, because its payload is gone. */
  | { readonly kind: 'equal'; readonly failures: number; readonly erased: readonly string[] }
  | { readonly kind: 'different'; readonly failures: number; readonly first: Difference }
  /** The records lack what a decision was made of. */
  | { readonly kind: 'impossible'; readonly missing: string };

/** Texts of playbooks by their hashes, as far as they are kept. */
export type Playbooks = ReadonlyMap<string, string>;

export function replay(call: ReplayCall, records: readonly ReplayRecord[], playbooks: Playbooks): Replay {
  const groups = groupsOf(records);
  const erased: string[] = [];
  let history: History = nothingTried;
  for (const group of groups) {
    const failure = readFailure(group);
    if (typeof failure === 'string') return impossible(failure);
    if (failure.isErased) erased.push(`the message of attempt ${failure.attempt}`);
    // A gateway that was started again with another playbook goes on by that one.
    const recovery = readRecovery(playbooks.get(failure.playbook ?? '') ?? '');
    if (recovery === null) return impossible(`the playbook that decided about attempt ${failure.attempt}`);
    const facts = factsFor(call, failure, history, recovery);
    const { evidence, credential = null, reversal = null } = failure.facts;
    const refreshed = planAfterCredential(planAfterRefresh(plan(facts), facts, evidence), facts, credential);
    const planned = planAfterProof(refreshed, reversal);
    const dispatch = dispatchOf(facts, planned, { evidence, credential, reversal });
    const ticket = dispatch.kind === 'failed' ? dispatch.ticket : null;
    const expected = [
      ...recordsOfDispatch(dispatch, facts.call, failure.playbook),
      ...(ticket === null ? [] : [recordOfTicket(call, ticket)]),
    ];
    const first = firstDifference(failure.attempt, expected, group);
    if (first !== null) return { kind: 'different', failures: groups.length, first };
    history = remember(history, facts.trouble, planned);
  }
  return replaySuccess(records, groups.length, erased);
}

const impossible = (missing: string): Replay => ({ kind: 'impossible', missing });

/** What the dispatcher writes, beside what others write about a call. */
const ownKinds = new Set([
  'attempt_finished',
  'failure_classified',
  'verdict_changed',
  'compensation_selected',
  'attempt_scheduled',
  'dispatch_settled',
  'reversal_refused',
  'reversal_ordered',
  'ticket_opened',
]);

interface Group {
  readonly records: readonly { readonly kind: string; readonly body: JsonObject }[];
  readonly error: string | null;
}

/** The records of each failure, from the end of its attempt to the next one. */
function groupsOf(records: readonly ReplayRecord[]): readonly Group[] {
  const groups: { records: { kind: string; body: JsonObject }[]; error: string | null }[] = [];
  for (const { kind, body, payloads } of records) {
    if (!ownKinds.has(kind)) continue;
    const fields = fieldsOf(body);
    if (kind === 'attempt_finished')
      groups.push({ records: [], error: payloads.find(({ part }) => part === 'error')?.text ?? null });
    // A success is compared by itself; a doubt gets its ticket from whoever ended the call.
    if (fields['outcome'] === 'succeeded_after_compensation') continue;
    if (kind === 'ticket_opened' && fields['reason'] === 'in_doubt') continue;
    if (isOfOthers(kind, fields, groups.at(-1)?.records ?? [])) continue;
    groups.at(-1)?.records.push({ kind, body: fields });
  }
  return groups;
}

/** What came of a reversal that somebody asked for later says who; the dispatcher's own word does not. */
function isOfOthers(kind: string, fields: JsonObject, own: Group['records']): boolean {
  if (kind === 'reversal_refused' || kind === 'reversal_ordered') return 'by' in fields;
  const isTicket = kind === 'ticket_opened' && fields['reason'] === 'reversal_refused';
  return isTicket && !own.some((each) => each.kind === 'reversal_refused');
}

/** A failure, with everything that it was decided by. */
export interface Failure {
  readonly attempt: number;
  readonly error: ToolError;
  readonly effect: PlanFacts['trouble']['effect'];
  readonly named: ErrorCode | null;
  readonly facts: FactsOnRecord;
  /** The hash of the playbook that decided; null if there is none on record. */
  readonly playbook: string | null;
  /** When the next attempt was to be sent; null if there was to be none. */
  readonly scheduledAtMs: number | null;
  readonly isErased: boolean;
}

/** The failures of a call, in order; or the name of what is missing. */
export function failuresOnRecord(records: readonly ReplayRecord[]): readonly Failure[] | string {
  const read = groupsOf(records).map(readFailure);
  return read.find((each) => typeof each === 'string') ?? (read as readonly Failure[]);
}

/** What a failure was decided by; or the name of what is missing. */
function readFailure({ records, error }: Group): Failure | string {
  const finished = records[0]?.body ?? {};
  const { attempt, kind, effect, named } = finished;
  if (typeof attempt !== 'number' || typeof kind !== 'string' || !Object.hasOwn(kinds, kind))
    return 'how an attempt ended';
  if (effect !== 'none' && effect !== 'applied' && effect !== 'unknown') return `the effect of attempt ${attempt}`;
  const { facts, playbook } = bodyOf('compensation_selected', records);
  if (!isFacts(facts)) return `the facts of the decision about attempt ${attempt}`;
  const { at_ms: scheduled } = bodyOf('attempt_scheduled', records);
  return {
    attempt,
    error: errorOf(finished, kind as ErrorKind, error),
    effect,
    named: typeof named === 'string' && Object.hasOwn(codes, named) ? (named as ErrorCode) : null,
    facts,
    playbook: typeof playbook === 'string' ? playbook : null,
    scheduledAtMs: typeof scheduled === 'number' ? scheduled : null,
    isErased: error === null,
  };
}

const bodyOf = (kind: string, records: Group['records']): JsonObject =>
  records.find((record) => record.kind === kind)?.body ?? {};

function errorOf({ subject, retry_after: retryAfter }: JsonObject, kind: ErrorKind, stored: string | null): ToolError {
  const message = stored === null ? null : fieldsOf(stored)['message'];
  return {
    kind,
    ...(typeof subject === 'string' ? { subject } : {}),
    message: typeof message === 'string' ? message : '',
    ...(typeof retryAfter === 'number' ? { retry_after: retryAfter } : {}),
  } as ToolError;
}

function isFacts(value: Json | undefined): value is FactsOnRecord & JsonObject {
  if (!isObject(value)) return false;
  const { now_ms, chance, budget_left, max_retry_after_ms, tainted } = value as JsonObject;
  const numbers = [now_ms, chance, max_retry_after_ms];
  return numbers.every((each) => typeof each === 'number') && typeof budget_left === 'boolean' && tainted !== undefined;
}

function factsFor(call: ReplayCall, failure: Failure, history: History, recovery: ToolRecovery): PlanFacts {
  const { attempt, error, effect, named, facts } = failure;
  const classification = withCode(classify(error.kind, error.subject, call.effectClass), named);
  return {
    call: { ...unknownOfCall, ...call, state: 'DISPATCHED', attempt, tainted: facts.tainted },
    trouble: { error, classification, effect },
    history,
    recovery,
    dedupeWindowMs: facts.dedupe_window_ms,
    nowMs: facts.now_ms,
    chance: facts.chance,
    maxRetryAfterMs: facts.max_retry_after_ms,
    budgetLeft: facts.budget_left,
  };
}

/** Nothing of this takes part in a decision about a failure. */
const unknownOfCall = {
  tenant: '',
  agent: '',
  session: null,
  turn: null,
  key: null,
  fingerprint: '',
  owner: null,
  dueAtMs: null,
} as const;

function firstDifference(attempt: number, expected: readonly DispatchRecord[], { records }: Group): Difference | null {
  for (let at = 0; at < Math.max(expected.length, records.length); at++) {
    const [wanted, found] = [expected[at], records[at]];
    const [recomputed, recorded] = [wanted?.kind ?? null, found?.kind ?? null];
    if (recomputed !== recorded)
      return { attempt, record: recorded ?? recomputed ?? '', field: '', recorded, recomputed };
    const different = fieldDifference(wanted?.body ?? {}, found?.body ?? {});
    if (different !== null) return { attempt, record: recorded ?? '', ...different };
  }
  return null;
}

function fieldDifference(wanted: JsonObject, found: JsonObject): Omit<Difference, 'attempt' | 'record'> | null {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(found)])];
  const field = names.find((name) => textIn(wanted, name) !== textIn(found, name));
  return field === undefined ? null : { field, recorded: found[field] ?? null, recomputed: wanted[field] ?? null };
}

const textIn = (body: JsonObject, name: string): string => canonicalText(body[name] ?? null);

/** A success after failures says so, with its number of sends. */
function replaySuccess(records: readonly ReplayRecord[], failures: number, erased: readonly string[]): Replay {
  const outcomes = records.filter(({ kind }) => kind === 'dispatch_settled').map(({ body }) => fieldsOf(body));
  const said = outcomes.find(({ outcome }) => outcome === 'succeeded_after_compensation') ?? null;
  const sends = sendsOfSuccess(records);
  const recomputed = sends > 1 ? sends : null;
  const recorded = said === null ? null : (said['attempts'] ?? 0);
  if (recorded === recomputed) return { kind: 'equal', failures, erased };
  const first = { attempt: sends, record: 'dispatch_settled', field: 'attempts', recorded, recomputed };
  return { kind: 'different', failures, first };
}

/** How many sends a success took that came while it was waited for; 0 without one. */
function sendsOfSuccess(records: readonly ReplayRecord[]): number {
  for (const { kind, body } of records) {
    const { state, attempt, elapsed_ms: elapsed, end } = kind === 'settled' ? fieldsOf(body) : {};
    const isOwn = typeof elapsed === 'number' && isObject(end) && 'bytes' in end;
    if (state === 'SUCCEEDED' && isOwn && typeof attempt === 'number') return attempt;
  }
  return 0;
}

/** Null if the text is not that of a playbook. What a read declared is a text on record, and takes no part. */
export function readRecovery(text: string): ToolRecovery | null {
  const read = fieldsOf(text) as unknown as ToolRecovery;
  const isWhole = isObject(read.playbook) && missingPairs(read.playbook).length === 0;
  if (!isWhole || typeof read.upstream !== 'string') return null;
  const { partial: _, ...decides } = read;
  return { ...decides, reconcile: null };
}

function fieldsOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
