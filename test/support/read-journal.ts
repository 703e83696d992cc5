/**
 * What does the file say after all? Reads beside the gateway, by a connection of its own, and checks the whole of it.
 */
import assert from 'node:assert/strict';
import { nodeHashing } from '../../src/adapters/store-sqlite/node-hashing.ts';
import { openSqliteReader } from '../../src/adapters/store-sqlite/read/open-reader.ts';
import { isObject } from '../../src/core/values/json.ts';
import { stateKinds } from '../../src/core/journal/record.ts';
import { createVerifier, type Head, type VerifyReport } from '../../src/core/journal/verify.ts';
import { type CallState, legalTransitions } from '../../src/core/taxonomy.ts';
import type { JournalEntry, StoredCall, StoreReader } from '../../src/ports/store.ts';

const pageSize = 2_000;

export async function withReader<Value>(file: string, use: (reader: StoreReader) => Promise<Value>): Promise<Value> {
  const opened = await openSqliteReader(file);
  if (opened.kind === 'refused') throw new Error(opened.message);
  try {
    return await use(opened.reader);
  } finally {
    opened.close();
  }
}

/** Recomputes every hash after `from`, from the very first record if there is none. */
export async function verifyJournal(reader: StoreReader, from: Head | null = null): Promise<VerifyReport> {
  const verifier = createVerifier(nodeHashing, from);
  for (let after = from === null ? null : { epoch: from.epoch, seq: from.seq }; ;) {
    const page = await reader.journal(after, pageSize);
    for (const record of page) verifier.add(record);
    const last = page.at(-1);
    if (last === undefined) return verifier.report();
    after = { epoch: last.epoch, seq: last.seq };
  }
}

export async function allCalls(reader: StoreReader): Promise<readonly StoredCall[]> {
  const calls: StoredCall[] = [];
  for (;;) {
    const last = calls.at(-1);
    const page = await reader.listCalls({ limit: pageSize, ...(last === undefined ? {} : { before: last.id }) });
    if (page.length === 0) return calls;
    calls.push(...page);
  }
}

/** The states that the records of a call tell of, in order. */
export function statesIn(records: readonly JournalEntry[]): readonly CallState[] {
  return records
    .filter(({ kind }) => stateKinds.has(kind))
    .map(({ body }) => (JSON.parse(body) as { state: CallState }).state);
}

export function bodyOf(records: readonly JournalEntry[], kind: string): Record<string, unknown> {
  const record = records.find((entry) => entry.kind === kind);
  assert.ok(record !== undefined, `a record of kind ${kind} in ${records.map((entry) => entry.kind).join(', ')}`);
  const body: unknown = JSON.parse(record.body);
  assert.ok(isObject(body));
  return body;
}

/** The chain holds, and for every call its records tell, one by one, how it came to the state it is in. */
export async function checkFile(file: string): Promise<VerifyReport> {
  return withReader(file, async (reader) => {
    const report = await verifyJournal(reader);
    assert.deepEqual(report.problems, []);
    for (const call of await allCalls(reader)) await checkPath(call, reader);
    return report;
  });
}

export async function checkPath(call: StoredCall, reader: StoreReader): Promise<void> {
  const path = statesIn(await reader.recordsOf(call.id));
  let from: keyof typeof legalTransitions = '(none)';
  for (const state of path) {
    const next: readonly CallState[] = legalTransitions[from];
    assert.ok(next.includes(state), `${call.id}: ${path.join(' → ')}`);
    from = state;
  }
  assert.equal(from, call.state, `${call.id}: its records end where it is`);
}
