/** What the owner remembers of a session is always what the file holds. Real files, a real thread, real faults. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import fc from 'fast-check';

import {
  aCall,
  aRecord,
  aSession,
  aTransition,
  commitOne,
  inserting,
  mustCommit,
  opening,
  stepping,
} from '../../../../test/conformance/store-fixtures.ts';
import { inFolder, mustOpen } from '../../../../test/conformance/sqlite-home.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import type { SessionId } from '../../../core/call/call.ts';
import type { Session, Transition } from '../../../ports/store.ts';
import { createKnownSessions } from './known-sessions.ts';
import { sessionOf, type SessionRow } from './rows.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { spawnWorker } from '../write/writer-thread.ts';

const note = (id: SessionId) => aRecord({ kind: 'clock_held', session: id });
const noted = (id: SessionId, advance = false): Transition =>
  aTransition({ session: stepping(id, { advance }), records: [note(id)] });

function inFile(file: string, id: string): Session | null {
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database.prepare('SELECT * FROM sessions WHERE id = ?').get(id) as SessionRow | undefined;
  database.close();
  return row === undefined ? null : sessionOf(row);
}

async function checkAll(store: SqliteStore, file: string, sessions: readonly Session[]): Promise<void> {
  for (const { id } of sessions) assert.deepEqual(await store.session(id), inFile(file, id));
}

test('whatever is committed, and however, a session is read as the file has it', async () => {
  type Act = 'note' | 'advance' | 'stale' | 'cancel' | 'call' | 'twice' | 'unwritable' | 'turn';
  const act = fc.constantFrom<Act>('note', 'advance', 'stale', 'cancel', 'call', 'twice', 'unwritable', 'turn');
  const acts = fc.array(fc.tuple(act, fc.integer({ min: 0, max: 2 })), { minLength: 1, maxLength: 12 });
  const seen = new Set<string>();
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    const transitionOf = (what: Act, id: SessionId): readonly Transition[] => {
      switch (what) {
        case 'stale':
          return [aTransition({ session: stepping(id, { expectSeq: 99 }), records: [note(id)] })];
        case 'cancel':
          return [aTransition({ session: { kind: 'cancel', id }, records: [note(id)] })];
        case 'call':
          return [inserting(aCall({ session: id }), undefined, { session: stepping(id) })];
        case 'twice': {
          const one = noted(id, true);
          return [one, one];
        }
        case 'unwritable':
          // Found out when the session has been changed already: the batch runs again, one by one.
          return [aTransition({ session: stepping(id), records: [note(id), { ...note(id), kind: null as never }] })];
        case 'turn':
          return [aTransition({ session: { kind: 'cancel_turn', id, turn: 't' }, records: [] })];
        default:
          return [noted(id, what === 'advance')];
      }
    };
    const property = fc.asyncProperty(fc.array(acts, { minLength: 1, maxLength: 3 }), async (rounds) => {
      const sessions = [aSession(), aSession(), aSession()];
      for (const session of sessions) await mustCommit(store, opening(session));
      for (const round of rounds) {
        const batch = round.flatMap(([what, at]) => transitionOf(what, (sessions[at] as Session).id));
        for (const { kind } of await store.commit(batch)) seen.add(kind);
        await checkAll(store, file, sessions);
      }
    });
    await fc.assert(property, { seed: 3, numRuns: 60 });
    await store.close();
  });
  assert.deepEqual([...seen].sort(), ['committed', 'conflict']);
});

test('a session is read from memory after its first commit, and from the file when many changed at once', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    const session = aSession();
    await mustCommit(store, opening(session));
    const first = await store.session(session.id);
    assert.equal(await store.session(session.id), first, 'the very same object');
    const many = Array.from({ length: 200 }, () => aSession());
    await store.commit([noted(session.id), ...many.map((each) => opening(each))]);
    await checkAll(store, file, [session, ...many]);
    await mustCommit(store, noted(session.id));
    await store.close();
    await assert.rejects(store.session(session.id), 'after closing nothing is remembered');
  });
});

test('when the writer dies with a commit that nobody was told of, the session is read as the file has it', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    let worker: Worker | null = null;
    const store = await mustOpen({ file, spawn: (options) => (worker = spawnWorker(options)) });
    const session = aSession();
    await mustCommit(store, opening(session));
    assert.equal((await store.session(session.id))?.seq, 0);
    const deaf = worker as unknown as Worker;
    deaf.removeAllListeners('message');
    const unheard = commitOne(store, noted(session.id, true));
    await eventually('the commit', async () => inFile(file, session.id)?.seq === 1);
    await deaf.terminate();
    assert.equal((await unheard).kind, 'unavailable');
    assert.equal((await store.session(session.id))?.seq, 1);
    await store.close();
  });
});

test('what is remembered is bounded', () => {
  const known = createKnownSessions();
  const sessions = Array.from({ length: 5_000 }, () => aSession());
  for (const session of sessions) known.committed([session]);
  assert.ok(sessions.filter(({ id }) => known.find(id) !== null).length <= 1_024);
  assert.equal(known.find(sessions.at(-1)?.id ?? ''), sessions.at(-1));
});
