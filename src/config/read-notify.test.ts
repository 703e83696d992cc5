import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookEvents } from '../core/http/webhook-message.ts';
import { readConfig } from './read-config.ts';

const env = { KEY: 'a secret of 20 signs', SHORT: 'short', HOST: 'hooks.example.com' };

function read(one: string, given: Record<string, string> | null = env) {
  const text = `notify:\n  ops: { ${one} }\n`;
  const { config, allProblems, allWarnings } = readConfig(text, 'f', given === null ? {} : { env: given });
  const say = ({ line, column, message }: { line: number; column: number; message: string }) =>
    `${line}:${column} ${message}`;
  return { notify: config.notify, problems: allProblems().map(say), warnings: allWarnings().map(say) };
}

test('who is told is read, with what is left out', () => {
  const all = read(
    'webhook: "https://${HOST}/x", events: [POLICY_DEFER, RUNTIME_GAP], secret: "${KEY}", format: slack, link: "https://c/{approval_id}"',
  );
  assert.deepEqual([all.problems, all.warnings], [[], []]);
  assert.deepEqual(all.notify, [
    {
      via: 'webhook',
      name: 'ops',
      url: 'https://hooks.example.com/x',
      events: ['POLICY_DEFER', 'RUNTIME_GAP'],
      batchMs: 0,
      limit: null,
      secret: 'a secret of 20 signs',
      format: 'slack',
      link: 'https://c/{approval_id}',
    },
  ]);
  const least = read('webhook: "http://h", events: [COMPLETION_BLOCKED]');
  const [one] = least.notify;
  assert.ok(one?.via === 'webhook');
  assert.deepEqual([one.secret, one.format, one.link], [null, 'json', null]);
  const [limited] = read('webhook: "http://h", events: [in_doubt], batch: 30s, limit: 5/minute').notify;
  assert.deepEqual([limited?.batchMs, limited?.limit], [30_000, { messages: 5, perMs: 60_000 }]);
});

test('mail is read, with its defaults', () => {
  const mail = 'smtp: "smtps://me:${KEY}@mail.example.com", from: a@b.example, to: [c@d.example], events: [in_doubt]';
  const { notify, problems, warnings } = read(mail, { KEY: 'p%40ss' });
  assert.deepEqual([problems, warnings], [[], []]);
  assert.deepEqual(notify, [
    {
      via: 'smtp',
      name: 'ops',
      events: ['in_doubt'],
      link: null,
      batchMs: 60_000,
      limit: { messages: 60, perMs: 3_600_000 },
      server: 'smtps://me:p%40ss@mail.example.com',
      from: 'a@b.example',
      to: ['c@d.example'],
    },
  ]);
});

test('every event that can be told is accepted, and no warning says otherwise', () => {
  const { problems, warnings } = read(`webhook: "http://h", format: slack, events: [${webhookEvents.join(', ')}]`);
  assert.deepEqual([problems, warnings], [[], []]);
});

const base = 'webhook: "https://h", events: [POLICY_DEFER], secret: "${KEY}"';

const wrong: readonly (readonly [what: string, one: string, problem: string])[] = [
  ['no address', 'webhook: "https://", events: [POLICY_DEFER]', '2:19 "https://" is not usable here'],
  ['an address that cannot be read', 'webhook: "https://[", events: [POLICY_DEFER]', '2:19 this is no address'],
  ['a secret that is short', base.replace('KEY', 'SHORT'), '2:64 "${SHORT}" is not usable here'],
  ['a secret that is not set', base.replace('KEY', 'NONE'), '2:64 the environment has no NONE'],
  ['another form', `${base}, format: teams`, "2:82 'teams' is not known here"],
  ['another placeholder', `${base}, link: "https://c/{id}"`, "2:80 nothing stands for '{id}' here"],
  ['a link to nowhere', `${base}, link: "file:///x"`, '2:80 "file:///x" is not usable here'],
  ['mail without a sender', 'smtp: "smtp://h", to: [a@b.example], events: [in_doubt]', "2:3 mail needs the key 'from'"],
  ['mail to nobody', 'smtp: "smtp://h", from: a@b.example, events: [in_doubt]', "2:3 mail needs the key 'to'"],
  [
    'an address with a second line',
    'smtp: "smtp://h", from: "a@b.example\\r\\nBcc: x@y.example", to: [a@b.example], events: [in_doubt]',
    '2:34 "a@b.example\\r\\nBcc: x@y.example" is not usable here',
  ],
  [
    'a password that is not encoded',
    'smtp: "smtp://me:100%@h", from: a@b.example, to: [a@b.example], events: [in_doubt]',
    '2:16 this is no address',
  ],
  [
    'a signature for mail',
    'smtp: "smtp://h", from: a@b.example, to: [a@b.example], events: [in_doubt], secret: "${KEY}"',
    "2:86 only a webhook has 'secret'",
  ],
  ['a sender of a webhook', `${base}, from: a@b.example`, "2:74 only mail has 'from'"],
  [
    'both',
    `${base}, smtp: "smtp://h", from: a@b.example, to: [a@b.example]`,
    '2:8 webhook and smtp exclude each other',
  ],
  ['a limit without a period', `${base}, limit: 60`, '2:81 a number stands here, and a text is needed'],
  ['a code that denies nothing', 'webhook: "https://h", events: [NotFound]', "2:41 'NotFound' is not known here"],
];

for (const [what, one, problem] of wrong)
  test(`${what} is told`, () => assert.deepEqual(read(one).problems, [problem]));

test('a secret is never shown, and without an environment it is not judged', () => {
  const { problems, notify } = read(base.replace('KEY', 'SHORT'));
  assert.doesNotMatch(JSON.stringify(problems), /short/);
  assert.ok(notify[0]?.via === 'webhook');
  assert.equal(notify[0].secret, null);
  assert.deepEqual(read(base.replace('KEY', 'SHORT'), null).problems, []);
});

test('somebody who could not tell who sends is warned about', () => {
  assert.deepEqual(read('webhook: "https://h", events: [POLICY_DEFER]').warnings, [
    "2:3 'ops' has no secret: nobody there can tell that a message is from here",
  ]);
  assert.deepEqual(read('webhook: "https://h", format: slack, events: [POLICY_DEFER]').warnings, []);
});
