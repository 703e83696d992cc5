/** The faulty upstream as an MCP server, by official clients of both revisions: over HTTP and over stdio. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { eventually } from '../../test/support/eventually.ts';
import { ask, openFaults } from '../../test/support/faults/open-faults.ts';
import { revisions, type Revision } from '../../test/support/mcp-connect.ts';
import { bin } from '../../test/support/recourse-process.ts';
import { operationNames } from './operations.ts';

const refund = { name: 'refund', arguments: { order: 'o1', amount: 5 } };
const keyed = { ...refund, _meta: { 'recourse/idempotency_key': 'k' } };

async function connect(t: TestContext, transport: Parameters<Client['connect']>[0], revision: Revision) {
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy';
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

async function open(t: TestContext, revision: Revision) {
  const faults = await openFaults(t);
  return { faults, client: await connect(t, new StreamableHTTPClientTransport(new URL(faults.mcp)), revision) };
}

for (const revision of revisions)
  describe(`over HTTP by ${revision}`, () => {
    test('the tools share the ledger with HTTP, and their keys', async (t) => {
      const { faults, client } = await open(t, revision);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        operationNames,
      );
      const first = await client.callTool(keyed);
      assert.deepEqual(first.structuredContent, { id: 're_2', order: 'o1', amount: 5 });
      assert.deepEqual((await client.callTool(keyed)).structuredContent, first.structuredContent);
      assert.deepEqual((await faults.refund({ order: 'o1', amount: 5 }, 'k')).body(), first.structuredContent);
      const found = await client.callTool({ name: 'find_refund', arguments: { order: 'o1' } });
      assert.deepEqual(found.structuredContent, { order: 'o1', refunds: [{ id: 're_2', amount: 5, key: 'k' }] });
      const note = { name: 'add_note', arguments: { order: 'o1', text: 'called' } };
      for (let at = 0; at < 2; at++) await client.callTool(note);
      assert.equal(faults.effects(), 3);
    });

    test('an unknown tool and wrong arguments are results with isError', async (t) => {
      const { client } = await open(t, revision);
      assert.equal((await client.callTool({ name: 'pay' })).isError, true);
      assert.equal((await client.callTool({ name: 'refund', arguments: { order: 'o1' } })).isError, true);
    });

    const results = [
      [{ fault: 'tool_error' }, 'isError', 0],
      [{ fault: 'tool_error', when: 'after' }, 'isError', 1],
      [{ fault: 'slow', ms: 1 }, 'result', 1],
      [{ fault: 'slow_after', ms: 1 }, 'result', 1],
      [{ fault: 'duplicate' }, 'result', 2],
      [{ fault: 'wrong_schema' }, 'result', 1],
      [{ fault: 'rpc_error' }, 'ProtocolError', 0],
      [{ fault: 'drop_before' }, 'lost', 0],
      [{ fault: 'drop_after' }, 'lost', 1],
      [{ fault: 'late_execution', ms: 1 }, 'lost', 1],
      [{ fault: 'malformed' }, 'lost', 1],
      [{ fault: 'truncated' }, 'lost', 1],
      [{ fault: '503', when: 'after' }, 'lost', 1],
      [{ fault: '429' }, 'lost', 0],
    ] as const;
    for (const [rule, outcome, effects] of results)
      test(`${JSON.stringify(rule)}: ${outcome}, effects: ${effects}`, async (t) => {
        const { faults, client } = await open(t, revision);
        await faults.fault({ ...rule, times: 1 });
        assert.equal(await outcomeOf(client.callTool(refund)), outcome);
        await eventually('the effects', async () => faults.effects() >= effects);
        assert.equal(faults.effects(), effects);
      });
  });

async function outcomeOf(called: ReturnType<Client['callTool']>): Promise<string> {
  try {
    return (await called).isError === true ? 'isError' : 'result';
  } catch (error) {
    return error instanceof ProtocolError ? 'ProtocolError' : 'lost';
  }
}

test('what is no message of MCP gets an answer of the SDK, and no effect', async (t) => {
  const faults = await openFaults(t);
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const bodies = [
    'not JSON',
    '[]',
    '{}',
    '{"method":"tools/call"}',
    JSON.stringify({ method: 'tools/call', params: refund }),
  ];
  for (const body of bodies) {
    const { status } = await faults.ask('/mcp', { body, headers });
    assert.equal(status, 400, body);
  }
  assert.equal((await faults.ask('/mcp', { headers })).status, 405);
  assert.equal(faults.effects(), 0);
});

describe('over stdio', () => {
  async function openStdio(t: TestContext) {
    const folder = mkdtempSync(path.join(tmpdir(), 'recourse-faults-'));
    t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
    const args = [bin, 'faults', '--stdio', '--json', '--ledger', path.join(folder, 'ledger.jsonl')];
    const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'pipe' });
    let told = '';
    transport.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const client = await connect(t, transport, '2025-11-25');
    const line = await eventually('the address', async () => /^.*\n/.exec(told)?.[0]);
    const { url } = JSON.parse(line) as { url: string };
    const effects = async () => (await ask(`${url}ledger/summary`)).body()['effects'];
    return { client, url, effects };
  }

  test('tools work, faults are set over HTTP, and status faults are results with isError', async (t) => {
    const { client, url, effects } = await openStdio(t);
    await ask(`${url}faults`, { body: { fault: '503' } });
    assert.equal(await outcomeOf(client.callTool(refund)), 'isError');
    assert.equal(await outcomeOf(client.callTool(refund)), 'result');
    assert.equal(await effects(), 1);
  });

  test('a dropped connection ends the process', async (t) => {
    const { client, url } = await openStdio(t);
    await ask(`${url}faults`, { body: { fault: 'drop_after' } });
    assert.equal(await outcomeOf(client.callTool(refund)), 'lost');
    await eventually('the end', async () => (await ask(`${url}faults`)).cut === 'ECONNREFUSED');
  });
});
