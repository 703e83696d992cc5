/** A project with HTTP APIs: loaded, checked, pinned and served without asking any of them beforehand. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openGateway } from '../../main.ts';
import { listenApi } from '../../../test/support/http/api.ts';
import { listApi } from '../upstreams/list-servers.ts';
import { checkErrors } from './check-errors.ts';
import { loadProject } from './load-project.ts';
import { servingOptions } from './serve-options.ts';

const document = JSON.stringify({
  openapi: '3.1.0',
  paths: {
    '/orders/{id}': {
      get: { operationId: 'readOrder', parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }] },
      put: {
        operationId: 'writeOrder',
        parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }],
        requestBody: { content: { 'multipart/form-data': {} } },
      },
    },
    '/orders': { post: { operationId: 'addOrder' } },
  },
});

const yaml = (url: string) => `
tools:
  shop:
    http: { url: "${url}/v1", openapi: api.json }
    tools:
      addOrder: { effect: keyed, dedupe_window: 1h, timeout: 3s }
      refund: { request: { method: POST, path: "/refunds/{order}" } }
agents:
  local: { rules: [{ permit: shop/readOrder }, { permit: shop/refund, when: args.order == "a" }] }
`;

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-apis-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

test('tools of a document and of the file are served beside each other', async (t) => {
  const api = await listenApi(t, (_, response) => response.end('ok'));
  const folder = folderWith(t, { 'recourse.yaml': yaml(api.url), 'api.json': document });
  const loaded = await loadProject({ cwd: folder });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const { project } = loaded;
  assert.deepEqual(checkErrors(project), []);
  assert.ok(project.files.includes(path.join(folder, 'api.json')));
  const entries = [...project.config.declared.values()].map(({ name, effectClass, timeoutMs }) => [
    name,
    effectClass,
    timeoutMs,
  ]);
  assert.deepEqual(entries, [
    ['shop/refund', 'plain', 30_000],
    ['shop/readOrder', 'pure', 30_000],
    ['shop/addOrder', 'keyed', 3_000],
  ]);
  assert.deepEqual(api.heard, [], 'nothing is asked beforehand');
  const who = { file: path.join(folder, 's.db'), agent: 'local', onNotice: () => undefined };
  const { recovery, ticketRules: _rules, dns: _, ...serving } = servingOptions(project, [], who);
  const opened = await openGateway({ ...serving, policy: () => project.policy }, { recovery });
  t.after(() => opened.gateway.close());
  const ask = (tool: string, args: object) =>
    opened.gateway.handle({ tool, args }) as Promise<{ error?: string; result?: unknown }>;
  assert.equal((await ask('shop/readOrder', { id: 'a' })).result, 'ok');
  assert.equal((await ask('shop/refund', { order: 'a', cents: 1 })).result, 'ok');
  assert.equal((await ask('shop/refund', { order: 'b' })).error, 'denied');
  assert.equal((await ask('shop/readOrder', {})).error, 'validation_failed');
  assert.deepEqual(
    api.heard.map(({ method, url, body }) => [method, url, body]),
    [
      ['GET', '/v1/orders/a', ''],
      ['POST', '/v1/refunds/a', '{"cents":1}'],
    ],
  );
  assert.deepEqual(
    opened.upstreams.status().map(({ name, state, tools, leftOut }) => [name, state, tools, leftOut]),
    [['shop', 'connected', 3, [{ tool: 'writeOrder', reason: 'its body is multipart/form-data' }]]],
  );
});

test('the lock holds what is declared about each tool', async (t) => {
  const folder = folderWith(t, { 'recourse.yaml': yaml('http://127.0.0.1:9'), 'api.json': document });
  const loaded = await loadProject({ cwd: folder });
  assert.ok(loaded.ok);
  const [api] = loaded.project.apis;
  assert.ok(api);
  const { tools, leftOut } = listApi(api);
  assert.deepEqual([...tools.keys()], ['refund', 'readOrder', 'addOrder']);
  assert.deepEqual(leftOut, ['shop/writeOrder: its body is multipart/form-data']);
  assert.match(tools.get('refund')?.sha256 ?? '', /^[0-9a-f]{64}$/);
  assert.deepEqual(tools.get('readOrder')?.inputSchema['required'], ['id']);
  assert.ok(readFileSync(path.join(folder, 'api.json'), 'utf8').length > 0);
});

const wrong: readonly (readonly [string, string, RegExp])[] = [
  ['a document that is not there', 'openapi: none.json', /the document 'none.json': this file does not exist/],
  ['a document that is none', 'openapi: recourse.yaml', /cannot be used: this is no OpenAPI 3 document/],
  ['operations that are not there', 'openapi: { file: api.json, operations: [reed*] }', /is called 'reed\*'/],
];

for (const [name, openapi, message] of wrong)
  test(`${name} is a problem with its line`, async (t) => {
    const text = `tools:\n  shop:\n    http:\n      url: http://x\n      ${openapi}\n`;
    const loaded = await loadProject({ cwd: folderWith(t, { 'recourse.yaml': text, 'api.json': document }) });
    assert.ok(!loaded.ok);
    assert.match(loaded.problems[0]?.message ?? '', message);
    assert.equal(loaded.problems[0]?.line, 5);
  });

test('a rule that fits no operation is a problem', async (t) => {
  const text = yaml('http://x').replace('addOrder', 'addOrdr');
  const loaded = await loadProject({ cwd: folderWith(t, { 'recourse.yaml': text, 'api.json': document }) });
  assert.ok(!loaded.ok);
  assert.match(loaded.problems[0]?.message ?? '', /no operation of 'api.json' is called 'addOrdr'/);
});
