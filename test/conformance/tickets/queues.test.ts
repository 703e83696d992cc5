/** Tickets in time: overdue once, ended by themselves; who takes, comments and answers; and the inbox. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { errorOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { openTicketHome } from './ticket-home.ts';

const hour = 3_600_000;

test('[C5-queue-1] a ticket is overdue once and ends once, with two processes and over a restart', async (t) => {
  const tickets = { due_seconds: 3_600, expires_seconds: 7_200 };
  const home = await openTicketHome(t, { tickets });
  const { reply, ticket } = await home.failed();
  const kindsOf = async () => (await home.gateway.records(reply.call_id)).map(({ kind }) => kind);
  const count = async (wanted: string) => (await kindsOf()).filter((kind) => kind === wanted).length;
  const beside = await openTicketHome(t, { file: home.gateway.file, tickets });
  home.clock.pass(hour + 1_000);
  beside.clock.pass(hour + 1_000);
  await eventually('it is overdue', async () => (await home.gateway.tickets.show(ticket))?.overdue === true);
  await home.gateway.close({ drain_seconds: 0 });
  await beside.gateway.close({ drain_seconds: 0 });
  const again = await openTicketHome(t, { file: home.gateway.file, tickets });
  again.clock.pass(2 * hour + 1_000);
  await eventually('it ends', async () => (await again.gateway.tickets.show(ticket))?.state === 'closed');
  const ended = await again.gateway.tickets.show(ticket);
  assert.deepEqual([ended?.answer, ended?.closed_by, ended?.answers], ['expired', 'recourse', []]);
  assert.deepEqual([await count('ticket_overdue'), await count('ticket_expired')], [1, 1]);
  const late = await again.gateway.tickets.resolve(ticket, { by: 'ann', answer: 'retry' });
  assert.equal(!late.ok && late.problem, 'not_open');
  // What was fenced runs again, and nothing ran by itself.
  assert.equal(again.ledger.done.length, 0);
  assert.ok(!('error' in (await again.pay())));
});

test('[C5-queue-4] a ticket about a doubt stays, in whatever queue it is', async (t) => {
  const home = await openTicketHome(t, { tickets: { due_seconds: 60, expires_seconds: 7_200 } });
  // A failure that nobody recognises, of a write: whether it happened is not known either.
  const { reply } = await home.failed('unknown', { session: await home.gateway.openSession() });
  assert.equal(reply.effect, 'unknown');
  const ticket = `tkt_${reply.call_id.slice('call_'.length)}_unrecognised_failure`;
  const forbidden = await home.failed();
  home.clock.pass(3 * hour);
  const stateOf = async (id: string) => (await home.gateway.tickets.show(id))?.state;
  await eventually('the other ends', async () => (await stateOf(forbidden.ticket)) === 'closed');
  assert.equal(await stateOf(ticket), 'open');
});

test('[C5-queue-2] a queue is answered by those whom it names, and never by who asked', async (t) => {
  const policy = aPolicy([anAgent('local', [['permit', 'pay']])]);
  const home = await openTicketHome(t, { policy, tickets: { queues: { policy_review: { who: ['ann'] } } } });
  const { ticket } = await home.failed();
  for (const [by, problem] of [
    ['local', 'own_request'],
    ['bob', 'not_an_answerer'],
  ] as const)
    for (const act of ['take', 'resolve', 'comment'] as const) {
      const says = { by, answer: 'retry', text: 'hello' } as never;
      const refused = await home.gateway.tickets[act](ticket, says);
      assert.equal(!refused.ok && refused.problem, problem, `${by} ${act}`);
    }
  assert.ok((await home.gateway.tickets.take(ticket, { by: 'ann' })).ok);
});

test('[C5-queue-3] it is taken, given back and commented on record, by one person at a time', async (t) => {
  const home = await openTicketHome(t);
  const { reply, ticket } = await home.failed();
  const { tickets } = home.gateway;
  const both = await Promise.all([tickets.take(ticket, { by: 'ann' }), tickets.take(ticket, { by: 'bob' })]);
  assert.ok(
    both.every(({ ok }) => ok),
    'the later one takes it over, and both are on record',
  );
  const { assignee } = (await tickets.show(ticket)) ?? {};
  const other = assignee === 'ann' ? 'bob' : 'ann';
  const refused = await tickets.take(ticket, { by: other, give_back: true });
  assert.equal(!refused.ok && refused.problem, 'taken');
  assert.ok((await tickets.comment(ticket, { by: 'ann', text: 'asked the bank' })).ok);
  assert.ok((await tickets.take(ticket, { by: assignee ?? '', give_back: true })).ok);
  const story = await tickets.show(ticket);
  assert.deepEqual(
    [story?.assignee, story?.comments.map(({ by, text }) => [by, text])],
    [null, [['ann', 'asked the bank']]],
  );
  const kinds = (await home.gateway.records(reply.call_id)).map(({ kind }) => kind);
  assert.deepEqual(
    ['ticket_taken', 'ticket_commented'].map((kind) => kinds.filter((each) => each === kind).length),
    [3, 1],
  );
});

test('[C5-inbox-1] approvals and tickets are one list, what is due first at the top', async (t) => {
  const policy = aPolicy([
    anAgent('local', [
      ['defer', 'pay', { when: 'args.amount > 9' }],
      ['permit', 'pay'],
    ]),
  ]);
  const home = await openTicketHome(t, { policy, tickets: { due_seconds: 60 } });
  errorOf(await home.pay({ amount: 10 }), 'denied');
  const { ticket } = await home.failed();
  const { items, total } = await home.gateway.inbox();
  assert.deepEqual([items.map(({ kind }) => kind), total], [['ticket', 'approval'], 2]);
  assert.deepEqual([items[0]?.id, items[0]?.queue, items[0]?.assignee], [ticket, 'policy_review', null]);
  for (const { waits_for: what, tool, approval, ticket: about } of items) {
    assert.match(what, /pay/);
    assert.equal(tool, 'pay');
    assert.equal([approval, about].filter((each) => each !== null).length, 1);
  }
  assert.deepEqual(await home.gateway.inbox({}, { tenant: 'other' }), { items: [], total: 0 });
  assert.equal((await home.gateway.inbox({ limit: 1 })).items.length, 1);
});
