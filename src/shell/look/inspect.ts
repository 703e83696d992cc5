/**
 * Reads the store for people and auditors: lists calls, shows everything about one, follows the journal, and verifies
 * it from its first record, page by page. Must not print, and must not write.
 */
import type { Chain } from '../../core/improvement/chain.ts';
import type { CallId } from '../../core/call/call.ts';
import { type GateName, gateNames } from '../../core/gates/gate.ts';
import { isObject } from '../../core/values/json.ts';
import { type Hashing, type Position, recordKinds } from '../../core/journal/record.ts';
import { afterAll, maxLookedAt, type MeantId, meantId } from '../../core/values/short-id.ts';
import { reversedBy } from '../../core/reversal/reversal.ts';
import { createVerifier, hex, type StoredRecord, type VerifyReport } from '../../core/journal/verify.ts';
import { defaultQuarantineMs } from '../../core/recovery/playbook.ts';
import type { Effect } from '../../core/taxonomy.ts';
import type { CallFilter, JournalEntry, StoredCall, StoredText, StoreReader } from '../../ports/store.ts';
import { readImprovements } from '../improvement/read-improvements.ts';
import { effectOf } from '../ending/transition.ts';

export type { CallFilter, JournalEntry, Position, StoredCall, StoredText, VerifyReport };

/** A record and a sentence that says what its kind means. */
export interface ExplainedRecord extends JournalEntry {
  readonly meaning: string;
}

/** The answer of one gate. Gates after one that refused are `not_asked`; gates that are not configured are `absent`. */
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
  readonly records: readonly ExplainedRecord[];
  /** The call that it undoes, and the one that undid it. */
  readonly links: { readonly reverses: string | null; readonly reversedBy: string | null };
}

/** A call in doubt, as a person needs it to settle it. */
export interface Doubt {
  readonly call: StoredCall;
  readonly args: StoredText;
  /** When it came into doubt, and until when a no is no proof. */
  readonly sinceMs: number;
  readonly quarantinedUntilMs: number;
  /** How often its declared read was asked. */
  readonly probes: number;
}

export interface Inspection {
  /** Calls in doubt, the newest first. */
  doubts(filter: Omit<CallFilter, 'state'>): Promise<readonly Doubt[]>;
  calls(filter: CallFilter): Promise<readonly StoredCall[]>;
  call(id: string): Promise<CallStory | null>;
  /** A text that a record names by its hash; null if it is not kept. */
  blob(hash: string): Promise<string | null>;
  /** Finds a call by the beginning of its id. */
  meant(beginning: string): Promise<MeantId>;
  /** The steps by which what is done about failures was changed. */
  improvements(): Promise<Chain>;
  /** `onPage` is called after each page with the number of records verified so far. */
  verify(onPage?: (records: number) => void): Promise<VerifyReport>;
  newest(count: number): Promise<readonly ExplainedRecord[]>;
  /** Records after a position, then new ones as they come; ends when `wait` returns false. */
  follow(after: Position | null, wait: () => Promise<boolean>): AsyncGenerator<ExplainedRecord>;
}

/** Payloads may be megabytes, so a page is short. */
const pageSize = 100;
const maxTries = 10;
const beforeTheFirst: Position = { epoch: 0, seq: 0 };

export function createInspection(reader: StoreReader, hashing: Hashing): Inspection {
  return {
    calls: (filter) => reader.listCalls(filter),
    async doubts(filter) {
      const calls = await reader.listCalls({ ...filter, state: 'IN_DOUBT' });
      return Promise.all(calls.map((call) => readDoubt(call, reader)));
    },
    call: (id) => readCall(id as CallId, reader),
    blob: (hash) => reader.blob(hash),
    async meant(beginning) {
      const found = await reader.listCalls({ before: afterAll(beginning), limit: maxLookedAt });
      return meantId(
        beginning,
        found.map(({ id }) => id),
      );
    },
    improvements: () => readImprovements(reader, (text) => hex(hashing.sha256(hashing.utf8(text)))),
    verify: (onPage = () => undefined) => verifyJournal(reader, hashing, onPage),
    newest: async (count) => (count === 0 ? [] : (await reader.entries(null, count)).map(explainRecord)),
    async *follow(after, wait) {
      let last = after ?? beforeTheFirst;
      do {
        for (let full = true; full;) {
          const page = await reader.entries(last, pageSize);
          for (const entry of page) yield explainRecord(entry);
          last = page.at(-1) ?? last;
          full = page.length === pageSize;
        }
      } while (await wait());
    },
  };
}

