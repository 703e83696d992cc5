/**
 * A process that only forwards becomes the owner of the store: whoever waits at its doors goes on waiting there, and
 * gets an answer.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startGoverned } from '../support/governed-up.ts';
import { connectHttp } from '../support/mcp-connect.ts';
import { rules, smallServer } from '../support/small-server.ts';
import { send } from './http/open-http.ts';

const yaml = `agents:
${rules('bot', ['{ defer: small/echo, reason: somebody should look }', '{ permit: small/hang }'])}tools:
${smallServer()}`;
const words = ['--file', 'recourse.db'];
const waiters = 24;

/** Two processes on one store: the first owns it, and the second is the one that is asked. */
async function openBoth(t: TestContext) {
  const first = await startGoverned(t, yaml, words);
  await first.ready();
  const second = await startGoverned(t, yaml, words, first.home);
  await second.ready();
  const key = first.keyOf('bot');
  const operator = readFileSync(path.join(first.home, 'recourse.db.token'), 'utf8').trim();
  const url = new URL(second.url);
  const ask = (method: string, target: string, by: string, body?: unknown) =>
    send(url, method, target, { key: by, ...(body === undefined ? {} : { body }) });
  const deferred = await ask('POST', '/v1/calls', key, { tool: 'small/echo', args: { amount: 5 } });
  assert.equal(deferred.status, 202, deferred.text);
  const approval = String((deferred.body as { resolution: { approval_id: string } }).resolution.approval_id);
  const approve = async () => {
    const approved = await ask('POST', `/v1/approvals/${approval}/approve`, operator, {});
    assert.equal(approved.status, 200, approved.text);
  };
  const role = async () => ((await ask('GET', '/v1/status', operator)).body as { role: string }).role;
  return { first, second, url, key, operator, ask, approval, approve, role };
}

const times = <Value>(make: () => Value): Value[] => Array.from({ length: waiters }, make);

test('whoever waits for an approval over HTTP or MCP hears of the decision that the new owner records', async (t) => {
  const { first, url, key, ask, approval, approve, role } = await openBoth(t);
  const clients = await Promise.all(times(() => connectHttp(t, new URL('/mcp', url), '2025-11-25', { key })));
  const waiting = times(() => ask('GET', `/v1/approvals/${approval}?wait=120`, key));
  const awaiting = clients.map(({ client }) =>
    client.callTool(
      { name: 'await_approval', arguments: { approval_id: approval, wait_seconds: 120 } },
      { timeout: 120_000 },
    ),
  );
  await first.stop('SIGKILL');
  await eventually('the other one owns the store', async () => (await role()) === 'owner');
  await approve();
  for (const answer of await Promise.all(waiting))
    assert.deepEqual([answer.status, (answer.body as { state: string }).state], [200, 'granted'], answer.text);
  for (const { structuredContent, isError } of await Promise.all(awaiting))
    assert.deepEqual([isError ?? false, (structuredContent as { state: string }).state], [false, 'granted']);
});

test('whoever waits for a call of the owner that died hears what the new owner makes of it', async (t) => {
  const { first, key, ask, role } = await openBoth(t);
  const body = { tool: 'small/hang', args: {}, key: 'once', wait_seconds: 120 };
  const lost = send(new URL(first.url), 'POST', '/v1/calls', { key, body }).catch(() => null);
  const joined = async () => ask('POST', '/v1/calls', key, { ...body, wait_seconds: 0 });
  await eventually('it is under way', async () => (await joined()).status === 202);
  const waiting = times(() => ask('POST', '/v1/calls', key, body));
  await first.stop('SIGKILL');
  await lost;
  await eventually('the other one owns the store', async () => (await role()) === 'owner');
  for (const answer of await Promise.all(waiting)) {
    const { effect, replayed } = answer.body as { effect: string; replayed: boolean };
    assert.deepEqual([answer.status, effect, replayed], [502, 'unknown', true], answer.text);
  }
});

test('streams of the journal and of approvals go on, without a gap', async (t) => {
  const { first, url, operator, approval, approve, role } = await openBoth(t);
  const streams = await Promise.all(
    ['/v1/audit', '/v1/approvals/events'].map(async (target) => {
      const headers = { authorization: `Bearer ${operator}` };
      const response = await fetch(new URL(target, url), { headers });
      assert.equal(response.status, 200);
      let heard = '';
      let over = false;
      const read = async () => {
        for await (const chunk of response.body as AsyncIterable<Uint8Array>) heard += Buffer.from(chunk).toString();
      };
      void read().then(
        () => (over = true),
        () => (over = true),
      );
      t.after(() => void response.body?.cancel().catch(() => undefined));
      return { heard: () => heard, isOver: () => over };
    }),
  );
  await first.stop('SIGKILL');
  await eventually('the other one owns the store', async () => (await role()) === 'owner');
  await approve();
  for (const { heard, isOver } of streams) {
    await eventually(
      'the decision',
      async () => heard().includes(approval) && /granted|approval_approved/.test(heard()),
    );
    assert.equal(isOver(), false);
  }
});
