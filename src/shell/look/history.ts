/**
 * Reads the history of a workflow session from its records, in order: every attempt of an agent, refusals included,
 * and everything the system did in the session.
 */
import type { CallId, SessionId } from '../../core/call/call.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { safeText } from '../../core/values/redact.ts';
import type { JournalEntry, Session, StoreReader } from '../../ports/store.ts';

/** One line of a session's history: an attempt of an agent, or something the system did. */
export interface HistoryEntry {
  /** The number of its first record in the session. */
  readonly entry: number;
  /** 'attempt', or the kind of the record: session_opened, timer_fired, session_reset, … */
  readonly kind: string;
  readonly at: string;
  readonly agent: string;
  readonly action: string | null;
  readonly call_id: string | null;
  /** 'succeeded', an error's name, or 'running'; null for what is no attempt. */
  readonly outcome: string | null;
  readonly code: string | null;
  /**
   * The arguments, masked as the agent's policy says; null if there were none, or they were erased. Long ones are cut
   * to a text.
   */
  readonly inputs: Json;
  /** Why it was refused, failed or was stopped, in words; null if there is nothing to explain. */
  readonly reason: string | null;
  readonly elapsed_ms: number | null;
  /** The session's sequence after it. */
  readonly seq: number;
  readonly state_before: string | null;
  readonly state_after: string | null;
  /** Further facts of the record: the timer, the source of a fork, the outcome of an orphan. */
  readonly detail: JsonObject;
}

export interface HistoryPage {
  readonly session: string;
  readonly entries: readonly HistoryEntry[];
  /** Ask again with `after` set to this; null at the end. */
  readonly next: number | null;
}

export async function readHistory(
  session: Session,
  after: number,
  limit: number,
  reader: StoreReader,
): Promise<HistoryPage> {
  const entries: HistoryEntry[] = [];
  let from = after;
  let seq = await seqBefore(session, after, reader);
  for (;;) {
    const page = await reader.sessionEntries(session.id as SessionId, from, limit);
    for (const record of page) {
      if (entries.length >= limit) return { session: session.id, entries, next: entries.at(-1)?.entry ?? null };
      seq = Math.max(seq, stepIn(record));
      const entry = await entryOf(record, session, seq, reader);
      if (entry !== null) entries.push(entry);
    }
    if (page.length < limit) return { session: session.id, entries, next: null };
    from = page.at(-1)?.sessionSeq ?? from;
  }
}

/** How many records before a page are read to find the sequence that it begins with. */
const lookBack = 50;

/** A record that does not name a sequence has that of the record before it. */
async function seqBefore({ id }: Session, after: number, reader: StoreReader): Promise<number> {
  if (after <= 0) return 0;
  const earlier = await reader.sessionEntries(id, Math.max(0, after - lookBack), Math.min(after, lookBack));
  return Math.max(0, ...earlier.map(stepIn));
}

function stepIn({ body }: JournalEntry): number {
  const { step, facts } = readBody(body);
  const named = step ?? (isObject(facts) ? facts['step'] : null);
  return typeof named === 'number' ? named : 0;
}

/** The fields that every entry takes from its record. */
type EntryBase = Pick<HistoryEntry, 'entry' | 'at' | 'agent'>;
type Body = Readonly<Record<string, unknown>>;

/** Null for a record that belongs to the entry of an earlier one. */
async function entryOf(
  record: JournalEntry,
  session: Session,
  seq: number,
  reader: StoreReader,
): Promise<HistoryEntry | null> {
  const body = readBody(record.body);
  const base: EntryBase = { entry: record.sessionSeq, at: time(record.timeMs), agent: session.agent };
  // A step whose approval became void has an entry from when it was held; the approval's own record says why it will
  // not run.
  if (record.kind === 'refused' && typeof body['became'] === 'string') return null;
  if (record.kind === 'refused' || record.kind === 'held') return refusedEntry(record, body, base);
  if (record.kind === 'prepared') return attemptEntry(record, body, base, reader);
  // What a person settled later is an entry of its own: the entry of the attempt does not change.
  if (partsOfAttempt.has(record.kind) && typeof body['by'] !== 'string') return null;
  const action = record.call === null ? null : ((await reader.call(record.call as CallId))?.tool ?? null);
  return systemEntry(record, body, base, seq, action);
}

