/**
 * Reads what people look at about calls: what a record says of one, its whole story, its failures decided again, and a
 * golden of it. For one tenant: a call of another is treated as absent. Must not write.
 */
import type { CallId } from '../../core/call/call.ts';
import { type DecisionRecord, recordedLadder } from '../../core/gates/recorded-ladder.ts';
import type { Rung } from '../../core/gates/explain.ts';
import type { Position } from '../../core/journal/record.ts';
import { type Playbooks, replay, type Replay } from '../../core/recovery/replay.ts';
import { recordGolden, writeGolden } from '../../core/recovery/record-golden.ts';
import { timelineOf, type TimelineLine } from '../../core/recovery/timeline.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import type { JournalEntry, StoredCall, StoreReader } from '../../ports/store.ts';
import { readBody } from './history.ts';
import { type CallStory, readCall } from './inspect.ts';

export interface ToldStory extends CallStory {
  readonly ladder: readonly Rung[];
  /** The record of the last decision; null if there is none. */
  readonly decided: JournalEntry | null;
  readonly ruleRef: string | null;
  readonly timeline: readonly TimelineLine[];
  readonly approvals: readonly string[];
  readonly tickets: readonly string[];
}

export type MadeGolden = { readonly file: string; readonly text: string } | { readonly problem: string };

export interface JournalPage {
  readonly epochs: number;
  readonly records: Awaited<ReturnType<StoreReader['journal']>>;
  readonly more: boolean;
}

const decisions: ReadonlySet<string> = new Set(['prepared', 'refused', 'held']);
/** A page of the journal ends with the record that goes beyond this. */
const maxPageBytes = 4 << 20;
/** Read at once, and then cut, because nobody knows before how large records are. */
const journalStep = 50;

export async function tellStory(id: string, tenant: string, reader: StoreReader): Promise<ToldStory | null> {
  const story = await readCall(id as CallId, reader);
  if (story === null || story.call.tenant !== tenant) return null;
  const decided = story.records.findLast(({ kind }) => decisions.has(kind)) ?? null;
  const body = decided === null ? {} : readBody(decided.body);
  return {
    ...story,
    ladder: decided === null ? [] : recordedLadder(decisionIn(decided, body)),
    decided,
    ruleRef: typeof body['rule'] === 'string' ? body['rule'] : null,
    facts: isObject(body['facts']) ? body['facts'] : null,
    timeline: timelineOf(story.records),
    approvals: namedIn(story.records, 'approval'),
    tickets: namedIn(story.records, 'ticket'),
  };
}

function decisionIn({ kind, payloads }: JournalEntry, body: JsonObject): DecisionRecord {
  const reply = readBody(payloads.find(({ part }) => part === 'reply')?.text ?? '');
  const message = reply['human_message'] ?? reply['message'];
  return { kind, body, message: typeof message === 'string' ? message : null };
}

function namedIn(records: readonly JournalEntry[], field: 'approval' | 'ticket'): readonly string[] {
  const names = records.filter(({ kind }) => kind.startsWith(field)).map(({ body }) => readBody(body)[field]);
  return [...new Set(names.filter((name): name is string => typeof name === 'string'))];
}

async function playbooksOf({ records }: CallStory, reader: StoreReader): Promise<Playbooks> {
  const playbooks = new Map<string, string>();
  for (const { kind, body } of records) {
    const hash = kind === 'compensation_selected' ? readBody(body)['playbook'] : null;
    const text = typeof hash === 'string' && !playbooks.has(hash) ? await reader.blob(hash) : null;
    if (text !== null) playbooks.set(String(hash), text);
  }
  return playbooks;
}

export async function replayFailures(id: string, tenant: string, reader: StoreReader): Promise<Replay | null> {
  const story = await readCall(id as CallId, reader);
  if (story === null || story.call.tenant !== tenant) return null;
  return replay(story.call, story.records, await playbooksOf(story, reader));
}

export async function goldenOf(id: string, tenant: string, reader: StoreReader): Promise<MadeGolden | null> {
  const story = await readCall(id as CallId, reader);
  if (story === null || story.call.tenant !== tenant) return null;
  const args = story.args.kind === 'text' ? (readBody(story.args.text) as Json) : {};
  const made = recordGolden(story.call, args, story.records, await playbooksOf(story, reader));
  if (!made.ok) return { problem: made.problem };
  const text = writeGolden(made.golden, new Date(made.golden.clockMs).toISOString());
  return { file: `goldens/${story.call.id}.yaml`, text };
}

export async function readJournal(after: Position | null, limit: number, reader: StoreReader): Promise<JournalPage> {
  // Read first, so that an epoch that opens meanwhile is not reported as missing.
  const epochs = await reader.epochs();
  const records: JournalPage['records'][number][] = [];
  let bytes = 0;
  for (let last = after; records.length < limit;) {
    const wanted = Math.min(journalStep, limit - records.length);
    const page = await reader.journal(last, wanted);
    for (const record of page) {
      records.push(record);
      bytes += record.payloads.reduce((sum, each) => sum + (each?.bytes.length ?? 0), record.header.length);
      if (bytes > maxPageBytes) return { epochs, records, more: true };
    }
    if (page.length < wanted) return { epochs, records, more: false };
    last = page.at(-1) ?? last;
  }
  return { epochs, records, more: true };
}

/** The records that decide a call, or end it. */
const moments: ReadonlySet<string> = new Set([
  'refused',
  'held',
  'prepared',
  'settled',
  'retry_planned',
  'doubted',
  'cancelled',
  'expired',
  'approval_denied',
  'approval_expired',
]);

export interface Moment {
  readonly record: JournalEntry;
  readonly call: StoredCall;
  readonly body: JsonObject;
}

/** What a record says of its call; null for one that neither decides it nor ends it. */
export async function momentOf(record: JournalEntry, reader: StoreReader): Promise<Moment | null> {
  if (record.call === null || !moments.has(record.kind)) return null;
  const call = await reader.call(record.call as CallId);
  return call === null ? null : { record, call, body: readBody(record.body) };
}
