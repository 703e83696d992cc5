/**
 * Webhooks as an operator meets them: a real journal, real receivers, each told in order until it has taken everything.
 */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { createShiftedClock } from '../../../test/support/shifted-clock.ts';
import { aHook, openNoticeHome, quickLimits } from '../../../test/support/notice-home.ts';
import { type Receiver, startReceiver } from '../../../test/support/webhook-receiver.ts';
import { verifyWebhook } from '../../client/verify-webhook.ts';
import type { WebhookKind } from '../../core/http/webhook-message.ts';

const arrived = (receiver: Receiver, count: number) =>
  eventually(`${count} messages, not ${receiver.got.length}`, async () => receiver.got.length >= count);

test('a message is signed, names what happened, and verifies; a changed one does not', async (t) => {
  const home = await openNoticeHome(t);
  const receiver = await startReceiver(t);
  const hook = aHook({ url: receiver.url, link: 'https://console/approvals/{approval_id}' });
  await home.start([hook]);
  const position = await home.record();
  await arrived(receiver, 1);
  const [{ headers, body, message } = assert.fail()] = receiver.got;
  const id = `${home.prefix}${position}`;
  assert.deepEqual(
    [message.id, message.event, message.kind, message.tenant, message.agent, message.tool, message.link],
    [id, 'POLICY_DEFER', 'approval_opened', 'default', 'bot', 'stripe/refund', 'https://console/approvals/apr_1'],
  );
  assert.equal(message.approval?.approval_id, 'apr_1');
  assert.match(message.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.equal(headers['recourse-id'], id);
  const secret = hook.secret ?? '';
  assert.deepEqual(await verifyWebhook({ headers, body, secret }), { ok: true, id, message });
  const tampered = body.replace('"amount":40', '"amount":41');
  assert.notEqual(tampered, body);
  assert.deepEqual(await verifyWebhook({ headers, body: tampered, secret }), { ok: false, problem: 'wrong_signature' });
});

test('a hook without a secret gets no signature', async (t) => {
  const home = await openNoticeHome(t);
  const receiver = await startReceiver(t);
  await home.start([aHook({ url: receiver.url, secret: null })]);
  await home.record();
  await arrived(receiver, 1);
  assert.equal(receiver.got[0]?.headers['recourse-signature'], undefined);
  assert.match(String(receiver.got[0]?.headers['recourse-timestamp']), /^\d+$/);
});

test('what a hook asked for is told, in order, and nothing else', async (t) => {
  const home = await openNoticeHome(t);
  const [all, gaps] = [await startReceiver(t), await startReceiver(t)];
  await home.start([aHook({ url: all.url }), aHook({ url: gaps.url, name: 'gaps', events: ['RUNTIME_GAP'] })]);
  const kinds: readonly WebhookKind[] = [
    'approval_opened',
    'approval_approved',
    'approval_used',
    'approval_denied',
    'approval_revoked',
    'approval_expired',
    'approval_voided',
  ];
  for (const kind of kinds) await home.record({ kind });
  await home.record({ kind: 'refused', body: { code: 'POLICY_DENY', about: 'COMPLETION_BLOCKED' } });
  await home.record({ kind: 'policy_applied', body: {} });
  const blocked = 'agent cannot complete: 2 approvals pending';
  await home.record({ kind: 'refused', body: { code: 'COMPLETION_BLOCKED' }, reply: { human_message: blocked } });
  const hidden = { kind: 'call_in_notification', subject: 'stripe/refund' };
  await home.record({ kind: 'runtime_gap', body: { ...hidden, tenant: 'default', agent: 'bot' } });
  await arrived(all, 9);
  await arrived(gaps, 1);
  assert.deepEqual(
    all.got.map(({ message }) => message.kind),
    [...kinds, 'refused', 'runtime_gap'],
  );
  const [refused, gap] = all.got.slice(7).map(({ message }) => message);
  assert.deepEqual([refused?.event, refused?.message, refused?.approval], ['COMPLETION_BLOCKED', blocked, null]);
  assert.deepEqual([gap?.event, gap?.agent, gap?.tenant], ['RUNTIME_GAP', 'bot', 'default']);
  assert.equal(gap?.message, "tool 'stripe/refund' was called in a notification, which has no reply, and did not run");
  assert.deepEqual(
    gaps.got.map(({ message }) => message.id),
    [gap?.id],
  );
});

test('what is not taken is sent again under the same id, and those behind it wait', async (t) => {
  const home = await openNoticeHome(t);
  const receiver = await startReceiver(t);
  let refusals = 3;
  receiver.answer(() => (refusals-- > 0 ? 500 : 200));
  await home.start([aHook({ url: receiver.url })]);
  const [first, second] = [await home.record(), await home.record({ kind: 'approval_approved' })];
  await arrived(receiver, 5);
  const [one, two] = [`${home.prefix}${first}`, `${home.prefix}${second}`];
  assert.deepEqual(receiver.ids(), [one, one, one, one, two]);
  await eventually('it is told that it works again', async () => home.troubles.length === 2);
  assert.match(home.troubles[0] ?? '', /^webhook 'ops' did not take approval_opened [\d.]+ \(status 500\): it is kept/);
  assert.equal(home.troubles[1], "webhook 'ops' takes deliveries again");
});

test('a receiver that never answers delays nobody else', async (t) => {
  const home = await openNoticeHome(t);
  const [hanging, other] = [await startReceiver(t), await startReceiver(t)];
  hanging.answer(() => 'hang');
  await home.start([aHook({ url: hanging.url, name: 'hanging' }), aHook({ url: other.url })]);
  for (let count = 0; count < 20; count++) await home.record();
  await arrived(other, 20);
  assert.equal(hanging.got.length, 1, 'it waits for its own answer only');
  assert.deepEqual(other.ids(), [...new Set(other.ids())]);
});

test('a request without an answer in time is a failure', async (t) => {
  const home = await openNoticeHome(t);
  const receiver = await startReceiver(t);
  receiver.answer(() => (receiver.got.length === 1 ? 'hang' : 200));
  await home.start([aHook({ url: receiver.url })], { limits: { ...quickLimits, timeoutMs: 30 } });
  await home.record();
  await arrived(receiver, 2);
  assert.equal(new Set(receiver.ids()).size, 1);
  assert.match(home.troubles[0] ?? '', /no answer within 0\.03 seconds/);
});

test('one delivery that is never taken does not stop the others, and is tried on its own', async (t) => {
  const home = await openNoticeHome(t);
  const receiver = await startReceiver(t);
  let isBroken = true;
  receiver.answer(({ message }) => (isBroken && message.kind === 'approval_opened' ? 422 : 200));
  await home.start([aHook({ url: receiver.url })]);
  const dead = `${home.prefix}${await home.record()}`;
  const others: string[] = [];
  for (let count = 0; count < 3; count++) others.push(`${home.prefix}${await home.record({ kind: 'approval_used' })}`);
  const taken = () => receiver.ids().filter((id) => id !== dead);
  await eventually('the others', async () => taken().length === 3);
  assert.deepEqual(taken(), others);
  const triesBefore = receiver.ids().indexOf(others[0] ?? '');
  assert.ok(triesBefore >= quickLimits.triesBeforeSkip, `it had ${triesBefore} tries before another went past it`);
  isBroken = false;
  const seen = receiver.got.length;
  await eventually('the first, at last', async () => receiver.ids().indexOf(dead, seen) >= 0);
});

test('while the receiver is down order is kept, however long it takes', async (t) => {
  const home = await openNoticeHome(t);
  const receiver = await startReceiver(t);
  const places: string[] = [];
  const taken: string[] = [];
  let isUp = false;
  receiver.answer(({ message }) => {
    // It comes back while the first is sent: when it does in between, the next may go past it once.
    isUp ||= receiver.got.length >= 30 && message.id === places[0];
    if (isUp) taken.push(message.id);
    return isUp ? 200 : 503;
  });
  await home.start([aHook({ url: receiver.url })]);
  for (let count = 0; count < 4; count++) places.push(`${home.prefix}${await home.record()}`);
  await eventually('all of them', async () => taken.length >= 4);
  assert.deepEqual(taken, places);
  assert.ok(new Set(receiver.ids().slice(0, 30)).size === 2, 'the one behind it was tried, too');
});

test('a delivery is given up after its tries or its time, and the operator is told', async (t) => {
  const clock = createShiftedClock();
  for (const [limits, forwardMs, words] of [
    [{ maxTries: 3 }, 0, /given up after 3 tries \(status 500\)/],
    [{ maxTries: 1_000_000 }, 25 * 3_600_000, /given up after \d+ tries \(status 500\)/],
  ] as const) {
    const home = await openNoticeHome(t);
    const receiver = await startReceiver(t);
    receiver.answer(({ message }) => (message.kind === 'approval_opened' ? 500 : 200));
    await home.start([aHook({ url: receiver.url })], {
      clock,
      limits: { ...quickLimits, triesBeforeSkip: 1_000_000, ...limits },
    });
    await home.record();
    await arrived(receiver, 2);
    await home.record({ kind: 'approval_expired' });
    clock.forward(forwardMs);
    await eventually('the next', async () => receiver.got.at(-1)?.message.kind === 'approval_expired');
    assert.ok(
      home.troubles.some((trouble) => words.test(trouble)),
      home.troubles.join('\n'),
    );
  }
});

test('it goes on where it stopped; a new hook hears of what happens from then on', async (t) => {
  const home = await openNoticeHome(t);
  const [old, fresh] = [await startReceiver(t), await startReceiver(t)];
  const first = await home.start([aHook({ url: old.url })]);
  await home.record();
  await arrived(old, 1);
  await first.close();
  const missed = await home.record();
  await home.start([aHook({ url: old.url }), aHook({ url: fresh.url, name: 'fresh' })]);
  const last = await home.record();
  await arrived(old, 3);
  await arrived(fresh, 1);
  assert.deepEqual(
    old.ids().slice(1),
    [missed, last].map((place) => `${home.prefix}${place}`),
  );
  assert.deepEqual(fresh.ids(), [`${home.prefix}${last}`]);
});

test('the file of the cursors is private and holds no address and no secret', async (t) => {
  const home = await openNoticeHome(t);
  const receiver = await startReceiver(t);
  await home.start([aHook({ url: receiver.url })]);
  await home.record();
  const place = await home.record();
  await eventually('the cursor', async () => readFileSync(home.cursorFile, 'utf8').includes(`"after":"${place}"`));
  if (process.platform !== 'win32') assert.equal(statSync(home.cursorFile).mode & 0o777, 0o600);
  assert.doesNotMatch(readFileSync(home.cursorFile, 'utf8'), /http|hidden|secret/);
});

test('no trouble names the address or the secret', async (t) => {
  const home = await openNoticeHome(t);
  const receiver = await startReceiver(t);
  receiver.answer(({ message }) => (message.kind === 'approval_opened' ? 500 : 200));
  const closed = aHook({ name: 'closed', url: 'http://user:password@127.0.0.1:1/hidden?token=hidden' });
  await home.start([aHook({ url: receiver.url }), closed], { limits: { ...quickLimits, maxTries: 2 } });
  await home.record();
  await eventually('four troubles', async () => home.troubles.filter((each) => /given up/.test(each)).length === 2);
  assert.ok(home.troubles.some((each) => each.includes('ECONNREFUSED')));
  for (const trouble of home.troubles) assert.doesNotMatch(trouble, /http|hidden|password|sixteen/);
});

for (const [name, text] of [
  ['is no JSON', '{'],
  ['is of another version', '{"version":99}'],
  ['has a place that is none', '{"version":1,"store":"x","hooks":{"ops":{"after":"x","head":null,"aside":[]}}}'],
] as const)
  test(`a file of cursors that ${name} is told, and webhooks begin anew`, async (t) => {
    const home = await openNoticeHome(t);
    const receiver = await startReceiver(t);
    writeFileSync(home.cursorFile, text);
    await home.record();
    await home.start([aHook({ url: receiver.url })]);
    const place = await home.record();
    await arrived(receiver, 1);
    assert.deepEqual(receiver.ids(), [`${home.prefix}${place}`]);
    assert.match(home.troubles[0] ?? '', /hooks\.json' cannot be read/);
  });

test('cursors of another store, or ahead of this one, mean nothing', async (t) => {
  const home = await openNoticeHome(t);
  const receiver = await startReceiver(t);
  const tag = await home.store.identity();
  for (const [store, after] of [
    ['00000000', '0.0'],
    [tag, '999.1'],
  ] as const) {
    const cursor = { after, head: null, aside: [] };
    writeFileSync(home.cursorFile, JSON.stringify({ version: 1, store, hooks: { ops: cursor } }));
    await home.record();
    const running = await home.start([aHook({ url: receiver.url })]);
    const seen = receiver.got.length;
    const place = await home.record();
    await arrived(receiver, seen + 1);
    assert.deepEqual(receiver.ids().slice(seen), [`${home.prefix}${place}`]);
    await running.close();
  }
});
