/** What `check` says of credentials without asking anybody: places, problems and warnings. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { folder } from '../../../test/support/recourse-process.ts';
import { writeLock } from '../../config/lock.ts';
import { loadProject } from './load-project.ts';

const upstreams = `tools:
  pay: { http: { url: "http://127.0.0.1:1" }, tools: { refund: { request: { method: POST, path: /r } } } }
  shop: { mcp: { command: shop } }
  remote: { mcp: { url: "http://127.0.0.1:2/mcp" } }
credentials:
`;

const one = (match: string, inject: string, source = 'env: { name: PLANTED }'): string =>
  `  it: { ${source}, match: [${match}], inject: { ${inject} } }\n`;

/** What is written, whether shop is pinned, and what is told; null if nothing is. */
const cases: readonly (readonly [string, string, boolean, string | null])[] = [
  ['a header of an HTTP API', one('pay/*', 'header: X-Key'), false, null],
  ['a query of an HTTP API', one('pay/refund', 'query: key'), false, null],
  [
    'a header that frames the message',
    one('pay/*', 'header: Transfer-Encoding'),
    false,
    'problem 6 the header Transfer-Encoding belongs to the connection',
  ],
  [
    'meta and env of a program',
    `${one('shop/*', 'meta: k')}${one('shop/*', 'env: K').replace('it:', 'two:')}`,
    false,
    null,
  ],
  ['a header of a server at an address', one('remote/**', 'header: X-Key'), false, null],
  [
    'env of an HTTP API',
    one('pay/*', 'env: K'),
    false,
    "problem 6 the credential 'it' goes into env, and 'pay' is an HTTP API",
  ],
  [
    'meta of an HTTP API',
    one('pay/*', 'meta: k'),
    false,
    "problem 6 the credential 'it' goes into meta, and 'pay' is an HTTP API",
  ],
  [
    'a query of a program',
    one('shop/*', 'query: k'),
    false,
    "problem 6 the credential 'it' goes into query, and 'shop' is a program",
  ],
  ['a header of a program', one('shop/sell', 'header: X-K'), false, "problem 6 the credential 'it' goes into header"],
  [
    'env of a server at an address',
    one('remote/*', 'env: K'),
    false,
    "problem 6 the credential 'it' goes into env, and 'remote'",
  ],
  [
    'a tool that an API does not have',
    one('pay/other', 'header: X-Key'),
    false,
    "warning 6 nobody uses the credential 'it'",
  ],
  ['a server that is not there', one('shopp/*', 'meta: k'), false, "warning 6 nobody uses the credential 'it'"],
  [
    'a tool that a pinned server does not have',
    one('shop/other', 'meta: k'),
    true,
    "warning 6 nobody uses the credential 'it'",
  ],
  ['a tool that a pinned server has', one('shop/sell', 'meta: k'), true, null],
  [
    'a variable that is not set',
    one('pay/*', 'header: X-Key', 'env: { name: NOT_SET_HERE }'),
    false,
    "warning 6 the credential 'it' is missing: the environment has no NOT_SET_HERE",
  ],
  [
    'a file that is not there',
    one('pay/*', 'header: X-Key', 'file: { path: ./no.key }'),
    false,
    "warning 6 the credential 'it' is missing: there is no such file",
  ],
  ['a file beside the configuration', one('pay/*', 'header: X-Key', 'file: { path: ./there.key }'), false, null],
  [
    'an unknown key',
    one('pay/*', 'header: X-Key', 'env: { name: PLANTED, nam: x }'),
    false,
    "problem 6 there is no key 'nam' here",
  ],
  [
    'two providers',
    one('pay/*', 'header: X-Key', 'env: { name: A }, file: { path: b }'),
    false,
    'problem 6 env and file exclude each other',
  ],
  [
    'no provider',
    one('pay/*', 'header: X-Key', 'timeout: 1s'),
    false,
    'problem 6 one of env, file, exec, vault, oauth, device, extension is missing',
  ],
  [
    'a value without the secret',
    one('pay/*', 'header: X-Key, value: abc'),
    false,
    'problem 6 "abc" is not usable here',
  ],
  [
    'a role without its secret',
    one('pay/*', 'header: X-Key', 'vault: { address: "http://x", path: p, field: f, role_id: r }'),
    false,
    'problem 6 role_id stands without secret_id',
  ],
];

for (const [name, written, isPinned, told] of cases)
  test(`${name}: ${told ?? 'fine'}`, async (t) => {
    const cwd = folder(t);
    writeFileSync(path.join(cwd, 'recourse.yaml'), `${upstreams}${written}`);
    writeFileSync(path.join(cwd, 'there.key'), 'plantedSecret');
    const sell = {
      description: null,
      inputSchema: { type: 'object' },
      outputSchema: null,
      annotations: null,
      sha256: '0'.repeat(64),
    };
    const servers = new Map([
      ['shop', new Map([['sell', sell]])],
      ['remote', new Map()],
    ]);
    if (isPinned) writeFileSync(path.join(cwd, 'recourse.lock'), writeLock({ version: 1, servers }));
    const loaded = await loadProject({ cwd, env: { PLANTED: 'plantedSecret' } });
    const problems = loaded.ok ? [] : loaded.problems.map(({ line, message }) => `problem ${line} ${message}`);
    const { warnings } = loaded.ok ? loaded.project : loaded;
    const all = [...problems, ...warnings.map(({ line, message }) => `warning ${line} ${message}`)];
    const own = all.filter((each) => !each.includes('recourse.lock'));
    assert.equal(own.length > 0, told !== null, own.join('\n'));
    if (told !== null)
      assert.ok(
        own.some((each) => each.startsWith(told)),
        own.join('\n'),
      );
  });
