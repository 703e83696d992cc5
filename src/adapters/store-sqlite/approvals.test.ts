/**
 * Approvals in SQLite: files of other versions, other processes, and erasing. The rest is in the contract of stores.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import {
  anApproval,
  approving,
  becoming,
  mustOpenApproval,
  openingOf,
} from '../../../test/conformance/approval-fixtures.ts';
import { inFolder, mustOpen } from '../../../test/conformance/sqlite-home.ts';
import {
  aCall,
  aSession,
  aTransition,
  commitOne,
  inserting,
  mustCommit,
  opening,
  startMs,
  stored,
  updating,
  verdictOf,
  verifyAll,
} from '../../../test/conformance/store-fixtures.ts';
import { openSqliteReader } from './read/open-reader.ts';
import { openSqliteStore } from './open-store.ts';
import { applicationId, migrations, schemaVersion } from './file/schema.ts';

/** A file as the version before approvals left it, with a call and a workflow session. */
function fileOfVersionTwo(file: string): void {
  const database = new DatabaseSync(file);
  for (const migration of migrations.slice(0, 2)) database.exec(migration);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 2`);
  database.exec(`
    INSERT INTO calls (id, tenant, agent, tool, fingerprint, effect_class, state, attempt, tainted, created_at,
      deadline_at, due_at, seq, updated_at, token)
    VALUES ('call_0', 'acme', 'clerk', 'refund', 'f1', 'plain', 'AWAITING_APPROVAL', 0, 0, 1, ${startMs}, ${startMs}, 0, 1, 't0');
    INSERT INTO timers (due_at, kind, subject) VALUES (${startMs}, 'call', 'call_0');
    INSERT INTO sessions (id, tenant, agent, standing, state, seq, entries, opened_at, used_at, workflow, manifest)
    VALUES ('ses_0', 'acme', 'clerk', 0, 'open', 3, 0, 1, 1, 'coffee', 'm1')`);
  database.close();
}

test('a file of the version before takes approvals, keeps what it had, and is this version from then on', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    fileOfVersionTwo(file);
    const early = await openSqliteReader(file);
    assert.match(early.kind === 'refused' ? early.message : '', /older version \(schema 2, .*start the gateway once/);
    const store = await mustOpen({ file });
    const call = await stored(store, aCall({ id: 'call_0' as ReturnType<typeof aCall>['id'] }).id);
    const approval = await mustOpenApproval(store, { callId: call.id });
    const granted = becoming(approval, { state: 'granted' });
    await mustCommit(store, approving([granted]));
    const used = [becoming(granted.approval, { state: 'used' })];
    await mustCommit(store, updating(call, { state: 'PREPARED', dueAtMs: startMs + 9 }, { approvals: used }));
    const session = await store.session('ses_0' as NonNullable<typeof call.session>);
    assert.deepEqual([session?.seq, session?.workflow?.name], [3, 'coffee']);
    assert.deepEqual((await verifyAll(store)).problems, []);
    await store.close();
    const database = new DatabaseSync(file);
    assert.equal(database.prepare('PRAGMA user_version').get()?.['user_version'], schemaVersion);
    database.close();
    const again = await openSqliteReader(file);
    assert.ok(again.kind === 'opened');
    assert.equal((await again.reader.approvalOfCall(call.id))?.state, 'used');
    again.close();
  });
});

test('arguments of an approver that were erased are in no file any more', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const store = await mustOpen({ file });
    const call = aCall({ state: 'AWAITING_APPROVAL' });
    await mustCommit(store, inserting(call));
    const approval = await mustOpenApproval(store, { callId: call.id });
    const secrets = ['ada.lovelace@example.org', 'grace.hopper@example.org'];
    // One that stays in its page, and one that needs pages of its own.
    for (const [index, secret] of secrets.entries()) {
      const argsText = `{"to":"${secret}","pad":"${'x'.repeat(index * 9_000)}"}`;
      const before = (await store.approval(approval.id)) ?? approval;
      const edit = { by: 'ada', argsText, subject: 'changed' };
      await mustCommit(store, approving([becoming(before, { state: 'pending', edit })]));
      const files = ['', '-wal'].map((end) => file + end).filter((name) => existsSync(name));
      const found = () => files.some((name) => readFileSync(name).includes(secret));
      assert.equal(found(), true);
      assert.equal((await store.erase(call.id, 'asked', startMs)).kind, 'committed');
      assert.equal(found(), false, secret);
    }
    await store.close();
  });
});

test('a process beside the owner opens, uses and completes as the owner does, and both see it', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const owner = await mustOpen({ file });
    const opened = await openSqliteStore({ file });
    assert.ok(opened.kind === 'opened' && opened.role === 'forwarder');
    const beside = opened.store;
    const session = aSession();
    await mustCommit(beside, opening(session));
    const edit = { by: 'ada', argsText: '{}', subject: 'changed' };
    const approval = await mustOpenApproval(beside, { session: session.id });
    const granted = becoming(approval, { state: 'granted', edit, votes: [{ by: 'ada', atMs: 1, saw: 'x' }] });
    await mustCommit(owner, approving([granted]));
    assert.deepEqual(await beside.approvalOf('acme', 'clerk', 'changed'), granted.approval);
    const late = await commitOne(beside, approving([becoming(approval, { state: 'denied' })]));
    assert.deepEqual(late, { kind: 'conflict', on: 'approval', found: granted.approval });
    assert.equal(verdictOf(await commitOne(beside, openingOf(anApproval(), 0))), 'approval');
    const task = { kind: 'open', call: aCall().id, dueAtMs: 5 } as const;
    await mustCommit(beside, aTransition({ task, session: { kind: 'complete', id: session.id, expectEntries: 1 } }));
    assert.equal((await owner.task(task.call))?.state, 'open');
    assert.equal((await owner.session(session.id))?.state, 'closed');
    await beside.close();
    await owner.close();
  });
});
