/**
 * Names over MCP are those that model APIs take, wherever a tool is listed or offered; both forms are understood coming
 * in.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createMachine } from 'xstate';
import { mount } from '../../../src/adapters/upstream-function/workflow/mount.ts';
import { isRefusal, isSuccess, type UnknownActionReply } from '../../../src/core/call/reply.ts';
import { aTool } from '../../support/builders.ts';
import { startGoverned } from '../../support/governed-up.ts';
import {
  type ConnectedClient,
  connectHttp,
  connectInMemory,
  type Revision,
  revisions,
} from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { rules, smallServer } from '../../support/small-server.ts';

const usable = /^[a-zA-Z0-9_-]{1,64}$/;
const listed = async ({ client }: ConnectedClient) => (await client.listTools()).tools.map(({ name }) => name);
const said = (value: unknown) => JSON.stringify(value);

const odd = [
  'files/read_file',
  'files/read file',
  'files/read.file',
  `files/${'long_'.repeat(20)}name`,
  'größe/messen',
];
const tools = odd.map((name) => ({ ...aTool({ name }), run: () => ({ ran: name }) }));

for (const revision of revisions) {
  test(`every tool is listed by a name of its own, and runs by it and by the gateway's, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { tools });
    const client = await connectInMemory(t, door, revision);
    const names = await listed(client);
    assert.equal(new Set(names).size, odd.length);
    for (const [at, name] of names.entries()) {
      assert.match(name, usable);
      for (const asked of [name, odd[at] ?? '']) {
        const { reply } = await client.call(asked, {});
        assert.ok(isSuccess(reply), said(reply));
        assert.deepEqual(reply.result, { ran: odd[at] });
        assert.equal(reply.action, odd[at], 'the reply tells of the call by its own name');
        assert.deepEqual(reply.valid_next_actions, names);
      }
    }
    const { reply, text } = await client.call('files__read_fil', {});
    assert.ok(isRefusal(reply) && reply.error === 'unknown_action', said(reply));
    assert.equal(reply.did_you_mean, 'files__read_file');
    assert.deepEqual([reply.known_actions, reply.valid_next_actions], [names, names]);
    assert.deepEqual(reply.resolution, { type: 'choose_action', actions: ['files__read_file'] });
    assert.match(text, /Did you mean 'files__read_file'\?/);
    assert.doesNotMatch(text, /files\/read_file/);
  });

  test(`both names of a tool are one call under a key, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { tools });
    const { client } = await connectInMemory(t, door, revision);
    const ask = (name: string) => client.callTool({ name, arguments: { a: 1 }, _meta: { 'recourse/key': 'k' } });
    const first = (await ask('files/read_file')).structuredContent as { call_id: string };
    const again = (await ask('files__read_file')).structuredContent as { call_id: string; replayed: boolean };
    assert.deepEqual([again.call_id, again.replayed], [first.call_id, true]);
  });
}

test('of more tools than a reply names, the nearest by the names of the door come first', async (t) => {
  const many = Array.from({ length: 100 }, (_, at) => ({ ...aTool({ name: `files/read.${at}` }), run: () => at }));
  const { door } = await openDoor(t, { tools: many });
  const client = await connectInMemory(t, door, '2025-11-25');
  const names = await listed(client);
  const wanted = names.find((name) => name.startsWith('files__read_77_')) ?? '';
  const { reply } = await client.call(wanted.slice(0, -1), {});
  assert.ok(isRefusal(reply) && reply.error === 'unknown_action', said(reply));
  assert.equal(reply.did_you_mean, wanted);
  assert.deepEqual([reply.known_actions[0], reply.known_actions.length, reply.known_total], [wanted, 32, 100]);
  assert.deepEqual([reply.valid_next_actions, reply.next_total], [reply.known_actions, 100]);
});

const oddActions = mount(
  createMachine({
    id: 'odd',
    initial: 'open',
    states: { open: { on: { 'pay.now': 'paid', pay_now: 'open' } }, paid: { on: { 'si.ze': 'paid' } } },
  }),
  {
    actions: {
      'pay.now': { description: 'Pays.', input: { type: 'object' }, run: async () => 'paid' },
      pay_now: { description: 'Says that it will pay.', input: { type: 'object' }, run: async () => 'soon' },
      'si.ze': { description: 'Measures.', input: { type: 'object' }, run: async () => 7 },
    },
  } as never,
);

test('actions that have tools of their own have such names, too; as an argument of step they keep theirs', async (t) => {
  const { door } = await openDoor(t, { workflow: oddActions, mode: 'tool_per_action' });
  const client = await connectInMemory(t, door, '2025-11-25');
  const names = await listed(client);
  for (const name of names) assert.match(name, usable);
  const payNow = names.find((name) => name.startsWith('pay_now_')) ?? '';
  const size = names.find((name) => name.startsWith('si_ze')) ?? '';
  const paid = await client.call(payNow, {});
  assert.ok(isSuccess(paid.reply), said(paid.reply));
  assert.deepEqual(paid.reply.valid_next_actions, [size]);
  assert.deepEqual(Object.keys(paid.reply.next_action_schemas ?? {}), [size]);
  const { contents } = await client.client.readResource({ uri: 'recourse://next' });
  const next = JSON.parse((contents[0] as { text: string }).text) as { valid_next_actions: string[] };
  assert.deepEqual(next.valid_next_actions, [size]);
  const wrong = await client.call('pay_now', {});
  assert.ok(isRefusal(wrong.reply));
  assert.deepEqual(wrong.reply.resolution, { type: 'choose_action', actions: [size] });

  const stepping = await connectInMemory(t, (await openDoor(t, { workflow: oddActions })).door, '2025-11-25');
  const { reply } = await stepping.step({ action: 'pay.now', inputs: {} });
  assert.ok(isSuccess(reply));
  assert.deepEqual(reply.valid_next_actions, ['si.ze']);
});

test(
  'a server at an address of its own, bare names, and what rules and records say',
  { timeout: 120_000 },
  async (t) => {
    const yaml = [
      'tools:\n',
      smallServer('one'),
      smallServer('two'),
      '    names: bare\n',
      'agents:\n',
      rules('bot', ['permit: one/*', 'deny: two/fails', 'permit: two/*']),
    ].join('');
    const up = await startGoverned(t, yaml);
    await up.ready();
    const key = up.keyOf('bot');
    const at = (path: string, revision: Revision = '2025-11-25') =>
      connectHttp(t, new URL(`${up.url}${path}`), revision, { key });

    const all = await at('/mcp');
    const names = await listed(all);
    assert.ok(names.includes('one__echo') && names.includes('echo'), names.join());
    assert.ok(!names.some((name) => name.startsWith('two__')), names.join());
    for (const revision of revisions) {
      const { reply } = await (await at('/mcp', revision)).call('eco', {});
      assert.ok(isRefusal(reply) && reply.error === 'unknown_action', said(reply));
      assert.equal(reply.did_you_mean, 'echo', 'a bare name is near by itself');
      assert.match(reply.message, /Did you mean 'echo'\?$/);
    }

    for (const revision of revisions) {
      const one = await at('/mcp/one', revision);
      const own = await listed(one);
      assert.ok(own.includes('echo') && own.every((name) => !name.startsWith('one')), own.join());
      for (const asked of ['echo', 'one__echo', 'one/echo']) {
        const { isError, content } = await one.client.callTool({ name: asked, arguments: { message: 'hi' } });
        assert.notEqual(isError, true, `${asked}: ${said(content)}`);
      }
      const other = await one.call('two/echo', { message: 'hi' });
      assert.ok(isRefusal(other.reply) && other.reply.error === 'unknown_action', said(other.reply));
      const { known_actions: known, valid_next_actions: next } = other.reply satisfies UnknownActionReply;
      const tools = own.filter((name) => name !== 'complete' && name !== 'await_ticket');
      assert.deepEqual([known, next], [tools, tools]);
      const near = await one.call('ecoh', {});
      assert.ok(isRefusal(near.reply) && near.reply.error === 'unknown_action');
      assert.equal(near.reply.did_you_mean, 'echo');
      assert.equal(near.reply.requested, 'one/ecoh');
    }

    const denied = await all.call('two__fails', {});
    assert.ok(isRefusal(denied.reply) && denied.reply.code === 'POLICY_DENY', said(denied.reply));
    assert.match(denied.reply.message, /two\/fails/);

    assert.equal(await up.stop(), 0);
  },
);
