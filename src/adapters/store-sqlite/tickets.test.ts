/** Tickets in SQLite: files of other versions, other processes, and kill -9. The rest is in the contract of stores. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { inFolder, mustOpen } from '../../../test/conformance/sqlite-home.ts';
import { commitOne, mustCommit, startMs, verifyAll } from '../../../test/conformance/store-fixtures.ts';
import {
  aTicket,
  closed,
  closingTicket,
  mustOpenTicket,
  openingTicket,
  ticketing,
} from '../../../test/conformance/recovery/ticket-fixtures.ts';
import type { CallId } from '../../core/call/call.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import { openSqliteReader } from './read/open-reader.ts';
import { openSqliteStore } from './open-store.ts';
import { applicationId, migrations } from './file/schema.ts';

test('a file of the version before takes tickets and keeps its calls in doubt', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const database = new DatabaseSync(file);
    for (const migration of migrations.slice(0, 5)) database.exec(migration);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 5;
      INSERT INTO calls (id, tenant, agent, tool, fingerprint, effect_class, state, attempt, tainted, created_at,
        deadline_at, seq, updated_at, token)
      VALUES ('call_0', 'acme', 'clerk', 'refund', 'f1', 'plain', 'IN_DOUBT', 1, 0, 1, 2, 0, 1, 't0')`);
    database.close();
    const early = await openSqliteReader(file);
    assert.match(early.kind === 'refused' ? early.message : '', /older version \(schema 5, .*start the gateway once/);
    const store = await mustOpen({ file });
    const call = 'call_0' as CallId;
    const ticket = await mustOpenTicket(store, { call });
    assert.deepEqual(await store.ticketsOf(call), [ticket]);
    const due = { expectAtMs: null, atMs: startMs };
    const mark = { kind: 'mark', id: call, requester: null, repeats: 0, due } as const;
    await mustCommit(store, { ...ticketing(closingTicket(ticket)), call: mark });
    assert.deepEqual(
      (await store.due(startMs, 9)).map(({ id }) => id),
      [call],
    );
    assert.deepEqual((await verifyAll(store)).problems, []);
    await store.close();
  });
});

test('a process beside the owner opens and closes as the owner does, and both see the truth', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    const owner = await mustOpen({ file });
    const opened = await openSqliteStore({ file });
    assert.ok(opened.kind === 'opened' && opened.role === 'forwarder');
    const beside = opened.store;
    const ticket = await mustOpenTicket(beside);
    assert.deepEqual(await owner.ticket(ticket.id), ticket);
    const both = await Promise.all([
      commitOne(owner, ticketing(closingTicket(ticket, 'ada'))),
      commitOne(beside, ticketing(closingTicket(ticket, 'bob'))),
    ]);
    const winner = both[0].kind === 'committed' ? 'ada' : 'bob';
    const loser = winner === 'ada' ? both[1] : both[0];
    assert.deepEqual(loser, { kind: 'conflict', on: 'ticket', found: closed(ticket, winner) });
    assert.deepEqual(await beside.ticket(ticket.id), closed(ticket, winner));
    await beside.close();
    await owner.close();
  });
});

const child = path.join(import.meta.dirname, '../../../test/conformance/store-child.ts');

test('after kill -9 every ticket is what was acknowledged last, and none is half closed', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 's.db');
    for (const kill of [1, 2, 7, 20]) {
      const writer = spawn(process.execPath, [child, 'tickets', file, `round${kill}`], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const exit = once(writer, 'exit');
      const said = new Map<string, string>();
      let lines = 0;
      for await (const line of createInterface({ input: writer.stdout })) {
        const [state = '', id = ''] = line.split(' ');
        if (state === 'owner') continue;
        said.set(id, state);
        if (++lines === kill) writer.kill('SIGKILL');
      }
      await exit;
      const store = await mustOpen({ file });
      for (const [id, state] of said) {
        const found = await store.ticket(id as Ticket['id']);
        assert.ok(found !== null, `${id} was acknowledged`);
        if (state === 'closed') assert.equal(found.state, 'closed', id);
        assert.deepEqual(found.closedBy, found.state === 'closed' ? 'ada' : null, id);
        if (found.state === 'open') await mustCommit(store, ticketing(closingTicket(found, 'bob')));
      }
      assert.deepEqual((await verifyAll(store)).problems, []);
      await store.close();
    }
  });
});

test('what a forwarder says of a ticket is checked like the rest', async () => {
  const { areRequests } = await import('./share/request-shape.ts');
  const { ticket, ...open } = openingTicket(aTicket()) as Extract<ReturnType<typeof openingTicket>, { kind: 'open' }>;
  assert.ok(areRequests([ticketing({ ...open, ticket }, closingTicket(ticket))]));
  const bad: readonly unknown[] = [
    ...Object.keys(ticket).map((name) => ({ kind: 'open', ticket: { ...ticket, [name]: undefined } })),
    { kind: 'open', ticket: { ...ticket, reason: 'constructor' } },
    { kind: 'close', id: ticket.id, by: 'ada' },
    { kind: 'moot', call: ticket.call, reason: 'toString', by: 'ada', atMs: 1 },
    { kind: 'drop', id: ticket.id },
  ];
  for (const write of bad)
    assert.equal(areRequests([{ ...ticketing(), tickets: [write] }]), false, JSON.stringify(write));
});
