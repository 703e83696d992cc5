/** What an extension can ask over HTTP: within limits, held to egress rules, with what is certain about its sending. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { listenApi } from '../../../test/support/http/api.ts';
import { createHttpAsker } from '../../adapters/shared/ask-http.ts';
import { compileList } from '../../core/egress/egress-list.ts';
import type { HostRequest } from '../../extension/host.ts';
import { createHostHttp } from './create-host.ts';

async function open(t: TestContext, body = 'hello', answers = true) {
  const api = await listenApi(t, (_, response) => {
    if (answers) response.writeHead(201, { 'X-Odd': 'one' }).end(body);
  });
  const asker = createHttpAsker();
  t.after(() => asker.close());
  const http = createHostHttp(async () => asker);
  const ask = (more: Partial<HostRequest> = {}, signal = new AbortController().signal) =>
    http.request({ method: 'GET', url: api.url, ...more }, signal);
  return { api, ask };
}

test('an answer is told whole, with its headers in lower case', async (t) => {
  const { ask } = await open(t);
  const answer = await ask();
  assert.ok(answer.ok);
  assert.deepEqual([answer.status, answer.headers['x-odd'], answer.body], [201, 'one', 'hello']);
});

test('an answer that is too long is not read, and was sent', async (t) => {
  const { ask } = await open(t, 'x'.repeat(1_000));
  const answer = await ask({ maxBytes: 100 });
  assert.deepEqual(!answer.ok && [answer.why, answer.sent], ['too_long', true]);
});

test('one that does not come ends by its time, or by its asker', async (t) => {
  const { api, ask } = await open(t, '', false);
  const late = await ask({ timeoutMs: 20 });
  assert.deepEqual(!late.ok && [late.why, late.sent], ['timeout', true]);
  const stop = new AbortController();
  const asking = ask({}, stop.signal);
  while (api.heard.length < 2) await new Promise((resolve) => void setImmediate(resolve));
  stop.abort();
  const stopped = await asking;
  assert.deepEqual(!stopped.ok && [stopped.why, stopped.sent], ['stopped', true]);
});

test('what cannot be sent is known not to have been sent', async (t) => {
  const { api, ask } = await open(t);
  await api.stop();
  for (const more of [{}, { url: 'nonsense' }, { url: 'file:///etc/passwd' }, { headers: { 'x y': 'z' } }]) {
    const answer = await ask(more);
    assert.deepEqual(!answer.ok && [answer.why, answer.sent], ['unreachable', false], JSON.stringify(more));
    assert.ok(!answer.ok && !answer.reason.includes('127.0.0.1'));
  }
});

test('with the egress rules of an attempt a connection holds to them', async (t) => {
  const { api, ask } = await open(t);
  for (const egress of [compileList(['example.com']), null]) {
    const denied = await ask({ egress });
    assert.deepEqual(!denied.ok && [denied.why, denied.sent], ['denied', false]);
  }
  assert.equal(api.heard.length, 0);
  assert.equal((await ask({ egress: compileList(['127.0.0.1']) })).ok, true);
});
