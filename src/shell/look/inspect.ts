/**
 * What does the store know? The reading side, for people and auditors: calls, one call's whole story, the journal as it
 * grows, and the journal verified from its first record, page by page. Must not print, and must not write.
 */
import type { CallId } from '../../core/call/call.ts';
import { type GateName, gateNames } from '../../core/gates/gate.ts';
import { isObject } from '../../core/values/json.ts';
import { type Hashing, type Position, recordKinds } from '../../core/journal/record.ts';
import { afterAll, maxLookedAt, type MeantId, meantId } from '../../core/values/short-id.ts';
import { createVerifier, type StoredRecord, type VerifyReport } from '../../core/journal/verify.ts';
import type { Effect } from '../../core/taxonomy.ts';
import type { CallFilter, JournalEntry, StoredCall, StoredText, StoreReader } from '../../ports/store.ts';
import { effectOf } from '../ending/transition.ts';

export type { CallFilter, JournalEntry, Position, StoredCall, StoredText, VerifyReport };

/** A record and what its kind means, in a sentence. */
export interface ToldRecord extends JournalEntry {
  readonly meaning: string;
}

/** What a gate of the ladder said. Those after one that refused were not asked; what is not configured is absent. */
export interface GateAnswered {
  readonly gate: GateName;
  readonly answer: 'passed' | 'refused' | 'not_asked' | 'absent';
}

export interface CallStory {
  readonly call: StoredCall;
  readonly effect: Effect;
  readonly args: StoredText;
  readonly reply: StoredText;
  readonly gates: readonly GateAnswered[];
  /** The facts of the decision, as recorded; null if no decision is on record. */
  readonly facts: Readonly<Record<string, unknown>> | null;
  readonly records: readonly ToldRecord[];
}

export interface Inspection {
  calls(filter: CallFilter): Promise<readonly StoredCall[]>;
  call(id: string): Promise<CallStory | null>;
  /** Which call is meant by the beginning of its id. */
  meant(beginning: string): Promise<MeantId>;
  /** `onPage` hears after each page how many records were verified so far. */
  verify(onPage?: (records: number) => void): Promise<VerifyReport>;
  newest(count: number): Promise<readonly ToldRecord[]>;
  /** Records after a position, and then those that come; `wait` ends it by answering false. */
  follow(after: Position | null, wait: () => Promise<boolean>): AsyncGenerator<ToldRecord>;
}

/** Payloads may be megabytes, so a page is short. */
const pageSize = 100;
const maxTries = 10;
const beforeTheFirst: Position = { epoch: 0, seq: 0 };

export function createInspection(reader: StoreReader, hashing: Hashing): Inspection {
  return {
    calls: (filter) => reader.listCalls(filter),
    call: (id) => tellCall(id as CallId, reader),
    async meant(beginning) {
      const found = await reader.listCalls({ before: afterAll(beginning), limit: maxLookedAt });
      return meantId(
        beginning,
        found.map(({ id }) => id),
      );
    },
    verify: (onPage = () => undefined) => verifyJournal(reader, hashing, onPage),
    newest: async (count) => (count === 0 ? [] : (await reader.entries(null, count)).map(tell)),
    async *follow(after, wait) {
      let last = after ?? beforeTheFirst;
      do {
        for (let full = true; full;) {
          const page = await reader.entries(last, pageSize);
          for (const entry of page) yield tell(entry);
          last = page.at(-1) ?? last;
          full = page.length === pageSize;
        }
      } while (await wait());
    },
  };
}

function tell(entry: JournalEntry): ToldRecord {
  const meanings: Readonly<Record<string, string>> = recordKinds;
  return { ...entry, meaning: meanings[entry.kind] ?? 'a kind of record that this version does not know' };
}

async function tellCall(id: CallId, reader: StoreReader): Promise<CallStory | null> {
  for (let tries = 1; ; tries++) {
    const call = await reader.call(id);
    if (call === null) return null;
    const [args, reply, records] = await Promise.all([reader.args(id), reader.reply(id), reader.recordsOf(id)]);
    const now = await reader.call(id);
    const moved = now?.state !== call.state || now.updatedAtMs !== call.updatedAtMs;
    // The call moved on between the reads: what was read belongs to two moments.
    if (moved && tries < maxTries) continue;
    return { call, effect: effectOf(call.state), args, reply, ...decisionIn(records), records: records.map(tell) };
  }
}

/** The record of the intent or of the refusal says which gates stood and what they saw. */
function decisionIn(records: readonly JournalEntry[]): Pick<CallStory, 'gates' | 'facts'> {
  const decided = records.find(({ kind }) => kind === 'prepared' || kind === 'refused');
  const body = decided === undefined ? null : parse(decided.body);
  const facts = isObject(body) && isObject(body['facts']) ? body['facts'] : null;
  const standing = facts !== null && Array.isArray(facts['gates']) ? (facts['gates'] as readonly unknown[]) : [];
  const spoke = isObject(body) && decided?.kind === 'refused' ? body['gate'] : null;
  // Refused while it was admitted, before any gate was asked.
  let asked = spoke === null || standing.includes(spoke);
  const gates = gateNames.map((gate): GateAnswered => {
    if (!standing.includes(gate)) return { gate, answer: 'absent' };
    if (!asked) return { gate, answer: 'not_asked' };
    asked = gate !== spoke;
    return { gate, answer: asked ? 'passed' : 'refused' };
  });
  return { gates, facts };
}

async function verifyJournal(
  reader: StoreReader,
  hashing: Hashing,
  onPage: (records: number) => void,
): Promise<VerifyReport> {
  const verifier = createVerifier(hashing);
  // Counted first: an epoch that opens meanwhile is for the next time.
  const known = await reader.epochs();
  let records = 0;
  for (let after: Position | null = null; ;) {
    const page: readonly StoredRecord[] = await reader.journal(after, pageSize);
    for (const record of page) verifier.add(record);
    records += page.length;
    onPage(records);
    const last = page.at(-1);
    // Whatever is written from here on is for the next time.
    if (last === undefined || page.length < pageSize) return withoutGaps(verifier.report(), known);
    after = { epoch: last.epoch, seq: last.seq };
  }
}

/** A journal from which whole epochs were cut, all of them perhaps, holds by itself; the store knows better. */
function withoutGaps(report: VerifyReport, known: number): VerifyReport {
  if (report.epochs >= known) return report;
  const problem = `the store was opened ${known} times, but the journal has ${report.epochs} epochs`;
  return { ...report, problems: [...report.problems, { epoch: known, seq: 0, problem }] };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Whoever reads a journal must be able to read a broken one.
    return null;
  }
}
