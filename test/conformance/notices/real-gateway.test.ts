/**
 * `recourse up` with a real upstream that fails, a webhook, people by mail, and a mail server that never answers: each
 * event from what really happened, and no call that waits for anybody who is told.
 */
import assert from 'node:assert/strict';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { startMailReceiver } from './mail-receiver.ts';
import { introduce } from '../../support/mcp-raw.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';

const all =
  'POLICY_DENY, POLICY_DEFER, COMPLETION_BLOCKED, RUNTIME_GAP, ticket_opened, in_doubt, breaker_opened, breaker_closed';

async function upstream(t: TestContext) {
  let isUp = false;
  const open: ServerResponse[] = [];
  const server = createHttpServer((_request, response) => {
    if (isUp) response.writeHead(200, { 'content-type': 'application/json' }).end('{"fine":true}');
    else open.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, rise: () => void (isUp = true) };
}

/** Takes connections, and never says a word. */
async function muteServer(t: TestContext) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    t.after(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

const written = (pay: string, hook: string, mail: string, mute: string) => `tools:
  pay:
    http: { url: "${pay}" }
    breaker: { failures: 1, open_for: 1s }
    tools:
      charge:
        description: Takes money.
        request: { method: POST, path: /charges }
        timeout: 500ms
      look:
        description: Looks.
        request: { method: GET, path: /charges }
        effect: pure
agents:
  bot:
    rules:
      - deny: pay/look
        when: 'has(args.denied)'
      - defer: pay/charge
        when: 'has(args.large)'
      - permit: pay/*
notify:
  ops: { webhook: "${hook}", secret: "sixteen characters or more", events: [${all}] }
  people: { smtp: "${mail}", from: recourse@example.com, to: [ada@example.com], batch: 1s, events: [${all}] }
  nobody: { smtp: "${mute}", from: recourse@example.com, to: [ada@example.com], batch: 1s, events: [${all}] }
`;

test(
  '[C8-notice-1] [C8-notice-2] [C8-notice-5] what happens is told, and no call waits for it',
  { timeout: 240_000 },
  async (t) => {
    const [pay, hook, mail, mute] = [
      await upstream(t),
      await startReceiver(t),
      await startMailReceiver(t),
      await muteServer(t),
    ];
    const up = await startGoverned(t, written(pay.url, hook.url, mail.url(), mute.url));
    await up.ready();
    const key = up.keyOf('bot');
    const call = async (tool: string, args: object = {}) =>
      (await up.ask('/v1/calls', { key, body: { tool, args } })).body;
    const told = (event: string) =>
      eventually(event, async () => hook.got.find(({ message }) => message.event === event));

    assert.equal((await call('pay/look', { denied: true }))['code'], 'POLICY_DENY');
    const { message: denied } = await told('POLICY_DENY');
    assert.deepEqual([denied.kind, denied.agent, denied.tool], ['refused', 'bot', 'pay/look']);
    await eventually('the mute server was tried', async () => mute.connections() > 0);

    const timedOut = await call('pay/charge');
    assert.deepEqual([timedOut['error'], timedOut['effect']], ['action_timeout', 'unknown'], JSON.stringify(timedOut));
    const { message: doubt } = await told('in_doubt');
    assert.deepEqual([doubt.kind, doubt.call_id, doubt.tool], ['doubted', timedOut['call_id'], 'pay/charge']);
    const { message: opened } = await told('breaker_opened');
    assert.equal(opened.upstream, 'pay');
    assert.match(opened.message, /upstream 'pay' failed too often \(last: timeout\)/);

    pay.rise();
    await eventually('it answers again', async () => !('error' in (await call('pay/look'))));
    await told('breaker_closed');

    const held = await call('pay/charge', { large: true });
    assert.ok(['POLICY_DEFER', 'Fenced'].includes(String(held['code'])), JSON.stringify(held));
    const { headers, message } = introduce({ id: 1, method: 'no/such' });
    const authorization = `Bearer ${key}`;
    await fetch(`${up.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, authorization },
      body: JSON.stringify(message),
    });
    const { message: gap } = await told('RUNTIME_GAP');
    assert.match(gap.message, /method 'no\/such' is not known/);

    const seen = new Set(hook.got.map(({ message: each }) => each.event));
    const mailed = () => mail.got.map(({ text }) => text).join('\n');
    for (const event of seen) await eventually(`${event} by mail`, async () => mailed().includes(`(${event}, `));
    assert.doesNotMatch(mailed(), /denied":|large/);
    assert.equal(await up.stop(), 0, 'a server that never answers does not keep it from ending');
  },
);
