/**
 * What policy cannot decide is answered, put on record and never passed on: over HTTP and over lines, in both
 * revisions.
 */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import test, { type TestContext } from 'node:test';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { serveStdio } from '../../../src/doors/mcp/stdio/serve-stream.ts';
import type { Shell } from '../../../src/shell/shell.ts';
import { aTool } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { connectHttp, connectInMemory, type Revision, revisions, serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { rawMcp } from '../../support/mcp-raw.ts';

interface Answer {
  readonly status: number | null;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly result?: Readonly<Record<string, unknown>>;
}

type Send = (message: object, headers?: Readonly<Record<string, string>>) => Promise<Answer>;

async function opened(t: TestContext) {
  let runs = 0;
  const tools = [{ ...aTool({ name: 'pay' }), run: () => ({ paid: (runs += 1) }) }];
  const { door, shell } = await openDoor(t, { tools });
  return { door, shell, runs: () => runs };
}

async function overHttp(t: TestContext, door: Awaited<ReturnType<typeof opened>>['door'], revision: Revision) {
  const { url } = await serveHttp(t, door);
  const { send } = await rawMcp(url, 'none', revision);
  const sent: Send = async (message, headers) => {
    const { status, message: answer } = await send(message, headers);
    return { status, ...answer };
  };
  return sent;
}

const envelope = {
  [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
  [CLIENT_INFO_META_KEY]: { name: 'raw', version: '1' },
  [CLIENT_CAPABILITIES_META_KEY]: {},
};

/** Lines as a client of standard input and output writes them. */
async function overLines(t: TestContext, door: Awaited<ReturnType<typeof opened>>['door'], revision: Revision) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio(door, { input, output });
  t.after(() => served.close());
  let text = '';
  output.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const sent: Send = async (message) => {
    const { id, params = {} } = message as { id?: number; params?: Record<string, unknown> };
    const meta = revision === '2026-07-28' ? { _meta: { ...envelope, ...(params['_meta'] as object) } } : {};
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message, params: { ...params, ...meta } })}\n`);
    if (id === undefined) return { status: null };
    return eventually(`the answer to ${id}`, async () => {
      const lines = text.split('\n').filter((line) => line !== '');
      const found = lines.map((line) => JSON.parse(line) as { id?: number }).find((each) => each.id === id);
      return found === undefined ? null : { status: null, ...found };
    });
  };
  if (revision === '2025-11-25') {
    const clientInfo = { name: 'raw', version: '1' };
    await sent({ id: 900, method: 'initialize', params: { protocolVersion: revision, capabilities: {}, clientInfo } });
    await sent({ method: 'notifications/initialized' });
  }
  return sent;
}

async function gaps({ ports }: Shell): Promise<readonly object[]> {
  const entries = await ports.store.entries(null, 500);
  return entries
    .filter(({ kind }) => kind === 'runtime_gap')
    .map(({ body }) => {
      const { kind, subject, agent } = JSON.parse(body) as Record<string, unknown>;
      return { kind, subject, agent };
    });
}

const untilOnRecord = (shell: Shell, gap: object) =>
  eventually(`a record of ${JSON.stringify(gap)}`, async () =>
    (await gaps(shell)).some((each) => JSON.stringify(each) === JSON.stringify(gap)),
  );

const ways = { 'over HTTP': overHttp, 'over lines': overLines } as const;

for (const [way, connect] of Object.entries(ways))
  for (const revision of revisions) {
    /** The last is of the other revision, so that the SDK answers it by itself. */
    const unknown = ['x/unknown', 'prompts/get', revision === '2026-07-28' ? 'ping' : 'server/discover'];
    test(`methods that are not known are told so, with a notice, ${way}, in ${revision}`, async (t) => {
      const { door, shell } = await opened(t);
      const send = await connect(t, door, revision);
      for (const [at, method] of unknown.entries()) {
        const { error, status } = await send({ id: at + 1, method });
        assert.equal(error?.code, -32_601, JSON.stringify(error));
        assert.equal(error.message, 'Method not found');
        assert.deepEqual(error.data, {
          notices: [
            {
              code: 'RUNTIME_GAP',
              human_message: `method '${method}' is not known to the gateway, and was not passed on`,
              resolution: { type: 'manual_audit' },
            },
          ],
        });
        if (status !== null)
          assert.equal(status, 200, 'clients make an error of HTTP of anything else, and lose the notice');
        await untilOnRecord(shell, { kind: 'unknown_method', subject: method, agent: 'tester' });
      }
    });

    test(`lists of what is not there are empty, and no gap, ${way}, in ${revision}`, async (t) => {
      const { door, shell } = await opened(t);
      const send = await connect(t, door, revision);
      for (const [at, what] of ['prompts', 'resources'].entries()) {
        const { result } = await send({ id: at + 1, method: `${what}/list` });
        assert.deepEqual(result?.[what], []);
      }
      assert.deepEqual(await gaps(shell), []);
    });

    test(`a call in a notification never runs and is on record, ${way}, in ${revision}`, async (t) => {
      const { door, shell, runs } = await opened(t);
      const send = await connect(t, door, revision);
      // On lines the first message says which revision is spoken.
      await send({ id: 1, method: 'tools/list' });
      const params = { name: 'pay', arguments: {} };
      const { status } = await send({ method: 'tools/call', params });
      if (status !== null) assert.equal(status, 202);
      await untilOnRecord(shell, { kind: 'call_in_notification', subject: 'pay', agent: 'tester' });
      await send({ method: 'tools/list' });
      await untilOnRecord(shell, { kind: 'call_in_notification', subject: 'tools/list', agent: 'tester' });
      const { result } = await send({ id: 2, method: 'tools/call', params });
      assert.match(JSON.stringify(result), /"paid":1/, 'it ran only now');
      assert.equal(runs(), 1);
    });

    test(`notifications that are not known are put on record once a minute, ${way}, in ${revision}`, async (t) => {
      const { door, shell } = await opened(t);
      const send = await connect(t, door, revision);
      await send({ id: 1, method: 'tools/list' });
      for (let time = 0; time < 5; time++) await send({ method: 'notifications/odd' });
      await send({ method: 'notifications/roots/list_changed' });
      await send({ method: 'notifications/last' });
      await untilOnRecord(shell, { kind: 'unknown_method', subject: 'notifications/last', agent: 'tester' });
      const subjects = (await gaps(shell)).map((gap) => (gap as { subject: string }).subject);
      assert.deepEqual(subjects.toSorted(), ['notifications/last', 'notifications/odd']);
    });

    test(`work is reported by a method that is known, ${way}, in ${revision}`, async (t) => {
      const { door, shell } = await opened(t);
      const send = await connect(t, door, revision);
      const reported = await send({ id: 1, method: 'recourse/tasks/complete', params: { call_id: 'call_none' } });
      assert.equal(reported.result?.['error'], 'validation_failed', JSON.stringify(reported));
      const { status } = await send({ method: 'recourse/tasks/complete', params: { call_id: 'call_other' } });
      if (status !== null) assert.equal(status, 202);
      const heard = async () => JSON.stringify(await shell.ports.store.entries(null, 100)).includes('call_other');
      await eventually('the notification was heard', heard);
      assert.deepEqual(await gaps(shell), []);
    });
  }

const mismatches: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['another tool in the header', { 'mcp-name': 'refund' }],
  ['another method in the header', { 'mcp-method': 'tools/list' }],
  ['another revision in the header', { 'mcp-protocol-version': '2025-11-25' }],
];

for (const [what, headers] of mismatches)
  test(`${what} is refused, and on record`, async (t) => {
    const { door, shell, runs } = await opened(t);
    const send = await overHttp(t, door, '2026-07-28');
    const { status, error } = await send(
      { id: 1, method: 'tools/call', params: { name: 'pay', arguments: {} } },
      headers,
    );
    assert.deepEqual([status, error?.code], [400, -32_020]);
    await untilOnRecord(shell, { kind: 'header_mismatch', subject: 'tools/call pay', agent: 'tester' });
    assert.equal(runs(), 0);
  });

test('a call in a notification in a list is on record, too', async (t) => {
  const { door, shell, runs } = await opened(t);
  const { url } = await serveHttp(t, door);
  const { send } = await rawMcp(url, 'none', '2025-11-25');
  const call = { method: 'tools/call', params: { name: 'pay', arguments: {} } };
  await send([{ id: 1, method: 'tools/list' }, call]);
  await untilOnRecord(shell, { kind: 'call_in_notification', subject: 'pay', agent: 'tester' });
  assert.equal(runs(), 0);
});

for (const revision of revisions)
  test(`the official client hears of the gap as the data of its error, in ${revision}`, async (t) => {
    const { door } = await opened(t);
    const { url } = await serveHttp(t, door);
    for (const { client } of [await connectHttp(t, url, revision), await connectInMemory(t, door, revision)]) {
      const failed: unknown = await client
        .request({ method: 'x/unknown', params: {} }, z.looseObject({}))
        .catch((error: unknown) => error);
      assert.equal((failed as { code: number }).code, -32_601, String(failed));
      assert.match(JSON.stringify((failed as { data: unknown }).data), /RUNTIME_GAP/);
    }
  });
