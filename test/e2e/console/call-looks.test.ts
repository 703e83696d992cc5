/** What people look at about calls over HTTP: the stream, the story with its ladder, replay, golden, health of tools. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
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

/** Verifies what was told, page by page, as a browser does. */
async function verifyPages(http: OpenedHttp, spoil: (record: Told) => Told = (record) => record) {
  const verifier = createVerifier(nodeHashing);
  const told: Told[] = [];
  let after: string | null = null;
  for (let more = true; more;) {
    const query: string = after === null ? '?limit=5' : `?limit=5&after=${after}`;
    const { body } = await http.ask('GET', `/v1/journal${query}`, { key: http.keys.viewer });
    for (const given of body['records'] as Told[]) {
      const record = spoil(given);
      told.push(record);
      after = record.position;
      const [epoch = 0, seq = 0] = after.split('.').map(Number);
      const at = { epoch, seq, hash: hexBytes(record.hash) };
      if (record.leaf !== undefined)
        verifier.addSealed({ ...at, chain: hexBytes(record.chain ?? ''), leaf: hexBytes(record.leaf) });
      else verifier.add({ ...at, header: bytes(record.header ?? ''), payloads: (record.payloads ?? []).map(payload) });
    }
    more = body['more'] as boolean;
  }
  return { told, report: verifier.report() };
}

interface Told {
  readonly position: string;
  readonly hash: string;
  readonly chain?: string;
  readonly leaf?: string;
  readonly header?: string;
  readonly payloads?: readonly ({ readonly salt: string; readonly bytes: string } | null)[];
}

const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
const hexBytes = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const payload = (each: { readonly salt: string; readonly bytes: string } | null) =>
  each === null ? null : { salt: bytes(each.salt), bytes: bytes(each.bytes) };

test('[C8-look-4] the journal comes as it is stored, and verifies from its pages alone', async (t) => {
  const http = await open(t);
  for (let n = 0; n < 4; n++) await http.call({ tool: 'echo', args: { n } });
  const { report } = await verifyPages(http);
  assert.deepEqual(report.problems, []);
  assert.ok(report.records >= 14, `${report.records} records`);
});

test('[C8-look-4] records of another tenant are sealed: they say nothing, and their place still verifies', async (t) => {
  const http = await open(t);
  const theirs = await http.makeKey('other', 'agent', 'secretive');
  await http.call({ tool: 'echo', args: { ours: 1 } });
  await http.call({ tool: 'echo', args: { theirs: 'hush' } }, { key: theirs });
  await http.call({ tool: 'echo', args: { ours: 2 } });
  const { told, report } = await verifyPages(http);
  assert.deepEqual(report.problems, []);
  const sealed = told.filter(({ leaf }) => leaf !== undefined);
  assert.equal(sealed.length, 4);
  const shown = told.map(({ header = '' }) => Buffer.from(header, 'base64').toString('latin1')).join('\n');
  assert.doesNotMatch(shown, /secretive|hush/);
  const at = sealed[1]?.position;
  const forged = (record: Told) => (record.position === at ? { ...record, leaf: '00'.repeat(32) } : record);
  const { report: spoiled } = await verifyPages(http, forged);
  assert.deepEqual(
    spoiled.problems.map(({ epoch, seq, problem }) => [`${epoch}.${seq}`, problem]),
    [[at, 'the hash does not match']],
  );
});

test('[C8-look-4] one changed byte of a reply or of a record is found, and its place named', async (t) => {
  const http = await open(t);
  for (let n = 0; n < 3; n++) await http.call({ tool: 'echo', args: { n } });
  const { told } = await verifyPages(http);
  const at = told.find(({ payloads = [] }) => payloads.length > 0)?.position;
  const changed = (text: string) =>
    Buffer.from([...bytes(text)].map((each, n) => (n === 30 ? each ^ 1 : each))).toString('base64');
  for (const [what, spoil] of [
    [
      "payload 'args' does not match its commitment",
      (record: Told) => ({
        ...record,
        payloads: record.payloads?.map((each) => (each === null ? null : { ...each, salt: changed(each.salt) })) ?? [],
      }),
    ],
    ['the hash does not match', (record: Told) => ({ ...record, hash: `${record.hash.slice(0, -2)}00` })],
  ] as const) {
    const { report } = await verifyPages(http, (record) => (record.position === at ? spoil(record) : record));
    const [first] = report.problems;
    assert.equal(`${first?.epoch}.${first?.seq}`, at);
    assert.equal(first?.problem, what);
  }
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
