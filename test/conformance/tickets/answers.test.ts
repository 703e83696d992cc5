/** Answers that let a failed call go on: once, for whoever waits, and never for a call that stands otherwise by then. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { errorOf, successOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { openTicketHome, type TicketHome } from './ticket-home.ts';

const by = 'ann';

const outcomeOf = async ({ gateway }: TicketHome, ticket: string) => {
  const found = await gateway.tickets.wait(ticket, { seconds: 60 });
  assert.ok(found !== null);
  return found;
};

describe('an answer that lets the call go on', () => {
  test('[C5-answer-1] a ticket says what can be answered, and what that would do', async (t) => {
    const home = await openTicketHome(t);
    const { ticket } = await home.failed();
    const story = await home.gateway.tickets.show(ticket);
    assert.deepEqual(
      story?.answers.map(({ answer }) => answer),
      ['approve', 'retry', 'replace', 'give_up'],
    );
    for (const { does } of story?.answers ?? []) assert.match(does, /^[a-z][^.]{20,}$/);
    assert.deepEqual(
      [story?.call?.verdict, story?.call?.attempts, story?.call?.args],
      ['policy_denied', 1, { amount: 5 }],
    );
    const lost = await openTicketHome(t, { file: `${home.gateway.folder}/other.db` });
    lost.ledger.next = 'lose';
    const { call_id: id } = errorOf(await lost.pay(), 'action_timeout');
    const doubt = await lost.gateway.tickets.show(`tkt_${id.slice(5)}_in_doubt`);
    assert.deepEqual(
      doubt?.answers.map(({ answer }) => answer),
      ['it_happened', 'it_did_not', 'never_known', 'retry', 'give_up'],
    );
  });

  test('[C5-answer-2] [C5-answer-7] [S001-ask-1] retry runs it once; whoever asks again, waits or polls gets the result', async (t) => {
    const home = await openTicketHome(t);
    const { reply, ticket } = await home.failed('403_forbidden', { key: 'k1' });
    const waiting = outcomeOf(home, ticket);
    const resolved = await home.gateway.tickets.resolve(ticket, { by, answer: 'retry', note: 'access granted' });
    assert.ok(resolved.ok, JSON.stringify(resolved));
    assert.deepEqual(
      [resolved.ticket.state, resolved.ticket.answer, resolved.ticket.note],
      ['closed', 'retry', 'access granted'],
    );
    const outcome = await waiting;
    assert.ok(outcome.reply !== null);
    const first = successOf(outcome.reply);
    assert.deepEqual([first.result, home.ledger.done.length], [{ paid: 1 }, 1]);
    assert.notEqual(first.call_id, reply.call_id);
    assert.match(outcome.next, /was done/);
    const byKey = successOf(await home.pay({ amount: 5 }, { key: 'k1' }));
    const byPoll = await home.gateway.reply(reply.call_id);
    assert.ok(byPoll !== null);
    assert.deepEqual([byKey.call_id, successOf(byPoll).call_id], [first.call_id, first.call_id]);
    const again = successOf(await home.pay());
    assert.deepEqual([again.replayed, again.result], [true, { paid: 1 }]);
    assert.equal(home.ledger.done.length, 1);
    // The same once more is a call of its own.
    successOf(await home.pay());
    assert.equal(home.ledger.done.length, 2);
    assert.equal((await home.gateway.stored(reply.call_id)).state, 'FAILED');
    const kinds = (await home.gateway.records(reply.call_id)).map(({ kind }) => kind);
    assert.ok(kinds.indexOf('ticket_resolved') > kinds.indexOf('ticket_opened'));
    const next = await home.gateway.records(first.call_id);
    assert.ok(next.some(({ kind, body }) => kind === 'ticket_continued' && body.includes(reply.call_id)));
  });

  test('[C5-answer-3] [C5-answer-9] [S001-ask-2] replace sends what a person wrote, and the redaction mark never', async (t) => {
    const home = await openTicketHome(t);
    const { ticket } = await home.failed();
    const marked = await home.gateway.tickets.resolve(ticket, { by, answer: 'replace', args: { card: '[redacted]' } });
    assert.equal(!marked.ok && marked.problem, 'bad_answer');
    const resolved = await home.gateway.tickets.resolve(ticket, { by, answer: 'replace', args: { amount: 4 } });
    assert.ok(resolved.ok);
    const outcome = await outcomeOf(home, ticket);
    assert.ok(outcome.reply !== null);
    successOf(outcome.reply);
    assert.deepEqual(home.ledger.done, [{ amount: 4 }]);
    const again = successOf(await home.pay());
    assert.deepEqual([again.replayed, home.ledger.done.length], [true, 1]);
  });

  test('[C5-answer-2] of many who answer at once one does, and it runs once', async (t) => {
    const home = await openTicketHome(t);
    const { ticket } = await home.failed();
    const people = Array.from({ length: 12 }, (_, index) => `person${index}`);
    const results = await Promise.all(
      people.map((name) => home.gateway.tickets.resolve(ticket, { by: name, answer: 'retry' })),
    );
    assert.equal(results.filter(({ ok }) => ok).length, 1);
    for (const each of results) if (!each.ok) assert.equal(each.problem, 'not_open');
    await outcomeOf(home, ticket);
    assert.equal(home.ledger.done.length, 1);
  });

  test('[C5-answer-2] while it goes on, an equal ask of its agent waits for it instead of running beside it', async (t) => {
    const home = await openTicketHome(t);
    const { ticket } = await home.failed();
    const [resolved, ...asked] = await Promise.all([
      home.gateway.tickets.resolve(ticket, { by, answer: 'retry' }),
      ...Array.from({ length: 5 }, () => home.pay()),
    ]);
    assert.ok(resolved.ok);
    await outcomeOf(home, ticket);
    const ran = asked.filter((reply) => !('error' in reply) && !('pending' in reply) && reply.replayed !== true);
    assert.equal(home.ledger.done.length, 1 + ran.length, 'each effect was told to one who asked, or is the ticket’s');
  });

  test('[C5-answer-5] an answer after its agent did the same again acts on nothing', async (t) => {
    const home = await openTicketHome(t);
    const { ticket } = await home.failed('401_unauthenticated');
    successOf(await home.pay());
    const late = await home.gateway.tickets.resolve(ticket, { by, answer: 'retry' });
    assert.equal(!late.ok && late.problem, 'not_possible', JSON.stringify(late));
    assert.match(!late.ok ? late.message : '', /is SUCCEEDED/);
    assert.equal(home.ledger.done.length, 1);
    assert.ok((await home.gateway.tickets.resolve(ticket, { by, answer: 'give_up' })).ok);
  });

  test('[C5-answer-6] a crash after the answer: the next start goes on with it, once', async (t) => {
    const home = await openTicketHome(t);
    const { ticket } = await home.failed();
    await home.gateway.close({ drain_seconds: 0 });
    const { file } = home.gateway;
    // A gateway without the tool records the answer, and cannot run the call.
    const { openGateway } = await import('../../support/open-gateway.ts');
    const other = await openGateway(t, [], { file });
    assert.ok((await other.tickets.resolve(ticket, { by, answer: 'retry' })).ok);
    await other.close({ drain_seconds: 0 });
    const again = await openTicketHome(t, { file });
    await eventually('the call goes on', async () => again.ledger.done.length === 1);
    const outcome = await outcomeOf(again, ticket);
    assert.ok(outcome.reply !== null);
    successOf(outcome.reply);
    assert.equal(successOf(await again.pay()).replayed, true);
    assert.equal(again.ledger.done.length, 1);
  });

  test('[C5-answer-4] a yes counts as the approval that policy asks for, once', async (t) => {
    const policy = aPolicy([anAgent('local', [['defer', 'pay']])]);
    const home = await openTicketHome(t, { policy });
    home.ledger.next = '403_forbidden';
    const held = errorOf(await home.pay(), 'denied');
    assert.ok(held.resolution.type === 'pending_approval');
    assert.ok((await home.gateway.approvals.approve(held.resolution.approval_id, { by: 'bob' })).ok);
    const reply = errorOf(await home.pay(), 'action_error');
    home.ledger.next = 'answer';
    assert.ok(reply.resolution.type === 'escalated');
    const { ticket_id: ticket } = reply.resolution;
    assert.ok((await home.gateway.tickets.resolve(ticket, { by, answer: 'approve' })).ok);
    const outcome = await outcomeOf(home, ticket);
    assert.ok(outcome.reply !== null);
    successOf(outcome.reply);
    assert.equal(home.ledger.done.length, 1);
    assert.equal(successOf(await home.pay()).replayed, true, 'what ran is told without another approval');
    errorOf(await home.pay(), 'denied');
    assert.equal(home.ledger.done.length, 1);
  });

  test('[C5-answer-8] a call that policy forbids by now is refused, and its ticket says so', async (t) => {
    const home = await openTicketHome(t);
    const { ticket } = await home.failed();
    await home.gateway.close({ drain_seconds: 0 });
    const policy = aPolicy([anAgent('local', [['deny', 'pay']])]);
    const again = await openTicketHome(t, { file: home.gateway.file, policy });
    assert.ok((await again.gateway.tickets.resolve(ticket, { by, answer: 'retry' })).ok);
    const outcome = await outcomeOf(again, ticket);
    assert.ok(outcome.reply !== null);
    assert.equal(errorOf(outcome.reply, 'denied').code, 'POLICY_DENY');
    assert.equal(again.ledger.done.length, 0);
  });
});

test('a caller cannot use a key of the gateway’s own', async (t) => {
  const home = await openTicketHome(t);
  const reply = errorOf(await home.pay({}, { key: 'tkt:tkt_1_in_doubt' }), 'validation_failed');
  assert.equal(reply.errors[0]?.path, '/key');
});
