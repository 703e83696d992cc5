/** Mail as people get it: a real journal and a real mail server that takes, refuses, is away or never answers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { type MailReceiver, startMailReceiver } from './mail-receiver.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { aHook, aMailing, openNoticeHome, quickLimits } from '../../support/notice-home.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';

const arrived = (server: MailReceiver, count: number) =>
  eventually(`${count} mails`, async () => server.got.length >= count);
const denied = { kind: 'refused', body: { code: 'POLICY_DENY', tool: 'stripe/refund' } } as const;

test('[C8-notice-1] a mail says what happened, about whom, and where a person finds it, and shows no arguments', async (t) => {
  const home = await openNoticeHome(t);
  const server = await startMailReceiver(t);
  await home.start([
    aMailing({ server: server.url(), link: 'https://c/{approval_id}', to: ['a@x.example', 'b@x.example'] }),
  ]);
  const position = await home.record();
  await arrived(server, 1);
  const [{ from, to, headers, text } = assert.fail()] = server.got;
  assert.deepEqual([from, to], ['recourse@example.com', ['a@x.example', 'b@x.example']]);
  assert.equal(headers.get('subject'), '[recourse] Approval wanted');
  assert.equal(headers.get('message-id'), `<${home.prefix}${position}.people@example.com>`);
  assert.equal(headers.get('auto-submitted'), 'auto-generated');
  assert.match(String(headers.get('content-type')), /^text\/plain/);
  for (const line of ['tool: stripe/refund', 'agent: bot', 'approval: apr_1', 'link: https://c/apr_1'])
    assert.ok(text.includes(`  ${line}\r\n`), text);
  assert.doesNotMatch(text, /ord_1|amount/);
});

test('[C8-notice-4] events within batch are one mail, from the record of the first on; the next begin another', async (t) => {
  const home = await openNoticeHome(t);
  const server = await startMailReceiver(t);
  const clock = createManualClock(Date.now());
  const limits = { ...quickLimits, maxListed: 2, closeGraceMs: 0 };
  const notices = await home.start([aMailing({ server: server.url(), batchMs: 3_600_000 })], { clock, limits });
  const first = await home.record();
  for (let count = 0; count < 3; count++) await home.record(denied);
  const last = await home.record({
    kind: 'breaker_opened',
    body: { upstream: 'pay', why: '5xx', retry_after_seconds: 30 },
  });
  const turn = async (ms: number) => {
    await eventually('it rests', async () => clock.waiting() > 0);
    clock.forward(ms);
  };
  for (let count = 0; count < 20; count++) await turn(quickLimits.pollMs);
  assert.equal(server.tried.length, 0, 'it collects');
  await turn(3_600_000);
  await eventually('the mail', async () => {
    clock.forward(quickLimits.pollMs);
    return server.got.length === 1;
  });
  const [{ headers, text } = assert.fail()] = server.got;
  assert.equal(headers.get('subject'), '[recourse] 5 events: 3 POLICY_DENY, 1 breaker_opened, 1 POLICY_DEFER');
  assert.equal(headers.get('message-id'), `<${home.prefix}${first}-${last}.people@example.com>`);
  assert.match(text, /And 3 more that are only counted: 2 POLICY_DENY, 1 breaker_opened\./);
  const closing = notices.close();
  clock.forward(1);
  await closing;
});

for (const [name, code, stage] of [
  ['451 at DATA', 451, 'data'],
  ['450 at RCPT', 450, 'to'],
  ['452 at MAIL', 452, 'from'],
  ['535 at the login, which an operator can mend', 535, 'login'],
] as const)
  test(`[C8-notice-3] ${name}: the same mail is tried again until it is taken`, async (t) => {
    const home = await openNoticeHome(t);
    const server = await startMailReceiver(t);
    let refusals = 3;
    server.answer((at) => (at === stage && refusals-- > 0 ? code : null));
    await home.start([aMailing({ server: server.url('user:pa%40ss') })]);
    await home.record();
    await arrived(server, 1);
    assert.equal(new Set(server.tried.map(({ raw }) => raw)).size, 1, 'byte for byte');
    assert.equal(server.logins.at(-1), 'user:pa@ss');
    await eventually('it is told', async () => home.troubles.length === 2);
    assert.match(home.troubles[0] ?? '', new RegExp(`^mail 'people' did not take .*SMTP ${code} at `));
    assert.deepEqual(home.givenUp, []);
  });

for (const [name, code, stage] of [
  ['550 at RCPT', 550, 'to'],
  ['554 at DATA', 554, 'data'],
  ['553 at MAIL', 553, 'from'],
] as const)
  test(`[C8-notice-8] ${name}: the mail is dropped, loudly and on record, and the next one goes out`, async (t) => {
    const home = await openNoticeHome(t);
    const server = await startMailReceiver(t);
    let refusals = 1;
    server.answer((at) => (at === stage && refusals-- > 0 ? code : null));
    await home.start([aMailing({ server: server.url() })]);
    const dropped = await home.record();
    await eventually('it is given up', async () => home.givenUp.length === 1);
    assert.match(
      home.givenUp[0] ?? '',
      new RegExp(`^the message about ${dropped} to mail 'people': given up after 1 try.*${code}`),
    );
    assert.match(home.troubles[0] ?? '', /^mail 'people' was not told of/);
    const next = await home.record();
    await arrived(server, 1);
    assert.match(server.got[0]?.headers.get('message-id') ?? '', new RegExp(`_${next}\\.`));
    for (const said of [...home.troubles, ...home.givenUp]) assert.doesNotMatch(said, /@|127\.0/);
  });

test('[C8-notice-3] those who took a mail do not get it again with those who did not; who never will is told', async (t) => {
  const home = await openNoticeHome(t);
  const server = await startMailReceiver(t);
  let refusals = 2;
  server.answer((stage, address) => {
    if (stage !== 'to') return null;
    if (address.startsWith('gone')) return 550;
    return address.startsWith('later') && refusals-- > 0 ? 450 : null;
  });
  const to = ['now@x.example', 'later@x.example', 'gone@x.example'];
  await home.start([aMailing({ server: server.url(), to })]);
  await home.record();
  await arrived(server, 2);
  assert.deepEqual(
    server.got.map((mail) => mail.to),
    [['now@x.example'], ['later@x.example']],
  );
  await eventually('it is told', async () => home.givenUp.length === 1);
  assert.match(home.givenUp[0] ?? '', /1 of 3 addresses were refused \(SMTP 550\)/);
});

test('[C8-notice-3] a server that was away gets everything, in order, once it is back', async (t) => {
  const home = await openNoticeHome(t);
  const server = await startMailReceiver(t);
  await server.stop();
  await home.start([aMailing({ server: server.url() })]);
  const places = [await home.record(), await home.record(denied)];
  await eventually('it was tried', async () => home.troubles.some((each) => each.includes('ECONNREFUSED')));
  await server.start();
  await arrived(server, 2);
  assert.deepEqual(
    server.got.map(({ headers }) => headers.get('message-id')),
    places.map((place) => `<${home.prefix}${place}.people@example.com>`),
  );
});

test('[C8-notice-3] a batch that was cut off by a restart is the same mail afterwards, whatever happened since', async (t) => {
  const home = await openNoticeHome(t);
  const server = await startMailReceiver(t);
  const onDisk: string[] = [];
  server.answer((stage) => {
    if (stage === 'data') onDisk.push(readFileSync(home.cursorFile, 'utf8'));
    return stage === 'data' ? 451 : null;
  });
  const mailing = aMailing({ server: server.url(), batchMs: 1 });
  // It begins here, and finds both events when it is started again.
  await (await home.start([mailing])).close();
  await home.record();
  await home.record(denied);
  const first = await home.start([mailing]);
  await eventually('it was tried', async () => server.tried.length >= 1);
  const [{ raw, headers } = assert.fail()] = server.tried;
  assert.equal(headers.get('subject'), '[recourse] 2 events: 1 POLICY_DEFER, 1 POLICY_DENY');
  assert.match(onDisk[0] ?? '', /"through"/, 'its extent is on disk before it is sent');
  await first.close();
  assert.match(readFileSync(home.cursorFile, 'utf8'), /"head":\{"at"/);
  await home.record(denied);
  server.answer(() => null);
  await home.start([mailing]);
  await arrived(server, 2);
  assert.equal(server.got[0]?.raw, raw, 'the same extent, under the same id');
});

test('[C8-notice-6] what agents and tools wrote reaches no header and makes no line of its own', async (t) => {
  const home = await openNoticeHome(t);
  const server = await startMailReceiver(t);
  await home.start([aMailing({ server: server.url() })]);
  const evil = 'x\r\nBcc: evil@example.com\r\n\r\n.\r\nMAIL FROM:<evil@example.com>\u202e';
  const body = { code: 'POLICY_DENY', tool: evil, agent: evil, tenant: evil };
  await home.record({ kind: 'refused', body, reply: { human_message: evil } });
  await home.record({ kind: 'breaker_opened', body: { upstream: evil, why: evil } });
  await home.record({ kind: 'runtime_gap', body: { kind: 'unknown_method', subject: evil, agent: evil } });
  await arrived(server, 3);
  for (const { headers, headerNames, text, to } of server.got) {
    assert.deepEqual(to, ['ada@example.com']);
    assert.deepEqual(headerNames.toSorted(), [
      'auto-submitted',
      'content-transfer-encoding',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ]);
    assert.doesNotMatch([...headers.values()].join('\n'), /evil/);
    assert.ok(text.includes('x\\r\\nBcc'), text);
    assert.doesNotMatch(text, /^(?:Bcc|MAIL FROM|\.)|\u202e/m);
  }
  assert.equal(server.tried.length, 3);
});

for (const [name, options, tls] of [
  ['without TLS', {}, /ETLS|502|SMTP/],
  ['with a certificate that nobody vouches for', { disabledCommands: [] as string[] }, /./],
] as const)
  test(`[C8-notice-7] a password goes to no server ${name}, except on this machine`, async (t) => {
    const home = await openNoticeHome(t);
    const server = await startMailReceiver(t, { ...options });
    // Reaches this machine, and is no address of the loopback.
    await home.start([aMailing({ server: server.url('user:password', '0.0.0.0') })]);
    await home.record();
    await eventually('it was tried', async () => home.troubles.length > 0);
    assert.match(home.troubles[0] ?? '', tls);
    assert.deepEqual([server.logins, server.tried], [[], []]);
    await home.start([aMailing({ name: 'local', server: server.url('user:password') })]);
    await home.record();
    await arrived(server, 1);
    assert.deepEqual(server.logins, ['user:password']);
  });

test('[C8-notice-5] a server that takes the connection and never answers delays nobody, and its time ends', async (t) => {
  const home = await openNoticeHome(t);
  let connections = 0;
  const mute = createServer(() => void (connections += 1));
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  t.after(() => mute.close());
  const hook = await startReceiver(t);
  const server = `smtp://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const limits = { ...quickLimits, notifierTimeoutMs: 50 };
  await home.start([aMailing({ server }), aHook({ url: hook.url })], { limits });
  for (let count = 0; count < 3; count++) await home.record();
  await eventually('the hook has all', async () => hook.got.length === 3);
  await eventually('it was tried again', async () => connections >= 2);
  assert.match(home.troubles[0] ?? '', /not taken within 0\.05 seconds/);
});

test('[C8-notice-4] beyond the limit events wait, and are told in one message; none is lost', async (t) => {
  const home = await openNoticeHome(t);
  const [server, hook] = [await startMailReceiver(t), await startReceiver(t)];
  const clock = createManualClock(Date.now());
  const limit = { messages: 2, perMs: 60_000 };
  const limits = { ...quickLimits, closeGraceMs: 0, maxListed: 3 };
  const events = ['POLICY_DEFER', 'POLICY_DENY'];
  const subscribers = [aMailing({ server: server.url(), limit }), aHook({ url: hook.url, limit, events })];
  const tick = (what: string, look: () => boolean) =>
    eventually(what, async () => {
      clock.forward(quickLimits.pollMs);
      return look();
    });
  const notices = await home.start(subscribers, { clock, limits });
  for (let count = 0; count < 2; count++) await home.record();
  await tick('two each', () => server.got.length === 2 && hook.got.length === 2);
  for (let count = 0; count < 5; count++) await home.record(denied);
  for (let count = 0; count < 30; count++) {
    await eventually('it rests', async () => clock.waiting() >= 2);
    clock.forward(quickLimits.pollMs);
  }
  assert.deepEqual([server.got.length, hook.got.length], [2, 2], 'the limit holds');
  clock.forward(60_000);
  await tick('one more each', () => server.got.length === 3 && hook.got.length === 3);
  assert.equal(server.got[2]?.headers.get('subject'), '[recourse] 5 events: 5 POLICY_DENY');
  const { message, headers } = hook.got[2] ?? assert.fail();
  assert.deepEqual(
    [message.batch?.count, message.batch?.others.length, message.batch?.omitted],
    [5, 2, { POLICY_DENY: 2 }],
  );
  assert.equal(headers['recourse-id'], message.id);
  const closing = notices.close();
  clock.forward(1);
  await closing;
});
