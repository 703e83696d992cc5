import assert from 'node:assert/strict';
import { test } from 'node:test';
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
      name: 'ops',
      url: 'https://hooks.example.com/x',
      events: ['POLICY_DEFER', 'RUNTIME_GAP'],
      secret: 'a secret of 20 signs',
      format: 'slack',
      link: 'https://c/{approval_id}',
    },
  ]);
  const least = read('webhook: "http://h", events: [COMPLETION_BLOCKED]');
  const { secret, format, link } = least.notify[0] ?? assert.fail('there is one');
  assert.deepEqual([secret, format, link], [null, 'json', null]);
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
  ['a code that denies nothing', 'webhook: "https://h", events: [NotFound]', "2:41 'NotFound' is not known here"],
];

for (const [what, one, problem] of wrong)
  test(`${what} is told`, () => assert.deepEqual(read(one).problems, [problem]));

test('a secret is never shown, and without an environment it is not judged', () => {
  const { problems, notify } = read(base.replace('KEY', 'SHORT'));
  assert.doesNotMatch(JSON.stringify(problems), /short/);
  assert.equal(notify[0]?.secret, null);
  assert.deepEqual(read(base.replace('KEY', 'SHORT'), null).problems, []);
});

test('somebody who could not tell who sends is warned about, and of what nobody is told yet', () => {
  assert.deepEqual(read('webhook: "https://h", events: [POLICY_DEFER]').warnings, [
    "2:3 'ops' has no secret: nobody there can tell that a message is from here",
  ]);
  assert.deepEqual(read('webhook: "https://h", format: slack, events: [POLICY_DEFER]').warnings, []);
  assert.deepEqual(read(base.replace('[POLICY_DEFER', '[POLICY_DEFER, RATE_EXCEEDED')).warnings, [
    '2:55 RATE_EXCEEDED: read and checked; nobody is told about it by this version yet',
  ]);
});