export function explainRecord(entry: JournalEntry): ExplainedRecord {
  const meanings: Readonly<Record<string, string>> = recordKinds;
  return { ...entry, meaning: meanings[entry.kind] ?? 'a kind of record that this version does not know' };
}

/** Everything about one call, of one moment; null if there is no such call. */
export async function readCall(id: CallId, reader: StoreReader): Promise<CallStory | null> {
  for (let tries = 1; ; tries++) {
    const call = await reader.call(id);
    if (call === null) return null;
    const [args, reply, records] = await Promise.all([reader.args(id), reader.reply(id), reader.recordsOf(id)]);
    const now = await reader.call(id);
    const moved = now?.state !== call.state || now.updatedAtMs !== call.updatedAtMs;
    // The call changed between the reads, so what was read is of two moments.
    if (moved && tries < maxTries) continue;
    return {
      call,
      effect: effectOf(call.state),
      args,
      reply,
      ...decisionIn(records),
      links: { reverses: reversedBy(call.key), reversedBy: (await reader.reversalOf(id))?.redeemedBy ?? null },
      records: records.map(explainRecord),
    };
  }
}

async function readDoubt(call: StoredCall, reader: StoreReader): Promise<Doubt> {
  const [args, records] = await Promise.all([reader.args(call.id), reader.recordsOf(call.id)]);
  const sinceMs = records.findLast(({ kind }) => kind === 'doubted')?.timeMs ?? call.updatedAtMs;
  const quarantineMs = await quarantineOnRecord(records, reader);
  const probes = records.filter(({ kind }) => kind === 'probed').length;
  return { call, args, sinceMs, quarantinedUntilMs: sinceMs + quarantineMs, probes };
}

/** As it was declared when the call was prepared. */
async function quarantineOnRecord(records: readonly JournalEntry[], reader: StoreReader): Promise<number> {
  const prepared = parse(records.find(({ kind }) => kind === 'prepared')?.body ?? 'null');
  const hash = isObject(prepared) ? prepared['playbook'] : null;
  const declared = parse((typeof hash === 'string' ? await reader.blob(hash) : null) ?? 'null');
  const { quarantineMs } = isObject(declared) ? declared : {};
  return typeof quarantineMs === 'number' ? quarantineMs : defaultQuarantineMs;
}

/** The record of the intent or of the refusal says which gates were configured and what they saw. */
function decisionIn(records: readonly JournalEntry[]): Pick<CallStory, 'gates' | 'facts'> {
  const decided = records.find(({ kind }) => kind === 'prepared' || kind === 'refused');
  const body = decided === undefined ? null : parse(decided.body);
  const facts = isObject(body) && isObject(body['facts']) ? body['facts'] : null;
  const standing = facts !== null && Array.isArray(facts['gates']) ? (facts['gates'] as readonly unknown[]) : [];
  const spoke = isObject(body) && decided?.kind === 'refused' ? body['gate'] : null;
  // If the name is not that of a gate, the call was refused at admission, before any gate.
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
  // Read first, so that an epoch that opens meanwhile is not reported as missing.
  const known = await reader.epochs();
  let records = 0;
  for (let after: Position | null = null; ;) {
    const page: readonly StoredRecord[] = await reader.journal(after, pageSize);
    for (const record of page) verifier.add(record);
    records += page.length;
    onPage(records);
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return withoutGaps(verifier.report(), known);
    after = { epoch: last.epoch, seq: last.seq };
  }
}

/** A journal from which whole epochs were cut still verifies by itself; the store knows how many there were. */
function withoutGaps(report: VerifyReport, known: number): VerifyReport {
  if (report.epochs >= known) return report;
  const problem = `the store was opened ${known} times, but the journal has ${report.epochs} epochs`;
  return { ...report, problems: [...report.problems, { epoch: known, seq: 0, problem }] };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // A damaged journal must be readable too.
    return null;
  }
}
