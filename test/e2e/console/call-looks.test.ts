/** What people look at about calls over HTTP: the stream, the story with its ladder, replay, golden, health of tools. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { hex } from '../../../src/core/journal/verify.ts';
import { createVerifier } from '../../../src/core/journal/verify.ts';
import { nodeHashing } from '../../../src/adapters/store-sqlite/node-hashing.ts';
import { eventually } from '../../support/eventually.ts';
import { aTool } from '../../support/tools.ts';
import { listenTo } from '../http/listen.ts';
import { openHttp, type OpenedHttp } from '../http/open-http.ts';

const failing = aTool('break', () => {
  throw new Error('the drawer is stuck');
});
const tools = [aTool('echo', (args) => args, { effect: 'pure' }), failing];

const open = (t: TestContext) => openHttp(t, { tools, door: { streamEveryMs: 5 } });
const idOf = async (http: OpenedHttp, body: object) => String((await http.call(body)).body['call_id']);
type Rungs = readonly { readonly gate: string; readonly answer: string; readonly why: string | null }[];

test('[C8-look-1] calls come as they are decided and end, with outcome and code', async (t) => {
  const http = await open(t);
  await http.call({ tool: 'echo', args: { before: true } });
  const stream = await listenTo(t, http, '/v1/calls/events?back=100', http.keys.viewer, undefined, () => undefined);
  const [ran, refused] = [await idOf(http, { tool: 'echo', args: {} }), await idOf(http, { tool: 'gone', args: {} })];
  const told = () => stream.events.map(({ data }) => [data['call_id'], data['change'], data['state'], data['code']]);
  await eventually('both are told', async () => told().some(([id]) => id === refused));
  assert.deepEqual(told().slice(2), [
    [ran, 'prepared', 'PREPARED', null],
    [ran, 'settled', 'SUCCEEDED', null],
    [refused, 'refused', 'DENIED', 'UnknownAction'],
  ]);
  stream.stop();
});

test('[C8-look-2] the story of a call has its ladder, request, exact reply and records', async (t) => {
  const http = await open(t);
  const told = await http.call({ tool: 'gone', args: { a: 1 } });
  const { body } = await http.ask('GET', `/v1/calls/${String(told.body['call_id'])}/story`, { key: http.keys.viewer });
  const { type: _t, title: _i, status: _s, detail: _d, instance: _n, ...reply } = told.body;
  assert.deepEqual(body['reply'], { kind: 'text', value: reply });
  assert.deepEqual(body['args'], { kind: 'text', value: { a: 1 } });
  const ladder = body['ladder'] as Rungs;
  const answers = ladder.map(({ gate, answer }) => `${gate} ${answer}`);
  assert.deepEqual(answers.slice(0, 4), ['ready passed', 'session passed', 'known refused', 'reachable absent']);
  assert.equal(ladder[2]?.why, told.body['message']);
  assert.ok(
    answers.slice(4).every((each) => /not_asked|absent/.test(each)),
    answers.join(),
  );
  const records = body['records'] as { readonly kind: string; readonly hash: string }[];
  assert.deepEqual(
    records.map(({ kind }) => kind),
    ['refused'],
  );
  assert.match(records[0]?.hash ?? '', /^[0-9a-f]{64}$/);
});

test('[C8-look-2] failures can be decided again, and become a golden', async (t) => {
  const http = await open(t);
  const [bad, good] = [await idOf(http, { tool: 'break', args: {} }), await idOf(http, { tool: 'echo', args: {} })];
  const ask = async (path: string) => (await http.ask('GET', path, { key: http.keys.viewer })).body;
  assert.equal((await ask(`/v1/calls/${bad}/replay`))['replay'], 'equal');
  const golden = await ask(`/v1/calls/${bad}/golden`);
  assert.match(String(golden['text']), /"tool":"break"/);
  assert.equal((await ask(`/v1/calls/${good}/golden`))['problem'], 'no attempt of the call failed');
  assert.ok(((await ask(`/v1/calls/${bad}/story`))['timeline'] as unknown[]).length > 0);
});

test('[C8-look-3] what belongs to another tenant is absent, and agents do not look', async (t) => {
  const http = await open(t);
  const id = await idOf(http, { tool: 'echo', args: {} });
  const stranger = await http.makeKey('other', 'admin', 'otto');
  for (const what of ['story', 'replay', 'golden']) {
    assert.equal((await http.ask('GET', `/v1/calls/${id}/${what}`, { key: stranger })).status, 404);
    assert.equal((await http.ask('GET', `/v1/calls/${id}/${what}`)).status, 403);
  }
  assert.equal((await http.ask('GET', '/v1/journal', { key: stranger })).status, 403);
  assert.equal((await http.ask('GET', '/v1/tools/health', { key: stranger })).body['calls'], 0);
});

test('[C8-look-4] the journal comes as it is stored, and verifies from its pages alone', async (t) => {
  const http = await open(t);
  for (let n = 0; n < 4; n++) await http.call({ tool: 'echo', args: { n } });
  const verifier = createVerifier(nodeHashing);
  let after: string | null = null;
  for (let more = true; more;) {
    const query: string = after === null ? '?limit=5' : `?limit=5&after=${after}`;
    const { body } = await http.ask('GET', `/v1/journal${query}`, { key: http.keys.viewer });
    for (const record of body['records'] as Record<string, string>[]) {
      after = record['position'] ?? null;
      const [epoch = 0, seq = 0] = (after ?? '').split('.').map(Number);
      const bytes = (text: string | undefined) => new Uint8Array(Buffer.from(text ?? '', 'base64'));
      const payloads = (record['payloads'] as unknown as ({ salt: string; bytes: string } | null)[]).map((each) =>
        each === null ? null : { salt: bytes(each.salt), bytes: bytes(each.bytes) },
      );
      const hash = new Uint8Array(Buffer.from(record['hash'] ?? '', 'hex'));
      verifier.add({ epoch, seq, header: bytes(record['header']), hash, payloads });
      assert.equal(hex(hash), record['hash']);
    }
    more = body['more'] as boolean;
  }
  const report = verifier.report();
  assert.deepEqual(report.problems, []);
  assert.ok(report.records >= 14, `${report.records} records`);
});

test('[C8-look-5] the health of a tool counts how its last calls ended', async (t) => {
  const http = await open(t);
  for (let n = 0; n < 3; n++) await http.call({ tool: 'echo', args: {} });
  await http.call({ tool: 'break', args: {} });
  const { body } = await http.ask('GET', '/v1/tools/health', { key: http.keys.viewer });
  const found = body['tools'] as Record<string, unknown>[];
  const figures = found.map(({ tool, effect, calls, succeeded, in_doubt: doubt }) => [
    tool,
    effect,
    calls,
    succeeded,
    doubt,
  ]);
  assert.deepEqual(figures, [
    ['echo', 'pure', 3, 3, 0],
    ['break', 'plain', 1, 0, 1],
  ]);
  assert.equal(typeof found[0]?.['p50_ms'], 'number');
});
