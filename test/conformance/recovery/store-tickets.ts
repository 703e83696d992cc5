/** Tickets: opened once for a call and a reason, closed once, listed page by page. */
import assert from 'node:assert/strict';

import type { CallId } from '../../../src/core/call/call.ts';
import type { Ticket, TicketId } from '../../../src/core/recovery/ticket.ts';
import type { Store, TicketFilter, TicketWrite } from '../../../src/ports/store.ts';
import {
  aCall,
  aSession,
  aTransition,
  commitOne,
  inserting,
  mustCommit,
  opening,
  startMs,
  stepping,
  updating,
  verdictOf,
} from '../store-fixtures.ts';
import {
  aTicket,
  closed,
  closingTicket,
  mootTicket,
  mustOpenTicket,
  openingTicket,
  ticketing,
} from './ticket-fixtures.ts';
import { type Create, withStore } from '../with-store.ts';

const none = 'tkt_none' as TicketId;

export function provesTickets(create: Create): void {
  provesOpening(create);
  provesClosing(create);
  provesOrder(create);
  provesTicketReads(create);
}

function provesOpening(create: Create): void {
  const prove = withStore(create);

  prove('a call has one ticket for a reason: an open one stays as it is, a closed one opens again', async (store) => {
    const ticket = await mustOpenTicket(store);
    assert.deepEqual(await store.ticket(ticket.id), ticket);
    assert.equal(await store.ticket(none), null);
    await mustCommit(store, ticketing(openingTicket({ ...ticket, queue: 'others', openedAtMs: startMs + 5 })));
    assert.deepEqual(await store.ticket(ticket.id), ticket);
    await mustCommit(store, ticketing(closingTicket(ticket)));
    assert.deepEqual(await store.ticket(ticket.id), closed(ticket));
    const again = { ...ticket, version: closed(ticket).version + 1 };
    await mustCommit(store, ticketing(openingTicket({ ...ticket, openedAtMs: startMs + 9 })));
    assert.deepEqual(await store.ticket(ticket.id), again);
    const other = await mustOpenTicket(store, { call: ticket.call, reason: 'schema_mismatch' });
    assert.deepEqual(await store.ticketsOf(ticket.call), [again, other]);
    assert.deepEqual(await store.ticketsOf('call_none' as CallId), []);
  });

  const wrong: readonly (readonly [string, readonly TicketWrite[]])[] = [
    ['one with the name of another', [openingTicket({ ...aTicket(), id: none })]],
    ['one that opens closed', [openingTicket(closed(aTicket()))]],
    ['one that somebody closed before it opens', [openingTicket({ ...aTicket(), closedBy: 'ada' })]],
    ['a time that is no whole number', [openingTicket(aTicket({ openedAtMs: 0.5 }))]],
    ['an end that is no whole number', [closingTicket(aTicket(), 'ada', 0.5)]],
    ['more than a transition holds', Array.from({ length: 17 }, () => openingTicket(aTicket()))],
  ];
  for (const [what, writes] of wrong)
    prove(`${what} is illegal`, async (store) => {
      assert.equal(verdictOf(await commitOne(store, ticketing(...writes))), 'illegal');
      assert.equal(await store.openTickets('acme'), 0);
    });

  prove('a ticket opens with the end of its call or not at all', async (store) => {
    const call = aCall({ state: 'DISPATCHED', attempt: 1 });
    await mustCommit(store, inserting(call, ['PREPARED', 'DISPATCHED']));
    const ticket = aTicket({ call: call.id });
    const tickets = [openingTicket(ticket)];
    const late = updating({ ...call, attempt: 2 }, { state: 'IN_DOUBT', dueAtMs: null }, { tickets });
    assert.equal(verdictOf(await commitOne(store, late)), 'call');
    assert.equal(await store.ticket(ticket.id), null);
    const doubted = updating(call, { state: 'IN_DOUBT', dueAtMs: null }, { tickets });
    await mustCommit(store, doubted);
    await mustCommit(store, doubted);
    assert.deepEqual(await store.ticketsOf(call.id), [ticket]);
  });
}

