/** `recourse tickets`: a person looks and closes beside a gateway that runs. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import type { CallId } from '../../../src/core/call/call.ts';
import type { Ticket } from '../../../src/core/recovery/ticket.ts';
import { mustOpen } from '../../conformance/sqlite-home.ts';
import { mustOpenTicket } from '../../conformance/recovery/ticket-fixtures.ts';
import { recourse } from '../../support/compiled-recourse.ts';
import { eventually } from '../../support/eventually.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { objectsIn, storeIn } from '../../support/recourse-process.ts';
import { rules, smallServer } from '../../support/small-server.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';
import { send } from '../http/open-http.ts';

async function open(t: TestContext, more = '') {
  const up = await startGoverned(
    t,
    `agents:\n${rules('bot', ['{ permit: small/echo }'])}tools:\n${smallServer()}${more}`,
  );
  await up.ready();
  // Beside the gateway, which owns the store.
  const store = await mustOpen({ file: storeIn(up.home) });
  t.after(() => store.close());
  const run = (words: readonly string[], env: Record<string, string> = {}) =>
    recourse(['tickets', ...words, '--url', up.url], { cwd: up.home, env });
  const openTicket = (over: Partial<Omit<Ticket, 'id'>> = {}) =>
    mustOpenTicket(store, { tenant: 'default', agent: 'bot', openedAtMs: Date.now(), ...over });
  return { up, store, run, openTicket };
}

test('a person lists, looks, closes, and is told what is left to do', async (t) => {
  const { up, run, openTicket } = await open(t);
  const none = run(['ls']);
  assert.deepEqual([none.status, none.stdout, none.stderr], [0, '', 'no open ticket matches.\n']);
  const key = up.keyOf('bot');
  const made = await send(new URL(up.url), 'POST', '/v1/calls', {
    key,
    body: { tool: 'small/echo', args: { text: 'a\u001b[31m\n  state  closed\u202e' } },
  });
  const call = made.body['call_id'] as CallId;
  const { id } = await openTicket({ call, tool: 'small/echo', queue: 'mo\u001b[2Jney', reason: 'playbook' });
  const list = run(['ls']);
  assert.match(list.stdout, /^TICKET +STATE +QUEUE +AGENT +TOOL +AGE +WHY\n/);
  assert.ok(list.stdout.includes(id) && list.stdout.includes('the playbook asks for a person'));
  const shown = run(['show', id]);
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /^ {2}closing +somebody took care of it; nothing runs/m);
  assert.ok(shown.stdout.includes(`recourse tickets close ${id} --note <text>`));
  for (const { stdout } of [list, shown]) assert.doesNotMatch(stdout, /[^\n\P{Cc}]|\u202e/u);
  assert.equal(shown.stdout.match(/^ {2}state/gm)?.length, 1);

  const closed = run(['close', id, '--note', 'looked into it']);
  assert.deepEqual([closed.status, closed.stderr], [0, '']);
  assert.match(closed.stdout, new RegExp(`^${id} is closed by \\S+\\. `));
  const again = run(['close', id]);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /closed already: it was closed by/);
  assert.equal(run(['ls', '--json']).stdout, '');
  const [all] = objectsIn(run(['ls', '--all', '--json']).stdout);
  assert.deepEqual([all?.['ticket_id'], all?.['state']], [id, 'closed']);
  const [story] = objectsIn(run(['show', id, '--json']).stdout);
  assert.equal(story?.['note'], 'looked into it');
  assert.match(run(['show', id]).stdout, /^ {2}closed +by \S+ at \S+: looked into it$/m);
});

test('unknown ids, wrong limits and the key of an agent are told in a sentence', async (t) => {
  const { up, run, openTicket } = await open(t);
  const { id } = await openTicket({ queue: 'rare' });
  await openTicket();
  assert.equal(objectsIn(run(['ls', '--queue', 'rare', '--json']).stdout).length, 1);
  const page = run(['ls', '--limit', '1']);
  assert.match(page.stderr, /1 shown; older ones: --before tkt_/);
  const cases: readonly (readonly [
    words: readonly string[],
    status: number,
    says: RegExp,
    env?: Record<string, string>,
  ])[] = [
    [['show', 'tkt_none'], 1, /no ticket 'tkt_none' is known to this key/],
    [['close', 'tkt_none'], 1, /no ticket 'tkt_none' is known to this key/],
    [['ls', '--limit', '201'], 2, /--limit is a whole number from 1 to 200/],
    [['show'], 2, /takes one ticket_id/],
    [['ls', '--key', up.keyOf('bot')], 1, /may not do that/],
    [['close', id, '--key', up.keyOf('bot')], 1, /may not do that/],
  ];
  for (const [words, status, says] of cases) {
    const end = run(words);
    assert.equal(end.status, status, `${words.join(' ')}: ${end.stderr}`);
    assert.match(end.stderr, says);
  }
});

test('whoever asked for ticket_opened is told, with the ticket', async (t) => {
  const receiver = await startReceiver(t);
  const { store, openTicket } = await open(
    t,
    `notify:\n  ops: { webhook: "${receiver.url}", secret: "sixteen characters or more", events: [ticket_opened] }\n`,
  );
  const ticket = await openTicket({ tool: 'small/echo', queue: 'money' });
  const body = JSON.stringify({ queue: 'money', reason: 'in_doubt', ticket: ticket.id, tool: 'small/echo' });
  const record = { kind: 'ticket_opened', call: ticket.call, session: null, body, payloads: [] } as const;
  const { nothingYet } = await import('../../../src/shell/ending/transition.ts');
  await store.commit([{ token: 't1', atMs: Date.now(), ...nothingYet, records: [record] }]);
  await eventually('a message', async () => receiver.got.length > 0);
  const [{ message } = assert.fail()] = receiver.got;
  assert.deepEqual(
    [message.event, message.kind, message.tenant, message.agent, message.tool, message.call_id, message.approval],
    ['ticket_opened', 'ticket_opened', 'default', 'bot', 'small/echo', ticket.call, null],
  );
  assert.deepEqual(
    [message.ticket?.ticket_id, message.ticket?.queue, message.ticket?.state],
    [ticket.id, 'money', 'open'],
  );
  assert.equal(message.message, 'nobody knows whether the call took effect');
});
