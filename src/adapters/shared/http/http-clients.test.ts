import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenApi, targetOf, toolOf, upstreamOf } from '../../../../test/support/http/api.ts';
import { compileList } from '../../../core/egress/egress-list.ts';
import { systemResolver } from '../node-resolver.ts';
import { defaultClientLimits } from './client-limits.ts';
import { createClients } from './http-clients.ts';

test('each list has its own client, and the same list always the same one', async (t) => {
  const clients = createClients(defaultClientLimits, systemResolver, { host: 'a.test', port: 80 });
  t.after(clients.close);
  const one = clients.of(compileList(['a.test', 'b.test']));
  assert.equal(clients.of(compileList(['b.test', 'a.test'])), one);
  assert.notEqual(clients.of(compileList(['a.test'])), one);
  assert.notEqual(clients.of(null), one);
});

test('clients are bounded: the one that was used longest ago gives way', async (t) => {
  const clients = createClients(defaultClientLimits, systemResolver, { host: 'a.test', port: 80 });
  t.after(clients.close);
  const [first, second] = [clients.of(compileList(['first.test'])), clients.of(compileList(['second.test']))];
  for (let at = 0; at < 30; at++) clients.of(compileList([`h${at}.test`]));
  assert.equal(clients.of(compileList(['first.test'])), first);
  clients.of(compileList(['one.more.test']));
  assert.equal(clients.of(compileList(['first.test'])), first);
  assert.notEqual(clients.of(compileList(['second.test'])), second);
});

test('a kept connection that one list allowed is not used under a list that does not', async (t) => {
  const api = await listenApi(t, (_, response) => response.end('in'));
  const invoke = upstreamOf(t, targetOf(api.url), toolOf({ method: 'GET' }, { effectClass: 'pure' }));
  const under = (...allow: readonly string[]) => invoke({}, undefined, { attempt: { egress: compileList(allow) } });
  assert.equal((await under('127.0.0.1')).kind, 'returned');
  const refused = await under('a.test');
  assert.deepEqual(
    refused.kind === 'failed' && [refused.failure.kind, refused.failure.subject, refused.failure.effect],
    ['never_sent', 'egress', 'none'],
  );
  assert.equal((await under('127.0.0.1')).kind, 'returned');
  assert.equal(api.heard.length, 2);
});
