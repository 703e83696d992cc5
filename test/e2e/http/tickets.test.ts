/** Tickets over HTTP: people look and close, agents and other tenants see none, and what was closed stays on record. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import type { CallId } from '../../../src/core/call/call.ts';
import { doorProblems } from '../../../src/core/http/door-problems.ts';
import type { Ticket } from '../../../src/core/recovery/ticket.ts';
import { codeOfProblem } from '../../../src/doors/http/ticket-routes.ts';
import { ticketProblems } from '../../../src/shell/ticket/ticket-problems.ts';
import { mustOpenTicket } from '../../conformance/recovery/ticket-fixtures.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { shapeOf } from '../../support/shape-of.ts';
import { aTool } from '../../support/tools.ts';
import { openHttp } from './open-http.ts';

async function open(t: TestContext) {
  const refund = aTool('refund', () => ({ refunded: true }));
  const bot = anAgent('bot', [['permit', 'refund']], { redact: ['args.card'] });
  const http = await openHttp(t, { tools: [refund], policy: aPolicy([bot]) });
  const openTicket = (over: Partial<Omit<Ticket, 'id'>> = {}) =>
    mustOpenTicket(http.shell.ports.store, { tenant: 'default', agent: 'bot', ...over });
  return { ...http, openTicket };
}

test('a person looks at a ticket with its call, masked, closes it, and that is on record with their name', async (t) => {
  const { ask, call, keys, openTicket } = await open(t);
  const made = await call({ tool: 'refund', args: { amount: 9, card: '4111' } });
  const callId = made.body['call_id'] as CallId;
  const { id } = await openTicket({ call: callId, reason: 'schema_mismatch', queue: 'money' });
  const shown = await ask('GET', `/v1/tickets/${id}`, { key: keys.viewer });
  assert.equal(shown.status, 200);
  assert.deepEqual(shapeOf({ ...shown.body, call: null }), {
    ticket_id: 'string',
    state: 'string',
    queue: 'string',
    reason: 'string',
    says: 'string',
    agent: 'string',
    tool: 'string',
    session: 'null',
    call_id: 'string',
    opened_at: 'string',
    due_at: 'null',
    expires_at: 'null',
    overdue: 'boolean',
    assignee: 'null',
    answer: 'null',
    continued_by: 'null',
    closed_at: 'null',
    closed_by: 'null',
    age_seconds: 'number',
    note: 'null',
    closing: 'string',
    answers: [{ answer: 'string', does: 'string' }],
    sign_in: 'null',
    comments: [],
    call: 'null',
  });
  const about = shown.body['call'] as Record<string, unknown>;
  assert.deepEqual(about['args'], { amount: 9, card: '[redacted]' });
  assert.deepEqual([about['state'], about['effect'], about['attempts']], ['SUCCEEDED', 'applied', 1]);
  assert.equal((about['reply'] as Record<string, unknown>)['call_id'], callId);
  assert.ok(!shown.text.includes('4111'));

  const note = 'fixed\u0007 by hand, token=abcdefgh12345678';
  const closed = await ask('POST', `/v1/tickets/${id}/close`, { key: keys.admin, body: { note } });
  assert.deepEqual(
    ['state', 'closed_by', 'note', 'closing'].map((name) => closed.body[name]),
    ['closed', 'ada', 'fixed  by hand, token=[redacted]', 'it is closed'],
  );
  const again = await ask('GET', `/v1/tickets/${id}`, { key: keys.viewer });
  assert.deepEqual({ ...again.body, age_seconds: 0 }, { ...closed.body, age_seconds: 0 });
  const twice = await ask('POST', `/v1/tickets/${id}/close`, { key: keys.admin, body: {} });
  assert.deepEqual([twice.status, twice.body['code']], [409, 'TicketClosed']);
  assert.match(String(twice.body['detail']), /^it was closed by ada at 20/);
  const audit = await ask('GET', '/v1/audit?follow=false', { key: keys.admin });
  assert.equal(audit.text.match(/"kind":"ticket_resolved"/g)?.length, 1);
});

test('an agent can neither list, nor read, nor answer; a viewer only looks', async (t) => {
  const { ask, keys, openTicket } = await open(t);
  const { id } = await openTicket();
  for (const [role, method, target, status] of [
    ['agent', 'GET', '/v1/tickets', 403],
    ['agent', 'GET', `/v1/tickets/${id}`, 403],
    ['agent', 'POST', `/v1/tickets/${id}/close`, 403],
    ['viewer', 'POST', `/v1/tickets/${id}/close`, 403],
    ['agent', 'POST', `/v1/tickets/${id}/resolve`, 403],
    ['agent', 'POST', `/v1/tickets/${id}/take`, 403],
    ['agent', 'POST', `/v1/tickets/${id}/comments`, 403],
    ['agent', 'GET', '/v1/inbox', 403],
    ['viewer', 'POST', `/v1/tickets/${id}/resolve`, 403],
    ['viewer', 'POST', `/v1/tickets/${id}/take`, 403],
    ['viewer', 'GET', '/v1/inbox', 200],
    ['approver', 'GET', '/v1/tickets', 200],
  ] as const) {
    const answer = await ask(method, target, { key: keys[role], ...(method === 'POST' ? { body: {} } : {}) });
    assert.equal(answer.status, status, `${role} ${method} ${target}`);
  }
  const { body } = await ask('GET', `/v1/tickets/${id}`, { key: keys.viewer });
  assert.equal(body['state'], 'open');
});

test('tickets of other tenants answer as unknown ones do, in the same words', async (t) => {
  const { ask, keys, makeKey, openTicket } = await open(t);
  const { id } = await openTicket({ tenant: 'other' });
  const unknown = 'tkt_0123_in_doubt';
  for (const [method, act] of [
    ['GET', ''],
    ['POST', '/close'],
  ] as const) {
    const sent = { key: keys.admin, ...(method === 'POST' ? { body: {} } : {}) };
    const [theirs, nobodys] = [
      await ask(method, `/v1/tickets/${id}${act}`, sent),
      await ask(method, `/v1/tickets/${unknown}${act}`, sent),
    ];
    assert.deepEqual([theirs.status, theirs.body['code']], [404, 'UnknownTicket']);
    assert.equal(theirs.text.replaceAll(id, ''), nobodys.text.replaceAll(unknown, ''));
  }
  const list = await ask('GET', '/v1/tickets', { key: keys.admin });
  assert.deepEqual(list.body, { tickets: [], next: null });
  const foreign = await makeKey('other', 'viewer', 'vera');
  assert.equal((await ask('GET', `/v1/tickets/${id}`, { key: foreign })).status, 200);
});

test('a list is bounded, goes on page by page, and takes queue and state', async (t) => {
  const { ask, keys, openTicket } = await open(t);
  for (let count = 0; count < 7; count++)
    await openTicket({ openedAtMs: 1_000 * count, queue: count === 3 ? 'rare' : 'operators' });
  const pageAt = async (query: string) => {
    const { body } = await ask('GET', `/v1/tickets?${query}`, { key: keys.viewer });
    return body as { tickets: readonly { ticket_id: string; opened_at: string }[]; next: string | null };
  };
  const found: string[] = [];
  for (let next: string | null = ''; next !== null;) {
    const page = await pageAt(`limit=3${next === '' ? '' : `&before=${next}`}`);
    assert.ok(page.tickets.length <= 3);
    found.push(...page.tickets.map(({ opened_at: at }) => at.slice(17, 19)));
    ({ next } = page);
  }
  assert.deepEqual(found, ['06', '05', '04', '03', '02', '01', '00']);
  assert.equal((await pageAt('queue=rare&state=open')).tickets.length, 1);
  assert.equal((await pageAt('state=closed')).tickets.length, 0);
  assert.deepEqual(await pageAt('limit=0'), { tickets: [], next: null });
  assert.deepEqual(await pageAt('before=nonsense'), { tickets: [], next: null });
});

test('every problem of closing has a code with the status of the table', () => {
  for (const [problem, code] of Object.entries(codeOfProblem))
    assert.equal(doorProblems[code].status, ticketProblems[problem as keyof typeof codeOfProblem], problem);
});