/** An attempt that was refused or held for approval: one record says all of it. */
function refusedEntry(record: JournalEntry, body: Body, base: EntryBase): HistoryEntry {
  const reply = payloadOf(record, 'reply');
  return {
    ...base,
    ...digests(isObject(body['facts']) ? { ...body['facts'] } : {}),
    kind: 'attempt',
    action: text(body['tool']) || null,
    call_id: record.call,
    outcome: text(body['error']),
    code: text(body['code']),
    inputs: inputsIn([record]),
    reason: reasonIn(reply),
    // Older records do not have it.
    elapsed_ms: typeof body['elapsed_ms'] === 'number' ? body['elapsed_ms'] : 0,
    detail: { gate: text(body['gate']), ...guardsIn(reply) },
  };
}

/** What the system did itself, or a person. */
function systemEntry(
  record: JournalEntry,
  body: Body,
  base: EntryBase,
  seq: number,
  action: string | null,
): HistoryEntry {
  const orphan = payloadOf(record, 'orphan');
  const question = payloadOf(record, 'question');
  const detail = {
    ...Object.fromEntries(Object.entries(body).filter(([name]) => !hasOwnField.has(name))),
    ...(orphan === null ? {} : { outcome: text(orphan['error']) || 'succeeded' }),
    ...(question === null ? {} : { question: question['text'] ?? null }),
  };
  // In a record about a call `state` is the state of the call, and no digest.
  const known = record.kind === 'session_stopped' ? body : { ...body, state: null };
  return {
    ...base,
    ...digests({ step: seq, ...known }),
    kind: record.kind,
    action,
    call_id: record.call,
    outcome: null,
    code: null,
    inputs: null,
    reason: reasonIn(orphan) ?? (text(body['reason']) || null),
    elapsed_ms: null,
    detail: detail as JsonObject,
  };
}

/** Fields of a record that are fields of the entry, and not of its `detail`. */
const hasOwnField: ReadonlySet<string> = new Set(['state_before', 'state_after', 'step', 'manifest']);

/** Told by the entry of their attempt. The call's own story has them one by one. */
const partsOfAttempt: ReadonlySet<string> = new Set(
  `dispatched settled doubted cancelled expired retry_planned adopted requester_left attempt_started attempt_finished
  failure_classified verdict_changed compensation_selected attempt_scheduled dispatch_settled reversal_refused probed
  ticket_opened ticket_taken ticket_commented ticket_resolved ticket_overdue ticket_expired ticket_continued`.split(
    /\s+/,
  ),
);

/**
 * An attempt that was sent. Its outcome is in later records of the same call: the first that ended it counts, for good.
 */
async function attemptEntry(
  record: JournalEntry,
  body: Body,
  base: EntryBase,
  reader: StoreReader,
): Promise<HistoryEntry> {
  const records = record.call === null ? [] : await reader.recordsOf(record.call as never);
  const ended = records.find(({ kind }) => endings.has(kind));
  const { known, effect, adopted, ...end } = ended === undefined ? running : endOf(ended);
  const dispatched = records.filter(({ kind, body: said }) => kind === 'dispatched' && isSent(said)).length;
  return {
    ...base,
    ...digests(known === null ? body : { state_before: body['state_before'], step: body['step'], ...known }),
    kind: 'attempt',
    action: text(body['tool']) || null,
    call_id: record.call,
    outcome: end.outcome,
    code: end.code,
    inputs: inputsIn([record, ...records]),
    reason: end.reason,
    elapsed_ms: end.elapsed_ms,
    detail: { effect, sends: dispatched - (adopted.adopted_from === undefined ? 0 : 1), ...adopted },
  };
}

