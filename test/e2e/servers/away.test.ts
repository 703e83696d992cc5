/** A server that is away when the gateway starts: its last list stands, and its tools are busy, not unknown. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { isRefusal, isSuccess } from '../../../src/core/call/reply.ts';
import { eventually } from '../../support/eventually.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { connectHttp } from '../../support/mcp-connect.ts';
import { folder, storeIn } from '../../support/recourse-process.ts';
import { gatedServer, rules } from '../../support/small-server.ts';

const workflow = `workflows:
  bar:
    description: Serves.
    actions:
      serve: { description: Serves., tool: small/vendor }
    initial: open
    states: { open: { on: { serve: open } } }
`;
const backWithin = 60_000;

test('the tools of a server that is away during a restart', { timeout: 240_000 }, async (t) => {
  const home = folder(t);
  const gate = path.join(home, 'gate');
  const agents = `agents:\n${rules('bot', ['permit: small/*'])}${rules('other', ['permit: else/*'])}`;
  const yaml = `tools:\n${gatedServer(gate)}${workflow}${agents}`;
  writeFileSync(gate, '');
  const first = await startGoverned(t, yaml, [], home);
  await first.ready();
  const key = first.keyOf('bot');
  const lists = `${storeIn(home)}.tools`;
  await eventually('its list is kept', async () => existsSync(lists) && readdirSync(lists).includes('small.json'));
  assert.equal(statSync(path.join(lists, 'small.json')).mode & 0o077, 0, 'for its owner alone');
  assert.equal(await first.stop(), 0);
  rmSync(gate);

  const up = await startGoverned(t, yaml, [], home);
  await up.ready();
  const call = (body: object) => up.ask('/v1/calls', { key, body });

  await t.test('are listed, and a call is ResourceBusy: nothing was sent, and it says when to ask again', async () => {
    const { client } = await connectHttp(t, new URL(`${up.url}/mcp`), '2025-11-25', { key });
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === 'small__vendor'));
    const { status, body } = await call({ tool: 'small/vendor', args: {} });
    assert.equal(status, 503, JSON.stringify(body));
    const { error, code, effect, resolution } = body as Record<string, { type: string; retry_after_seconds: number }>;
    assert.deepEqual([error, code, effect, resolution?.type], ['action_error', 'ResourceBusy', 'none', 'retry_after']);
    assert.ok((resolution?.retry_after_seconds ?? 0) >= 1);
  });

  await t.test('are bound to the actions of workflows, which are as busy', async () => {
    const bar = await connectHttp(t, new URL(`${up.url}/mcp/bar`), '2025-11-25', { key });
    const { reply } = await bar.step({ action: 'serve', inputs: {} });
    assert.ok(isRefusal(reply) && reply.code === 'ResourceBusy', JSON.stringify(reply));
    assert.deepEqual([reply.effect, reply.resolution.type], ['none', 'retry_after']);
    assert.deepEqual(reply.valid_next_actions, ['serve'], 'the action stays legal');
  });

  await t.test('answer when it is back', async () => {
    writeFileSync(gate, '');
    const { status, body } = await eventually(
      'a result',
      async () => {
        const answer = await call({ tool: 'small/vendor', args: {} });
        return answer.status === 200 ? answer : null;
      },
      backWithin,
    );
    assert.equal(status, 200, JSON.stringify(body));
  });
  assert.equal(await up.stop(), 0);
});

test('a server that was never reached', { timeout: 240_000 }, async (t) => {
  const home = folder(t);
  const gate = path.join(home, 'gate');
  const agents = `agents:\n${rules('bot', ['permit: small/*'])}${rules('other', ['permit: else/*'])}`;
  const up = await startGoverned(t, `tools:\n${gatedServer(gate)}${agents}`, [], home);
  await up.ready();
  const [bot, other] = [up.keyOf('bot'), up.keyOf('other')];
  const { client, call } = await connectHttp(t, new URL(`${up.url}/mcp`), '2025-11-25', { key: bot });

  await t.test('makes its tools busy, by either name', async () => {
    for (const name of ['small/vendor', 'small__vendor', 'small__whatever']) {
      const { reply } = await call(name, {});
      assert.ok(isRefusal(reply) && reply.code === 'ResourceBusy', JSON.stringify(reply));
      assert.deepEqual([reply.error, reply.effect, reply.resolution.type], ['action_error', 'none', 'retry_after']);
      assert.match(reply.requested ?? '', /^small\//);
    }
    const { reply } = await call('smaller/vendor', {});
    assert.ok(isRefusal(reply) && reply.error === 'unknown_action');
  });

  await t.test('is not told to an agent that may call nothing of it', async () => {
    const { status, body } = await up.ask('/v1/calls', { key: other, body: { tool: 'small/vendor', args: {} } });
    assert.deepEqual([status, body['error']], [404, 'unknown_action']);
  });

  await t.test('serves once it is there', async () => {
    writeFileSync(gate, '');
    await eventually('its tools', async () => (await client.listTools()).tools.length > 5, backWithin);
    const { isError } = await client.callTool({ name: 'small__pid', arguments: {} });
    assert.notEqual(isError, true);
    const answer = await up.ask('/v1/calls', { key: bot, body: { tool: 'small/nothing', args: {} } });
    assert.equal(answer.body['error'], 'unknown_action', 'now its tools are known');
  });
  assert.equal(await up.stop(), 0);
});

test('the list of another program under the same name is not taken for its own', { timeout: 240_000 }, async (t) => {
  const home = folder(t);
  const gate = path.join(home, 'gate');
  writeFileSync(gate, '');
  const first = await startGoverned(t, `tools:\n${gatedServer(gate)}`, ['--agent', 'local'], home);
  await first.ready();
  const kept = path.join(`${storeIn(home)}.tools`, 'small.json');
  await eventually('its list is kept', async () => existsSync(kept));
  assert.equal(await first.stop(), 0);
  assert.doesNotMatch(readFileSync(kept, 'utf8'), /gate/);

  const other = await startGoverned(t, `tools:\n${gatedServer(path.join(home, 'none'))}`, ['--agent', 'local'], home);
  await other.ready();
  const { call } = await connectHttp(t, new URL(`${other.url}/mcp`), '2025-11-25');
  const { reply } = await call('small/vendor', {});
  assert.ok(isRefusal(reply) && !isSuccess(reply) && reply.code === 'ResourceBusy', JSON.stringify(reply));
  assert.match(reply.message, /not connected yet/);
  assert.equal(await other.stop(), 0);
});
