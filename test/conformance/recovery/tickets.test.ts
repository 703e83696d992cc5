/** Tickets in the library, beside other processes and a store that is gone: who closed it is never in doubt for long. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';

import { openGateway } from '../../../src/main.ts';
import type { Store } from '../../../src/ports/store.ts';
import { createTickets } from '../../../src/shell/ticket/ticket-service.ts';
import { folderOf } from '../../support/open-gateway.ts';
import { aTool } from '../../support/tools.ts';
import { mustOpenTicket } from './ticket-fixtures.ts';

const quick = { storeRetryMs: [] } as const;

async function open(t: TestContext, file: string) {
  const opened = await openGateway({ file, tools: [aTool('refund', () => ({ done: true }))], limits: quick });
  t.after(() => opened.gateway.close({ drain_seconds: 0 }));
  return { ...opened, store: opened.shell.ports.store };
}

const fileOf = (t: TestContext) => path.join(folderOf(t), 'recourse.db');

test('[C5-ticket-1] code in the same process lists, shows and closes, for a tenant', async (t) => {
  const { gateway, store } = await open(t, fileOf(t));
  const ticket = await mustOpenTicket(store, { tenant: 'default' });
  const foreign = await mustOpenTicket(store, { tenant: 'other' });
  assert.deepEqual(
    (await gateway.tickets.list({ state: 'open' })).map(({ ticket_id: id }) => id),
    [ticket.id],
  );
  assert.equal((await gateway.tickets.list({}, { tenant: 'other' })).length, 1);
  const story = await gateway.tickets.show(ticket.id);
  assert.deepEqual(
    [story?.call, story?.closing],
    [null, 'somebody took care of it; nothing runs, and the call stays as it is'],
  );
  assert.equal(await gateway.tickets.show(foreign.id), null);
  assert.equal(await gateway.tickets.show(7 as never), null);
  const closed = await gateway.tickets.close(ticket.id, { by: 'ann', note: 'done' });
  assert.deepEqual(closed.ok && [closed.ticket.state, closed.ticket.closed_by, closed.ticket.note], [
    'closed',
    'ann',
    'done',
  ]);
  assert.equal((await gateway.tickets.show(ticket.id))?.note, 'done');
  for (const [id, problem] of [
    [ticket.id, 'not_open'],
    [foreign.id, 'not_found'],
    ['tkt_\u0007', 'not_found'],
  ] as const) {
    const refused = await gateway.tickets.close(id, { by: 'ann' });
    assert.equal(!refused.ok && refused.problem, problem);
  }
  await assert.rejects(gateway.tickets.close(ticket.id, { by: 'two words' }), /must name the person/);
});

test('[C5-ticket-2] two processes that close it at once agree on who did', async (t) => {
  const file = fileOf(t);
  const [owner, beside] = [await open(t, file), await open(t, file)];
  assert.deepEqual([owner.gateway.role, beside.gateway.role], ['owner', 'forwarder']);
  for (let round = 0; round < 10; round++) {
    const { id } = await mustOpenTicket(owner.store, { tenant: 'default' });
    const both = await Promise.all([
      owner.gateway.tickets.close(id, { by: 'ann' }),
      beside.gateway.tickets.close(id, { by: 'ben' }),
    ]);
    const [winner, loser] = both[0].ok ? ['ann', both[1]] : ['ben', both[0]];
    assert.ok(!loser.ok && loser.problem === 'not_open', JSON.stringify(both));
    assert.match(loser.message, new RegExp(`^it was closed by ${winner} at`));
    const { records } = await closingsOf(id, owner.store);
    assert.deepEqual(records, [winner]);
    assert.equal((await beside.gateway.tickets.show(id))?.closed_by, winner);
  }
});

async function closingsOf(id: string, store: Awaited<ReturnType<typeof open>>['store']) {
  const entries = await store.entries(null, 1_000);
  const bodies = entries.filter(({ kind }) => kind === 'ticket_resolved').map(({ body }) => JSON.parse(body) as Fields);
  return { records: bodies.filter(({ ticket }) => ticket === id).map(({ by }) => by) };
}

type Fields = Readonly<Record<string, unknown>>;

test('[C5-ticket-2] a commit without an answer is told as such, and the next look tells the truth', async (t) => {
  const file = fileOf(t);
  const child = path.join(import.meta.dirname, '..', 'store-child.ts');
  const owner = spawn(process.execPath, [child, 'hold', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => owner.kill('SIGKILL'));
  await once(createInterface({ input: owner.stdout }), 'line');
  const { gateway, shell, store } = await open(t, file);
  assert.equal(gateway.role, 'forwarder');
  const { id } = await mustOpenTicket(store, { tenant: 'default' });
  // It stands still, so it gets the commit and never answers.
  owner.kill('SIGSTOP');
  const commit: Store['commit'] = (transitions) => {
    const sent = store.commit(transitions);
    setImmediate(() => owner.kill('SIGKILL'));
    return sent;
  };
  const service = createTickets({ ...shell, ports: { ...shell.ports, store: { ...store, commit } } });
  const closed = await service.close(id, { tenant: 'default', name: 'ann', maySettle: true }, {});
  assert.equal(!closed.ok && closed.problem, 'outcome_unknown', JSON.stringify(closed));
  assert.ok(!closed.ok && closed.message.includes('look at it again'));
  const next = await open(t, file);
  assert.equal(next.gateway.role, 'owner');
  const found = await next.gateway.tickets.show(id);
  assert.ok(found !== null);
  const again = await next.gateway.tickets.close(id, { by: 'ben' });
  assert.equal(again.ok, found.state === 'open');
});
