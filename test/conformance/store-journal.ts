/** The journal: one chain for each opening, no gaps, a chain that verifies, and erasing that leaves it whole. */
import assert from 'node:assert/strict';

import type { CallId } from '../../src/core/call/call.ts';
import type { Position } from '../../src/core/journal/record.ts';
import type { StoredRecord } from '../../src/core/journal/verify.ts';
import type { JournalEntry } from '../../src/ports/store.ts';
import {
  aCall,
  aRecord,
  aSession,
  aTransition,
  commitOne,
  inserting,
  mustCommit,
  opening,
  replyOf,
  startMs,
  updating,
  verdictOf,
  verifyAll,
} from './store-fixtures.ts';
import { type Create, withStore } from './with-store.ts';

const placeOf = ({ epoch, seq }: Position) => `${epoch}/${seq}`;
const ownKinds = ['epoch_open', 'epoch_close', 'anchor'];
const written = (entries: readonly JournalEntry[]) => entries.filter(({ kind }) => !ownKinds.includes(kind));

export function provesJournal(create: Create): void {
  const prove = withStore(create);

  prove('records stand in the order of their transitions, with what was given', async (store) => {
    const session = aSession();
    const call = aCall({ session: session.id, state: 'DISPATCHED' });
    const payloads = [{ part: 'args', text: '{"a":1}' }];
    await mustCommit(store, opening(session));
    const { position } = await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED'], { payloads }));
    const [, prepared, dispatched] = written(await store.entries(null, 100));
    assert.equal(prepared?.kind, 'prepared');
    assert.equal(prepared?.call, call.id);
    assert.equal(prepared?.sessionSeq, 2);
    assert.equal(dispatched?.body, '{"state":"DISPATCHED"}');
    assert.deepEqual(dispatched?.payloads, payloads);
    assert.equal(placeOf(dispatched as JournalEntry), placeOf(position as Position));
    assert.deepEqual(await store.recordsOf(call.id), [prepared, dispatched]);
    assert.match(dispatched?.hash ?? '', /^[0-9a-f]{64}$/);
  });

  prove('a transition without records has no position, and conflicts leave no gap', async (store) => {
    assert.equal((await mustCommit(store, aTransition({ blobs: [{ hash: 'h', text: 't' }] }))).position, null);
    const call = aCall();
    const first = await mustCommit(store, inserting(call));
    const many = Array.from({ length: 20 }, (_, index) => inserting(index % 2 === 0 ? call : aCall()));
    await store.commit(many);
    const last = await mustCommit(store, inserting(aCall()));
    assert.equal((last.position?.seq ?? 0) - (first.position?.seq ?? 0), 11);
    assert.deepEqual((await verifyAll(store)).problems, []);
  });

  prove('the store alone writes the records that are its own', async (store) => {
    for (const kind of ['epoch_open', 'epoch_close', 'anchor', 'erased'] as const)
      assert.equal(verdictOf(await commitOne(store, aTransition({ records: [aRecord({ kind })] }))), 'illegal');
  });

  prove('after a close and after a crash the journal goes on from its head, in a new epoch', async (store, home) => {
    await mustCommit(store, inserting(aCall()));
    await store.close();
    const second = await home.open();
    await mustCommit(second, inserting(aCall()));
    await home.crash();
    const third = await home.open();
    await mustCommit(third, inserting(aCall()));
    assert.notEqual(third.incarnation, second.incarnation);
    const opens = (await third.entries(null, 1_000)).filter(({ kind }) => kind === 'epoch_open');
    const said = opens.map(({ body }) => JSON.parse(body) as { reason: string; previous: Position | null });
    assert.deepEqual(
      said.map(({ reason }) => reason),
      ['start', 'after_close', 'after_crash'],
    );
    assert.deepEqual(
      opens.map(({ epoch, seq }) => [epoch, seq]),
      [1, 2, 3].map((epoch) => [epoch, 1]),
    );
    assert.equal(said[0]?.previous, null);
    assert.equal(said[2]?.previous?.epoch, 2);
    const report = await verifyAll(third);
    assert.deepEqual(report.problems, []);
    assert.equal(report.epochs, 3);
  });

  prove('time never goes back behind what the journal has seen', async (store, home) => {
    const far = startMs + 400 * 24 * 3_600_000;
    await mustCommit(store, inserting(aCall(), undefined, { atMs: far }));
    await home.crash();
    assert.ok((await home.open()).highestTimeMs >= far);
  });

  prove('the journal is read in pieces, from any position', async (store) => {
    await store.commit(Array.from({ length: 25 }, () => inserting(aCall())));
    const all = await store.journal(null, 1_000);
    const pieces: StoredRecord[] = [];
    for (;;) {
      const piece = await store.journal(pieces.at(-1) ?? null, 4);
      if (piece.length === 0) break;
      pieces.push(...piece);
    }
    assert.deepEqual(pieces.map(placeOf), all.map(placeOf));
    const newest = await store.entries(null, 3);
    assert.deepEqual(newest.map(placeOf), all.slice(-3).map(placeOf));
    const following = await store.entries(all.at(-4) as StoredRecord, 2);
    assert.deepEqual(following.map(placeOf), all.slice(-3, -1).map(placeOf));
  });

  prove('an altered, deleted or moved record is found', async (store) => {
    await store.commit(Array.from({ length: 5 }, () => inserting(aCall(), undefined, { payloads: replyOf() })));
    const { createVerifier } = await import('../../src/core/journal/verify.ts');
    const { nodeHashing } = await import('../../src/adapters/store-sqlite/node-hashing.ts');
    const problemsOf = (records: readonly StoredRecord[]) => {
      const verifier = createVerifier(nodeHashing);
      for (const record of records) verifier.add(record);
      return verifier.report().problems.length;
    };
    const records = await store.journal(null, 100);
    const victim = records[2] as StoredRecord;
    const bent = (bytes: Uint8Array) => bytes.map((byte, index) => (index === bytes.length - 1 ? byte ^ 1 : byte));
    assert.equal(problemsOf(records), 0);
    assert.ok(problemsOf(records.with(2, { ...victim, header: bent(victim.header) })) > 0);
    assert.ok(problemsOf(records.with(2, { ...victim, hash: bent(victim.hash) })) > 0);
    assert.ok(problemsOf(records.with(2, { ...victim, payloads: [null] })) > 0);
    assert.ok(problemsOf(records.toSpliced(2, 1)) > 0);
  });

  prove('erasing takes the payloads of one call, says so, and the chain still verifies', async (store, home) => {
    const session = aSession();
    await mustCommit(store, opening(session));
    const call = aCall({ session: session.id, state: 'DISPATCHED' });
    const other = aCall({ state: 'DENIED', dueAtMs: null });
    const args = [{ part: 'args', text: '{"to":"ada@example.org"}' }];
    // Before the call, whose payloads are then the newest of all.
    await mustCommit(store, inserting(other, undefined, { payloads: replyOf() }));
    await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED'], { payloads: args }));
    await mustCommit(store, updating(call, { state: 'SUCCEEDED', dueAtMs: null }, { payloads: replyOf() }));
    const erased = await store.erase(call.id, 'asked by the person', startMs + 9);
    assert.equal(erased.kind, 'committed');
    assert.deepEqual([await store.args(call.id), await store.reply(call.id)], [{ kind: 'erased' }, { kind: 'erased' }]);
    assert.deepEqual(await store.reply(other.id), { kind: 'text', text: '{"ok":true}' });
    const last = (await store.recordsOf(call.id)).at(-1);
    assert.equal(last?.kind, 'erased');
    const body = JSON.parse(last?.body ?? '{}') as { payloads: { part: string }[]; reason: string };
    assert.deepEqual(
      body.payloads.map(({ part }) => part),
      ['args', 'reply'],
    );
    assert.equal(body.reason, 'asked by the person');
    assert.equal(last?.sessionSeq, (await store.session(session.id))?.entries);
    // Asking again is asking once; the next payload does not take the place of an erased one.
    await store.erase(call.id, 'again', startMs + 10);
    await home.crash();
    const again = await home.open();
    await mustCommit(again, inserting(aCall(), undefined, { payloads: replyOf('{"other":1}') }));
    assert.deepEqual(await again.reply(call.id), { kind: 'erased' });
    const report = await verifyAll(again);
    assert.deepEqual(report.problems, []);
    assert.equal(report.erased, 2);
  });

  prove('an unknown call cannot be erased', async (store) => {
    const nothing = { kind: 'conflict', on: 'call', found: null };
    assert.deepEqual(await store.erase('call_none' as CallId, 'why', startMs), nothing);
  });

  prove('a closed store answers closed', async (store) => {
    await store.close();
    const result = await commitOne(store, inserting(aCall()));
    assert.equal(result.kind === 'unavailable' && result.fault, 'closed');
  });
}