function provesClosing(create: Create): void {
  const prove = withStore(create);

  prove('a ticket is closed once, and says who closed it and when', async (store) => {
    const ticket = await mustOpenTicket(store);
    const close = ticketing(closingTicket(ticket, 'ada', startMs + 7));
    const first = await mustCommit(store, close);
    assert.deepEqual(await mustCommit(store, close), first, 'the same token is the same act');
    const found = closed(ticket, 'ada', startMs + 7);
    assert.deepEqual(await store.ticket(ticket.id), found);
    const again = await commitOne(store, ticketing(closingTicket(ticket, 'bob')));
    assert.deepEqual(again, { kind: 'conflict', on: 'ticket', found });
    const unknown = await commitOne(store, ticketing(closingTicket(aTicket())));
    assert.deepEqual(unknown, { kind: 'conflict', on: 'ticket', found: null });
  });

  prove(
    'one whose call was settled without anybody is closed if it is open, and else nothing happens',
    async (store) => {
      const ticket = await mustOpenTicket(store);
      await mustCommit(store, ticketing(mootTicket(aTicket())));
      await mustCommit(store, ticketing(mootTicket({ ...ticket, reason: 'playbook' })));
      assert.equal(await store.openTickets('acme'), 1);
      await mustCommit(store, ticketing(mootTicket(ticket)));
      await mustCommit(store, ticketing(mootTicket(ticket, 'another', startMs + 99)));
      assert.deepEqual(await store.ticket(ticket.id), closed(ticket, 'recourse'));
    },
  );

  prove('of many who close it at once one does', async (store) => {
    const ticket = await mustOpenTicket(store);
    const people = Array.from({ length: 40 }, (_, index) => `person${index}`);
    const results = await Promise.all(people.map((by) => commitOne(store, ticketing(closingTicket(ticket, by)))));
    const won = people.filter((_, index) => results[index]?.kind === 'committed');
    assert.equal(won.length, 1);
    assert.equal((await store.ticket(ticket.id))?.closedBy, won[0]);
    for (const result of results)
      if (result.kind !== 'committed')
        assert.deepEqual(result, { kind: 'conflict', on: 'ticket', found: closed(ticket, won[0]) });
  });

  prove('tickets survive a crash, open ones and closed ones', async (store, home) => {
    const [open, shut] = [await mustOpenTicket(store), await mustOpenTicket(store)];
    await mustCommit(store, ticketing(closingTicket(shut)));
    await home.crash();
    const again = await home.open();
    assert.deepEqual(await again.ticket(open.id), open);
    assert.deepEqual(await again.ticket(shut.id), closed(shut));
    await mustCommit(again, ticketing(closingTicket(open)));
    assert.equal(await again.openTickets('acme'), 0);
  });
}

function provesOrder(create: Create): void {
  const prove = withStore(create);

  prove('several of one transition apply in order, all or none', async (store) => {
    const ticket = aTicket();
    const early = await commitOne(store, ticketing(closingTicket(ticket), openingTicket(ticket)));
    assert.deepEqual(early, { kind: 'conflict', on: 'ticket', found: null });
    const twice = await commitOne(store, ticketing(openingTicket(ticket), mootTicket(ticket), closingTicket(ticket)));
    assert.deepEqual(twice, { kind: 'conflict', on: 'ticket', found: closed(ticket, 'recourse') });
    assert.equal(await store.ticket(ticket.id), null);
    await mustCommit(store, ticketing(openingTicket(ticket), closingTicket(ticket), mootTicket(ticket)));
    assert.deepEqual(await store.ticket(ticket.id), closed(ticket));
  });

  prove('what else the transition carries is refused with it; approvals speak before, tasks after', async (store) => {
    const session = aSession();
    await mustCommit(store, opening(session));
    const ticket = await mustOpenTicket(store);
    await mustCommit(store, ticketing(closingTicket(ticket)));
    const call = aCall({ session: session.id });
    const task = { kind: 'close', call: call.id, as: 'reported' } as const;
    const stale = { tickets: [closingTicket(ticket)], session: stepping(session.id, { advance: true }), task };
    assert.equal(verdictOf(await commitOne(store, inserting(call, undefined, stale))), 'ticket');
    assert.equal(await store.call(call.id), null);
    assert.equal((await store.session(session.id))?.seq, 0);
    const shut = { ...stale, session: stepping(session.id, { expectSeq: 3 }) };
    assert.equal(verdictOf(await commitOne(store, inserting(call, undefined, shut))), 'session');
    assert.equal(verdictOf(await commitOne(store, aTransition({ task, tickets: [mootTicket(ticket)] }))), 'task');
  });
}

