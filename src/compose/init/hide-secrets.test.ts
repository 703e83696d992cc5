import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createHider, type Hider, type HiderParts } from './hide-secrets.ts';

function hiderOf(server = 'git-hub') {
  const variables: HiderParts['variables'] = new Map();
  const hider = createHider({ server, folder: '/project', home: '/srv/ann', variables });
  return { hider, variables, names: () => [...variables.keys()] };
}

describe('what of a server is copied', () => {
  const cases: readonly (readonly [says: string, hide: (hider: Hider) => unknown, text: unknown])[] = [
    [
      'a flag, a number, a level',
      (h) => [h.env('A', 'true'), h.env('B', '8080'), h.env('LOG_LEVEL', 'debug')],
      ['true', '8080', 'debug'],
    ],
    [
      'a path and an address',
      (h) => [h.env('DIR', '/srv/data'), h.env('API', 'https://api.example.com/v1')],
      ['/srv/data', 'https://api.example.com/v1'],
    ],
    [
      'ordinary arguments',
      (h) => h.args(['-y', '@scope/server-files@1.2.3', '/srv/ann/Documents', '--verbose']),
      ['-y', '@scope/server-files@1.2.3', '/srv/ann/Documents', '--verbose'],
    ],
    [
      'an address',
      (h) => h.url('https://mcp.example.com/v1/mcp?mode=http'),
      'https://mcp.example.com/v1/mcp?mode=http',
    ],
    ['signs that would stand for a variable are escaped', (h) => h.args(['a${', 'b${ c']), ['a$${', 'b$${ c']],
    [
      'variables of the client are ours, or what they stand for',
      (h) => h.args(['${workspaceFolder}/x', '${userHome}', '${env:REGION}', '${ROOT:-/srv}']),
      ['/project/x', '/srv/ann', '${REGION}', '${ROOT}'],
    ],
    [
      'what nobody knows here cannot be expressed',
      (h) => [h.args(['${command:pick}']), h.url('https://u:p@example.com/mcp')],
      [null, null],
    ],
  ];
  for (const [says, hide, text] of cases) test(says, () => assert.deepEqual(hide(hiderOf().hider), text));
});

describe('what of a server is hidden', () => {
  const cases: readonly (readonly [
    says: string,
    hide: (hider: Hider) => unknown,
    text: unknown,
    names: readonly string[],
  ])[] = [
    ['a value under a name that says so', (h) => h.env('DB_PASS', 'debug'), '${DB_PASS}', ['DB_PASS']],
    ['a word that nobody knows', (h) => h.env('WHO', 'hunter'), '${WHO}', ['WHO']],
    ['an address with a login', (h) => h.env('DATABASE', 'postgres://ann:pw@db/x'), '${DATABASE}', ['DATABASE']],
    [
      'the value after a flag',
      (h) => h.args(['--api-key', 'abc']),
      ['--api-key', '${GIT_HUB_API_KEY}'],
      ['GIT_HUB_API_KEY'],
    ],
    ['the value in a flag', (h) => h.args(['--token=abc']), ['--token=${GIT_HUB_TOKEN}'], ['GIT_HUB_TOKEN']],
    [
      'an assignment, by its own name',
      (h) => h.args(['-e', 'GH_TOKEN=abc']),
      ['-e', 'GH_TOKEN=${GH_TOKEN}'],
      ['GH_TOKEN'],
    ],
    [
      'a header among the arguments',
      (h) => h.args(['--header', 'Authorization: Bearer abc']),
      ['--header', 'Authorization:Bearer ${GIT_HUB_AUTHORIZATION}'],
      ['GIT_HUB_AUTHORIZATION'],
    ],
    [
      'a login among the arguments',
      (h) => h.args(['postgres://ann:pw@db/x']),
      ['postgres://${GIT_HUB_LOGIN}@db/x'],
      ['GIT_HUB_LOGIN'],
    ],
    [
      'a header',
      (h) => h.header('Authorization', 'Bearer abc'),
      'Bearer ${GIT_HUB_AUTHORIZATION}',
      ['GIT_HUB_AUTHORIZATION'],
    ],
    [
      'a parameter',
      (h) => h.url('https://x.example/mcp?key=abc&v=1'),
      'https://x.example/mcp?key=${GIT_HUB_KEY}&v=1',
      ['GIT_HUB_KEY'],
    ],
    ['what a client asks for', (h) => h.env('T', '${input:my-token}'), '${MY_TOKEN}', ['MY_TOKEN']],
  ];
  for (const [says, hide, text, names] of cases)
    test(says, () => {
      const made = hiderOf();
      assert.deepEqual(hide(made.hider), text);
      assert.deepEqual(made.names(), names);
    });

  test('one name stands for one value', () => {
    const { hider, names } = hiderOf();
    assert.equal(hider.env('TOKEN', 'one'), '${TOKEN}');
    assert.equal(hider.env('TOKEN', 'one'), '${TOKEN}');
    assert.equal(hider.env('TOKEN', 'two'), '${GIT_HUB_TOKEN}');
    assert.equal(hider.env('TOKEN', 'three'), '${TOKEN_2}');
    assert.deepEqual(names(), ['TOKEN', 'GIT_HUB_TOKEN', 'TOKEN_2']);
  });
});

/** As services make them: long, of letters of both sorts and digits, or in a form that is known. */
const secret = fc.oneof(
  fc
    .stringMatching(/^[A-Za-z0-9_-]{24,40}$/)
    .filter((text) => /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text)),
  fc.stringMatching(/^(?:sk-|ghp_|xoxb-|glpat-)[A-Za-z0-9]{16,30}$/),
  fc.stringMatching(/^[0-9a-f]{32}$/).filter((text) => /\d/.test(text) && /[a-f]/.test(text)),
  fc.uuid(),
);
const place: fc.Arbitrary<(hider: Hider, text: string) => unknown> = fc.constantFrom<
  ((hider: Hider, text: string) => unknown)[]
>(
  (h, text) => h.env('ANYTHING', text),
  (h, text) => h.env('ANYTHING', `Bearer ${text}`),
  (h, text) => h.env('ANYTHING', `https://hooks.example.com/${text}`),
  (h, text) => h.env('ANYTHING', `prefix \${OTHER} ${text}`),
  (h, text) => h.args([text]),
  (h, text) => h.args(['--anything', text]),
  (h, text) => h.args([`--anything=${text}`]),
  (h, text) => h.args(['-c', `curl -H 'X-Thing: ${text}' https://x.example/${text}`]),
  (h, text) => h.header('X-Anything', text),
  (h, text) => h.url(`https://mcp.example.com/s/${text}/mcp`),
  (h, text) => h.url(`https://mcp.example.com/mcp?anything=${text}`),
);

test('INVARIANT: a secret as services make them is never copied, wherever it stands', () => {
  fc.assert(
    fc.property(secret, place, (text, put) => {
      const { hider, variables } = hiderOf();
      const written = JSON.stringify(put(hider, text));
      assert.ok(!written.includes(text), written);
      assert.ok(variables.size > 0);
      for (const { name, meaning } of variables.values()) assert.ok(!name.includes(text) && !meaning.includes(text));
    }),
    { seed: 4, numRuns: 2_000 },
  );
});
