import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { answerBodies } from '../../../src/core/http/http-bodies.ts';
import { eventually } from '../../support/eventually.ts';
import { aTool } from '../../support/tools.ts';
import { coffee } from '../../support/workflows.ts';
import { listenTo, type Stream } from './listen.ts';
import { openHttp, type OpenedHttp } from './open-http.ts';

const tools = [aTool('echo', (args) => args)];

const isRecord = new Ajv2020({ strict: false, validateFormats: false }).compile(
  answerBodies((name) => ({ $ref: `#/${name}` })).AuditRecord,
);

/** Holds each record against the document. */
const listen = (t: TestContext, http: OpenedHttp, key: string, query = '', last?: string): Promise<Stream> =>
  listenTo(t, http, `/v1/audit${query}`, key, last, ({ id, event, data }) => {
    if (event !== 'record') return;
    assert.ok(isRecord(data), JSON.stringify([isRecord.errors, data]));
    assert.equal(data['position'], id);
  });

const kindsOf = ({ events }: Stream) => events.map(({ event, data }) => (event === 'record' ? data['kind'] : event));
const records = (stream: Stream, count: number) =>
  eventually(`${count} records`, async () => stream.events.length >= count);

test('a stream tells what is there, then what comes, with arguments and replies', async (t) => {
  const http = await openHttp(t, { tools, workflows: [coffee()], door: { streamEveryMs: 5 } });
  const { call, ask, keys } = http;
  await call({ tool: 'echo', args: { a: 1 } });
  const stream = await listen(t, http, keys.viewer);
  await records(stream, 4);
  assert.deepEqual(kindsOf(stream), ['session_opened', 'prepared', 'dispatched', 'settled']);
  const payloads = stream.events.flatMap(({ data }) => data['payloads'] as { part: string; text: string }[]);
  assert.deepEqual(
    payloads.map(({ part }) => part),
    ['args', 'reply'],
  );
  assert.equal(payloads[0]?.text, '{"a":1}');
  await ask('POST', '/v1/sessions', { body: { workflow: 'coffee' } });
  await call({ tool: 'nothing', args: {} });
  await records(stream, 6);
  assert.deepEqual(kindsOf(stream).slice(4), ['session_opened', 'refused']);
  stream.stop();
});

test('a reader goes on where it was, by query or by Last-Event-ID, which has the last word', async (t) => {
  const http = await openHttp(t, { tools, door: { streamPage: 2 } });
  for (let n = 0; n < 5; n++) await http.call({ tool: 'echo', args: { n } });
  const all = await listen(t, http, http.keys.viewer, '?follow=false');
  await all.ended;
  const positions = all.events.map(({ id }) => id);
  assert.equal(positions.length, 1 + 5 * 3 + 1);
  assert.deepEqual(all.events.at(-1)?.data, { reason: 'caught_up', last: positions.at(-2) });
  const from = String(positions[6]);
  for (const [query, last] of [
    [`?follow=false&after=${from}`, undefined],
    ['?follow=false', from],
    [`?follow=false&after=${String(positions[0])}`, from],
  ] as const) {
    const rest = await listen(t, http, http.keys.viewer, query, last);
    await rest.ended;
    assert.deepEqual(
      rest.events.map(({ id }) => id),
      positions.slice(7),
      query,
    );
  }
  const { ask, keys } = http;
  for (const query of ['?after=3', '?after=x', '?after=1.2.3', '?follow=maybe'])
    assert.equal((await ask('GET', `/v1/audit${query}`, { key: keys.viewer })).status, 422);
  const wrong = await ask('GET', '/v1/audit', { key: keys.viewer, headers: { 'last-event-id': 'x' } });
  assert.equal(wrong.status, 422);
  assert.equal((await ask('HEAD', '/v1/audit', { key: keys.viewer })).status, 200);
});