function provesTicketReads(create: Create): void {
  const prove = withStore(create);
  const listed = async (store: Store, over: Partial<TicketFilter> = {}) =>
    (await store.listTickets({ tenant: 'acme', limit: 99, ...over })).map(({ id }) => id);
  const idsOf = (...tickets: readonly (Ticket | undefined)[]) => tickets.map((ticket) => ticket?.id);

  prove('they are listed by tenant, state and queue, the last opened first', async (store) => {
    // The oldest call has the newest ticket.
    const opened = [3, 2, 2, 1].map((delay, index) =>
      aTicket({ openedAtMs: startMs + delay, queue: index % 2 === 0 ? 'money' : 'data' }),
    );
    for (const ticket of opened) await mustCommit(store, ticketing(openingTicket(ticket)));
    await mustOpenTicket(store, { tenant: 'other', openedAtMs: startMs + 9 });
    const [a, b, c, d] = opened;
    assert.deepEqual(await listed(store), idsOf(a, c, b, d));
    assert.deepEqual(await listed(store, { queue: 'money' }), idsOf(a, c));
    await mustCommit(store, ticketing(closingTicket(c as Ticket)));
    assert.deepEqual(await listed(store, { state: 'open' }), idsOf(a, b, d));
    assert.deepEqual(await listed(store, { state: 'closed', queue: 'money' }), idsOf(c));
    assert.deepEqual(await listed(store, { state: 'open', queue: 'data' }), idsOf(b, d));
    assert.deepEqual(await listed(store, { queue: 'nowhere' }), []);
    assert.deepEqual([await store.openTickets('acme'), await store.openTickets('other')], [3, 1]);
    assert.equal(await store.openTickets('nobody'), 0);
  });

  prove('a listing goes on page by page, and no page is longer than it was asked for', async (store) => {
    const opened = Array.from({ length: 23 }, (_, index) =>
      aTicket({ openedAtMs: startMs + (index % 3), queue: index % 5 === 0 ? 'rare' : 'operators' }),
    );
    for (const ticket of opened) await mustCommit(store, ticketing(openingTicket(ticket)));
    const foreign = await mustOpenTicket(store, { tenant: 'other' });
    for (const filter of [
      {},
      { state: 'open' as const },
      { queue: 'rare' },
      { queue: 'rare', state: 'open' as const },
    ]) {
      const found: string[] = [];
      for (;;) {
        const page = await listed(store, {
          ...filter,
          limit: 4,
          ...(found.length > 0 ? { before: found.at(-1) ?? '' } : {}),
        });
        assert.ok(page.length <= 4);
        found.push(...page);
        if (page.length === 0) break;
      }
      assert.deepEqual(found, await listed(store, filter), JSON.stringify(filter));
    }
    assert.deepEqual(await listed(store, { before: 'tkt_none' }), [], 'nothing is older than what is not there');
    assert.deepEqual(await listed(store, { before: foreign.id }), [], 'nor than what is of another tenant');
  });
}
