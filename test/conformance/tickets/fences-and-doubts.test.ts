/** What an upstream forbade stays fenced until its ticket is closed; and tickets about doubts, which settle them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { errorOf, successOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { aTool } from '../../support/tools.ts';
import { openTicketHome, payingTool, type TicketHome } from './ticket-home.ts';

const by = 'ann';

async function isFenced({ pay }: TicketHome, args: object, ticket: string): Promise<boolean> {
  const reply = await pay(args);
  if (!('error' in reply)) return false;
  const fenced = errorOf(reply, 'fenced');
  assert.equal(fenced.ticket_id, ticket);
  assert.deepEqual(fenced.resolution, { type: 'escalated', ticket_id: ticket, queue: 'policy_review' });
  assert.ok(!fenced.valid_next_actions.includes('pay'));
  return true;
}

describe('what an upstream forbade', () => {
  test('[C3-forbidden-1] [S003-playbook-7] is fenced however it is phrased, across a restart, and runs again once its ticket is closed', async (t) => {
    const home = await openTicketHome(t);
    const { reply, ticket } = await home.failed();
    assert.ok(!reply.valid_next_actions.includes('pay'));
    for (const args of [{ amount: 5 }, { amount: 6 }, { amount: 5, note: 'please' }])
      assert.ok(await isFenced(home, args, ticket), JSON.stringify(args));
    assert.equal(home.ledger.done.length, 0);
    await home.gateway.close({ drain_seconds: 0 });
    const again = await openTicketHome(t, { file: home.gateway.file });
    assert.ok(await isFenced(again, { amount: 7 }, ticket));
    assert.ok((await again.gateway.tickets.close(ticket, { by })).ok);
    successOf(await again.pay({ amount: 7 }));
    assert.deepEqual(again.ledger.done, [{ amount: 7 }]);
  });

  test('[C3-forbidden-1] by a declared key only what the key says; other sessions and tools go on', async (t) => {
    const home = await openTicketHome(t, { tool: { operation_key: ({ order }: { order: string }) => order } });
    home.ledger.next = '403_forbidden';
    const reply = errorOf(await home.pay({ order: 'o1' }), 'action_error');
    assert.ok(reply.resolution.type === 'escalated');
    home.ledger.next = 'answer';
    const { ticket_id: ticket } = reply.resolution;
    assert.equal(errorOf(await home.pay({ order: 'o1', amount: 1 }), 'fenced').ticket_id, ticket);
    successOf(await home.pay({ order: 'o2' }));
    const other = await home.gateway.openSession();
    successOf(await home.pay({ order: 'o1' }, { session: other }));
  });

  test('[C3-forbidden-1] two processes on one store fence it alike', async (t) => {
    const home = await openTicketHome(t);
    const beside = await openTicketHome(t, { file: home.gateway.file });
    assert.equal(beside.gateway.role, 'forwarder');
    const { ticket } = await beside.failed();
    assert.ok(await isFenced(home, { amount: 1 }, ticket));
    assert.ok((await home.gateway.tickets.resolve(ticket, { by, answer: 'give_up' })).ok);
    successOf(await beside.pay({ amount: 1 }));
  });

  test('[C3-forbidden-1] a tool that a body calls is fenced for the body, too', async (t) => {
    const ledger = { done: [] as unknown[], next: '403_forbidden' as const };
    const outer = aTool('outer', async (args, { tools }) => {
      await tools.call('pay', args).catch(() => null);
      return {};
    });
    const gateway = await openGateway(t, [payingTool(ledger as never), outer]);
    await gateway.call({ tool: 'outer', args: { amount: 1 } });
    const direct = errorOf(await gateway.call({ tool: 'pay', args: { amount: 2 } }), 'fenced');
    assert.match(direct.ticket_id ?? '', /^tkt_.*_policy_denied$/);
    assert.equal(ledger.done.length, 0);
  });
});

describe('a ticket about a doubt', () => {
  const lose = async (home: TicketHome) => {
    home.ledger.next = 'lose';
    const { call_id: id } = errorOf(await home.pay(), 'action_timeout');
    home.ledger.next = 'answer';
    return { id, ticket: `tkt_${id.slice(5)}_in_doubt` };
  };

  const answers = [
    ['it_happened', 'SUCCEEDED'],
    ['it_did_not', 'FAILED'],
    ['never_known', 'CLOSED_UNKNOWN'],
  ] as const;
  for (const [answer, state] of answers)
    test(`[C5-settle-1] ${answer} settles the call as ${state}`, async (t) => {
      const home = await openTicketHome(t);
      const { id, ticket } = await lose(home);
      const more = answer === 'it_did_not' ? { force: true } : {};
      const resolved = await home.gateway.tickets.resolve(ticket, { by, answer, ...more } as never);
      assert.ok(resolved.ok, JSON.stringify(resolved));
      assert.deepEqual([(await home.gateway.stored(id)).state, resolved.ticket.answer], [state, answer]);
      const outcome = await home.gateway.tickets.wait(ticket);
      assert.equal(outcome?.reply?.call_id, id);
      const late = await home.gateway.tickets.resolve(ticket, { by, answer: 'retry', force: true });
      assert.equal(!late.ok && late.problem, 'not_open');
    });

  test('[C5-answer-5] once the call was settled by other means, no answer acts on it', async (t) => {
    const home = await openTicketHome(t, { tool: { effect: 'plain' } });
    const { id, ticket } = await lose(home);
    await home.gateway.settle(id, { happened: 'yes', by: 'bob' });
    for (const answer of ['retry', 'it_did_not', 'never_known'] as const) {
      const late = await home.gateway.tickets.resolve(ticket, { by, answer, force: true } as never);
      assert.equal(!late.ok && late.problem, 'not_open', answer);
    }
    assert.equal((await home.gateway.tickets.show(ticket))?.answer, 'settled');
    assert.equal(home.ledger.done.length, 1);
  });

  test('[C5-settle-1] before the quarantine is over a no, and a retry, need force', async (t) => {
    const home = await openTicketHome(t, { tool: { quarantine_seconds: 60 } });
    const { id, ticket } = await lose(home);
    for (const answer of ['it_did_not', 'retry'] as const) {
      const early = await home.gateway.tickets.resolve(ticket, { by, answer });
      assert.equal(!early.ok && early.problem, 'in_quarantine', answer);
    }
    assert.equal((await home.gateway.stored(id)).state, 'IN_DOUBT');
    home.clock.pass(70_000);
    assert.ok((await home.gateway.tickets.resolve(ticket, { by, answer: 'it_did_not' })).ok);
  });

  test('[C5-settle-2] [S001-ask-4] retry sends the same call once more, on record with who said so', async (t) => {
    const home = await openTicketHome(t);
    const { id, ticket } = await lose(home);
    home.clock.pass(3_600_000);
    const resolved = await home.gateway.tickets.resolve(ticket, { by, answer: 'retry', force: true });
    assert.ok(resolved.ok, JSON.stringify(resolved));
    await eventually('the call ends', async () => (await home.gateway.stored(id)).state === 'SUCCEEDED');
    const kinds = (await home.gateway.records(id)).map(({ kind, body }) => ({ kind, body }));
    assert.ok(kinds.some(({ kind, body }) => kind === 'retry_planned' && body.includes('"by":"ann"')));
    const outcome = await home.gateway.tickets.wait(ticket, { seconds: 60 });
    assert.ok(outcome?.reply);
    assert.deepEqual([successOf(outcome.reply).call_id, home.ledger.done.length], [id, 2]);
    assert.equal(successOf(await home.pay()).replayed, true);
    assert.equal(home.ledger.done.length, 2);
  });

  test('[C5-settle-3] a call that was sent once more and is in doubt again asks for a person again', async (t) => {
    const home = await openTicketHome(t);
    const { id, ticket } = await lose(home);
    home.ledger.next = 'lose';
    assert.ok((await home.gateway.tickets.resolve(ticket, { by, answer: 'retry', force: true })).ok);
    const isAgain = async () => {
      const { state, attempt } = await home.gateway.stored(id);
      return state === 'IN_DOUBT' && attempt === 2;
    };
    await eventually('it is in doubt again', isAgain);
    assert.equal((await home.gateway.tickets.show(ticket))?.state, 'open');
    // What somebody said of the first attempt is no word about the second.
    const stale = { happened: 'no', by: 'bob', force: true, attempt: 1 } as const;
    assert.equal(await home.gateway.settle(id, stale), 'not_in_doubt');
    assert.equal(await home.gateway.settle(id, { ...stale, attempt: 2 }), 'settled');
  });
});
