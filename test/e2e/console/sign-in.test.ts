/** Signing in to the console over HTTP, as browsers do, as pages of others would, and as people who may only look. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createConsoleSessions, defaultConsoleLimits } from '../../../src/compose/console/console-sessions.ts';
import { type OpenedHttp, openHttp, type Sent } from '../http/open-http.ts';

const at = '/v1/console/session';

interface Browser {
  readonly http: OpenedHttp;
  readonly origin: string;
  readonly cookie: string;
  ask(method: string, path: string, sent?: Sent): ReturnType<OpenedHttp['ask']>;
}

async function linkOf(http: OpenedHttp, key: string): Promise<string> {
  const made = await http.ask('POST', '/v1/console/links', { key, body: {} });
  assert.equal(made.status, 200, made.text);
  const code = /^\/#\/signin\/([\w-]{40,})$/.exec(String(made.body['path']))?.[1];
  assert.ok(code !== undefined, made.text);
  return code;
}

async function signedIn(t: TestContext, role: 'viewer' | 'approver' | 'admin'): Promise<Browser> {
  const http = await openHttp(t);
  const origin = http.url.origin;
  const code = await linkOf(http, http.keys[role]);
  const entered = await http.ask('POST', at, { key: null, body: { code }, headers: { origin } });
  assert.equal(entered.status, 200, entered.text);
  const [set = ''] = entered.headers['set-cookie'] ?? [];
  assert.match(
    set,
    new RegExp(`^recourse_${http.url.port}=[\\w-]{40,}; Path=/; HttpOnly; SameSite=Strict; Max-Age=\\d+$`),
  );
  const [cookie = ''] = set.split(';');
  const ours = { cookie, 'recourse-console': '1', origin };
  return {
    http,
    origin,
    cookie,
    ask: (method, path, sent = {}) =>
      http.ask(method, path, { ...sent, key: null, headers: { ...ours, ...sent.headers } }),
  };
}

test('[C8-console-1] a link opens the console once, as the holder of the key that asked for it', async (t) => {
  const http = await openHttp(t);
  const code = await linkOf(http, http.keys.viewer);
  const entered = await http.ask('POST', at, { key: null, body: { code } });
  const { name, role, may } = entered.body;
  assert.deepEqual({ name, role, may }, { name: 'vera', role: 'viewer', may: ['look_own', 'look', 'evaluate'] });
  const again = await http.ask('POST', at, { key: null, body: { code } });
  assert.equal(again.status, 401);
  assert.match(String(again.body['detail']), /recourse console prints another/);
  assert.equal(again.headers['set-cookie'], undefined);
});

test('[C8-console-1] of two who come at once with one code, one gets in', async (t) => {
  const http = await openHttp(t);
  const code = await linkOf(http, http.keys.admin);
  const all = await Promise.all([1, 2, 3].map(() => http.ask('POST', at, { key: null, body: { code } })));
  assert.deepEqual(all.map(({ status }) => status).toSorted(), [200, 401, 401]);
});

test('a key of a person opens it too; that of an agent, a wrong one, and two at once do not', async (t) => {
  const http = await openHttp(t);
  const statusOf = async (body: object) => (await http.ask('POST', at, { key: null, body })).status;
  assert.equal(await statusOf({ key: http.keys.approver }), 200);
  assert.equal(await statusOf({ key: http.keys.agent }), 403);
  assert.equal(await statusOf({ key: `${http.keys.admin.slice(0, -3)}AAA` }), 401);
  assert.equal(await statusOf({ key: 'no key' }), 401);
  assert.equal(await statusOf({}), 422);
  assert.equal(await statusOf({ key: http.keys.admin, code: 'x' }), 422);
});

test('an agent makes no link', async (t) => {
  const http = await openHttp(t);
  assert.equal((await http.ask('POST', '/v1/console/links', { body: {} })).status, 403);
});

test('[C8-console-3] the cookie alone opens nothing: the header of the console goes with it', async (t) => {
  const { http, ask, cookie } = await signedIn(t, 'admin');
  assert.equal((await ask('GET', '/v1/status')).status, 200);
  assert.equal((await http.ask('GET', '/v1/status', { key: null, headers: { cookie } })).status, 401);
});

test('[C8-console-3] a page of another origin, or of another port, gets nothing with the cookie', async (t) => {
  const { http, ask } = await signedIn(t, 'admin');
  for (const origin of ['http://127.0.0.1:1', `http://localhost:${http.url.port}`, 'null', 'https://example.com']) {
    assert.equal((await ask('GET', '/v1/status', { headers: { origin } })).status, 403, origin);
    assert.equal((await ask('POST', '/v1/console/links', { headers: { origin }, body: {} })).status, 403, origin);
    const code = await linkOf(http, http.keys.admin);
    const signs = await http.ask('POST', at, { key: null, body: { code }, headers: { origin } });
    assert.equal(signs.status, 403, `signs somebody in: ${origin}`);
  }
});

test('[C8-console-3] what changes something must say which page it comes from', async (t) => {
  const { http, cookie } = await signedIn(t, 'admin');
  const headers = { cookie, 'recourse-console': '1' };
  assert.equal((await http.ask('GET', '/v1/status', { key: null, headers })).status, 200);
  assert.equal((await http.ask('POST', '/v1/console/links', { key: null, headers, body: {} })).status, 403);
});

test('[C8-console-4] a viewer looks and changes nothing, an approver approves and settles nothing', async (t) => {
  const viewer = await signedIn(t, 'viewer');
  assert.equal((await viewer.ask('GET', '/v1/approvals')).status, 200);
  assert.equal((await viewer.ask('POST', '/v1/approvals/apr_1/approve', { body: {} })).status, 403);
  assert.equal((await viewer.ask('POST', '/v1/calls/call_1/settle', { body: { happened: 'no' } })).status, 403);
  const approver = await signedIn(t, 'approver');
  assert.equal((await approver.ask('POST', '/v1/approvals/apr_1/approve', { body: {} })).status, 404);
  assert.equal((await approver.ask('POST', '/v1/calls/call_1/settle', { body: { happened: 'no' } })).status, 403);
});

test('[C8-console-2] a session ends at sign-out, and with its key', async (t) => {
  const first = await signedIn(t, 'admin');
  const out = await first.ask('POST', `${at}/end`, { body: {} });
  assert.match(String(out.headers['set-cookie']), /=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0/);
  assert.equal((await first.ask('GET', at)).status, 401);
  const second = await signedIn(t, 'approver');
  const [entry] = (await second.http.keyring.list('default')).filter(({ role }) => role === 'approver');
  assert.equal((await second.ask('GET', at)).status, 200);
  await second.http.keyring.revoke('default', entry?.id ?? '', Date.now());
  assert.equal((await second.ask('GET', at)).status, 401);
});

test('[C8-console-1][C8-console-2] links and sessions end with their time, and with their key', async () => {
  let nowMs = 1_000;
  const live = new Set(['k']);
  const keyring = {
    liveHashes: async (ids: readonly string[]) => new Map(ids.flatMap((id) => (live.has(id) ? [[id, 'h']] : []))),
  };
  const sessions = createConsoleSessions({ keyring, nowMs: () => nowMs });
  const who = { tenant: 'default', role: 'admin', name: 'ada', keyId: 'k' } as const;
  const late = sessions.invite(who);
  nowMs = late.expiresAtMs;
  assert.equal(await sessions.enter(late.code), null);
  const opened = await sessions.enter(sessions.invite(who).code);
  assert.ok(opened !== null);
  assert.deepEqual((await sessions.find(opened.token))?.who, who);
  nowMs = opened.expiresAtMs;
  assert.equal(await sessions.find(opened.token), null);
  const revoked = sessions.invite(who);
  live.clear();
  assert.equal(await sessions.enter(revoked.code), null);
});

test('more links than are kept: the oldest makes way', async () => {
  const keyring = { liveHashes: async (ids: readonly string[]) => new Map(ids.map((id) => [id, 'h'])) };
  const sessions = createConsoleSessions({ keyring, nowMs: () => 0 }, { ...defaultConsoleLimits, maxLinks: 2 });
  const who = { tenant: 'default', role: 'admin', name: 'ada', keyId: 'k' } as const;
  const [first, , third] = [sessions.invite(who), sessions.invite(who), sessions.invite(who)];
  assert.equal(await sessions.enter(first?.code ?? ''), null);
  assert.notEqual(await sessions.enter(third?.code ?? ''), null);
});

test('over TLS the cookie is Secure', async (t) => {
  const http = await openHttp(t);
  const code = await linkOf(http, http.keys.admin);
  const headers = { origin: `https://127.0.0.1:${http.url.port}` };
  const entered = await http.ask('POST', at, { key: null, body: { code }, headers });
  assert.match(String(entered.headers['set-cookie']), /; Secure$/);
});

test('[C8-console-1] of those who bring one code while keys are looked up, one gets in', async () => {
  const keyring = {
    liveHashes: async (ids: readonly string[]) => {
      await new Promise((resolve) => setImmediate(resolve));
      return new Map(ids.map((id) => [id, 'h']));
    },
  };
  const sessions = createConsoleSessions({ keyring, nowMs: () => 0 });
  const { code } = sessions.invite({ tenant: 'default', role: 'admin', name: 'ada', keyId: 'k' });
  const entered = await Promise.all([sessions.enter(code), sessions.enter(code), sessions.enter(code)]);
  assert.equal(entered.filter((each) => each !== null).length, 1);
});
