/** HTTP tools of a program: called through a gateway over real HTTP, typed by their schemas, refused when wrong. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { z } from 'zod';
import { createGateway, httpTool, isRefusal, isSuccess, tool } from '../../index.ts';
import { listenApi } from '../../../test/support/http/api.ts';

function fileIn(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-http-tool-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'store.db');
}

const tools = (url: string) =>
  [
    httpTool({
      name: 'refund',
      method: 'POST',
      url: `${url}/orders/{order}/refunds`,
      headers: { Authorization: 'Bearer planted-secret' },
      input: z.object({ order: z.string(), cents: z.number().int() }),
      output: z.object({ refund: z.string() }),
      effect: 'keyed',
      dedupe_window_seconds: 3_600,
    }),
    httpTool({ name: 'read', method: 'GET', url: `${url}/orders`, input: { type: 'object' } }),
    tool({ name: 'add', input: {}, run: async () => 1 }),
  ] as const;

test('a program calls HTTP tools beside functions, by their schemas', async (t) => {
  const api = await listenApi(t, ({ method }, response) => {
    response.writeHead(method === 'GET' ? 503 : 201, { 'content-type': 'application/json' });
    response.end(method === 'GET' ? '{"message":"asleep"}' : '{"refund":"re_1"}');
  });
  const gateway = await createGateway({ tools: tools(api.url), file: fileIn(t) });
  t.after(() => gateway.close());
  const done = await gateway.call({ tool: 'refund', args: { order: 'a/b', cents: 5 } });
  assert.ok(isSuccess(done));
  const refund: string = done.result.refund;
  assert.equal(refund, 're_1');
  const [heard] = api.heard;
  assert.deepEqual(
    [heard?.method, heard?.url, heard?.body, heard?.headers['idempotency-key']],
    ['POST', '/orders/a%2Fb/refunds', '{"cents":5}', done.call_id],
  );
  const wrong = await gateway.call({ tool: 'refund', args: { order: 'a', cents: 0.5 } });
  assert.ok(isRefusal(wrong));
  assert.equal(wrong.error, 'validation_failed');
  const failed = await gateway.call({ tool: 'read', args: { q: 1 } });
  assert.ok(isRefusal(failed));
  assert.deepEqual([failed.error, failed.code, failed.effect], ['action_error', 'Provider5xx', 'none']);
  assert.match(failed.message, /asleep/);
  assert.equal(api.heard.at(-1)?.url, '/orders?q=1');
  assert.ok(isSuccess(await gateway.call({ tool: 'add', args: {} })));
});

const wrong: readonly (readonly [string, object, RegExp])[] = [
  ['an unknown method', { method: 'GIT' }, /its method is unknown/],
  ['an address that is none', { url: 'orders' }, /its url is no http or https address/],
  ['a template in the host', { url: 'https://{host}/x' }, /a \{name\} outside its path/],
  ['a broken template', { url: 'https://a.example/{x' }, /is no template/],
  ['a body with GET', { method: 'GET', body: {} }, /a GET has no body/],
  ['an unknown key', { key: 'maybe' }, /its key is unknown/],
  ['a key field without a body', { method: 'DELETE', key: { field: 'k' } }, /a DELETE has no body/],
  ['an unknown rule for redirects', { redirects: 'all' }, /its redirects is unknown/],
  ['keyed without a window', { effect: 'keyed' }, /without a window/],
  ['an unknown setting', { retries: 3 }, /it has no setting 'retries'/],
  ['a limit that is none', { max_response_bytes: 0 }, /max_response_bytes is not usable/],
];

for (const [name, change, message] of wrong)
  test(`${name} is refused at once`, () => {
    const definition = { name: 'it', method: 'POST', url: 'https://a.example/x', input: {}, ...change };
    assert.throws(() => httpTool(definition as never), { name: 'ToolDefinitionError', message });
  });