/** A call that ended between two attempts with what was done passed through one that sent nothing. */
const isSent = (body: string): boolean => (JSON.parse(body) as { sent?: boolean }).sent !== false;

const endings: ReadonlySet<string> = new Set(['settled', 'doubted', 'cancelled', 'expired']);

/** How an attempt ended. */
interface AttemptEnd extends Pick<HistoryEntry, 'outcome' | 'code' | 'reason' | 'elapsed_ms'> {
  /** The body of the record that ended it; null while it runs. */
  readonly known: Body | null;
  readonly effect: string;
  readonly adopted: { readonly adopted_from?: string };
}

const running: AttemptEnd = {
  known: null,
  outcome: 'running',
  code: null,
  reason: null,
  elapsed_ms: null,
  effect: 'unknown',
  adopted: {},
};

function endOf(ended: JournalEntry): AttemptEnd {
  const known = readBody(ended.body);
  const facts = isObject(known['end']) ? known['end'] : {};
  const reply = payloadOf(ended, 'reply');
  return {
    known,
    outcome: reply === null ? outcomeIn(known) : text(reply['error']) || 'succeeded',
    code: text(reply?.['code'] ?? facts['code']) || null,
    reason: reasonIn(reply),
    elapsed_ms: typeof known['elapsed_ms'] === 'number' ? known['elapsed_ms'] : null,
    effect: text(known['effect']) || 'unknown',
    adopted: typeof facts['adopted_from'] === 'string' ? { adopted_from: facts['adopted_from'] } : {},
  };
}

/** For a reply that was erased: only the facts of the record are left. */
function outcomeIn(ended: Body): string {
  const state = text(ended['state']);
  return state === 'SUCCEEDED' ? 'succeeded' : state.toLowerCase() || 'running';
}

/** Null if there is no such part, or it was erased. */
function payloadOf({ payloads }: JournalEntry, part: string): Record<string, unknown> | null {
  const found = payloads.find((payload) => payload.part === part)?.text ?? null;
  return found === null ? null : readBody(found);
}

/** Per entry, so that a page stays small whatever was sent. */
const maxInputsChars = 2_000;

function inputsIn(records: readonly JournalEntry[]): Json {
  const [found = null] = records.flatMap(({ payloads }) =>
    payloads.flatMap(({ part, text: sent }) => (part === 'args' && sent !== null ? [sent] : [])),
  );
  if (found === null) return null;
  const shown = safeText(found, maxInputsChars);
  return shown === found ? (JSON.parse(found) as Json) : shown;
}

/** The reply of a failed tool has the tool's own message in `error_message`. */
function reasonIn(reply: Record<string, unknown> | null): string | null {
  return text(reply?.['error_message'] ?? reply?.['message']) || null;
}

/** The names of the guards that refused. */
function guardsIn(reply: Record<string, unknown> | null): JsonObject {
  const blocked = reply?.['blocked_by'];
  const guards = Array.isArray(blocked)
    ? blocked.flatMap((edge) => (isObject(edge) ? [edge['guard'] as Json] : []))
    : [];
  return guards.length === 0 ? {} : { guards };
}

function digests(body: Record<string, unknown>): Pick<HistoryEntry, 'seq' | 'state_before' | 'state_after'> {
  const before = text(body['state_before'] ?? body['state']) || null;
  const seq = typeof body['step'] === 'number' ? body['step'] : 0;
  return { seq, state_before: before, state_after: text(body['state_after']) || before };
}

/** Empty for a body that is no JSON object: a damaged journal can still be read. */
export function readBody(body: string): JsonObject {
  try {
    const value = JSON.parse(body) as Json;
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const time = (atMs: number): string => new Date(atMs).toISOString();