test('a stream has only what is of its tenant: no call, no session, no step of another', async (t) => {
  const http = await openHttp(t, { tools, workflows: [coffee()], door: { streamEveryMs: 5, streamPage: 3 } });
  const theirs = await http.makeKey('other', 'agent', 'bot');
  const mark = 'secret-of-the-other';
  const act = async (key: string, args: object) => {
    await http.call({ tool: 'echo', args }, { key });
    await http.call({ tool: 'nothing', args }, { key });
    const { body } = await http.ask('POST', '/v1/sessions', { key, body: { workflow: 'coffee' } });
    const at = `/v1/sessions/${String(body['session'])}`;
    const drink = JSON.stringify(args);
    await http.ask('POST', `${at}/steps`, { key, body: { action: 'take_order', inputs: { drink } } });
    await http.ask('POST', `${at}/reset`, { key });
    await http.ask('POST', `${at}/fork`, { key });
  };
  const live = await listen(t, http, http.keys.viewer);
  await act(theirs, { mark });
  await act(http.keys.agent, { mark: 'own' });
  const viewer = await http.makeKey('other', 'viewer', 'vera');
  const [own, other] = [http.keys.viewer, viewer].map((key) => listen(t, http, key, '?follow=false'));
  const [mine, others] = [await own, await other] as [Stream, Stream];
  await Promise.all([mine.ended, others.ended]);
  await records(live, mine.events.length - 1);
  assert.deepEqual(kindsOf(live), kindsOf(mine).slice(0, -1));
  assert.deepEqual(kindsOf(mine), kindsOf(others), 'both did the same');
  assert.ok(kindsOf(mine).includes('session_reset') && kindsOf(mine).includes('session_forked'));
  assert.ok(!JSON.stringify(mine.events).includes(mark) && JSON.stringify(others.events).includes(mark));
  live.stop();
});

test('a stream says that it is alive, and ends when its key is revoked', async (t) => {
  const http = await openHttp(t, { tools, door: { streamEveryMs: 5, heartbeatMs: 20 } });
  const { makeKey, keyring } = http;
  const stream = await listen(t, http, await makeKey('default', 'viewer', 'vic'));
  await eventually('a heartbeat', async () => stream.comments.length > 1);
  const entry = (await keyring.list('default')).find(({ name }) => name === 'vic');
  await keyring.revoke('default', entry?.id ?? '', Date.now());
  await stream.ended;
  assert.deepEqual(stream.events.at(-1)?.data, { reason: 'key_revoked' });
});

test('a reader that takes nothing is cut off, and the journal does not pile up in memory for it', async (t) => {
  const door = { streamEveryMs: 5, slowReaderMs: 200, streamPage: 10 };
  const http = await openHttp(t, { tools, door });
  const calls = 24;
  const big = 'x'.repeat(500_000);
  for (let n = 0; n < calls; n++) await http.call({ tool: 'echo', args: { n, big } });
  const socket = connect(Number(http.url.port), '127.0.0.1');
  t.after(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(
    `GET /v1/audit HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${http.keys.viewer}\r\nconnection: close\r\n\r\n`,
  );
  const connections = () => new Promise<number>((resolve) => http.server.getConnections((_, count) => resolve(count)));
  await eventually('the reader has come', async () => (await connections()) === 1);
  await eventually('the reader is cut off', async () => (await connections()) === 0);
  let heard = 0;
  socket.on('data', (chunk: Buffer) => (heard += chunk.length));
  socket.resume();
  await once(socket, 'close');
  assert.ok(heard < calls * big.length * 2, `${heard} bytes came, which is all there is`);
  assert.equal((await http.call({ tool: 'echo', args: {} })).status, 200);
});

test('there are only so many streams', async (t) => {
  const http = await openHttp(t, { tools, door: { maxStreams: 1 } });
  const first = await listen(t, http, http.keys.viewer);
  const { status, body } = await http.ask('GET', '/v1/audit', { key: http.keys.viewer });
  assert.deepEqual([status, body['code']], [503, 'TooManyStreams']);
  first.stop();
  await eventually('a place', async () => {
    const { status: again } = await http.ask('GET', '/v1/audit?follow=false', { key: http.keys.viewer });
    return again === 200;
  });
});
