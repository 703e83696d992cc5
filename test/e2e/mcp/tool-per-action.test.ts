import assert from 'node:assert/strict';
import test from 'node:test';
import { isRefusal, isSuccess } from '../../../src/core/call/reply.ts';
import { createMachine } from 'xstate';
import { mount } from '../../../src/adapters/upstream-function/workflow/mount.ts';
import { connectHttp, connectInMemory, revisions, serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee } from '../../support/mcp-workflows.ts';

for (const revision of revisions) {
  test(`every action is listed, always, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee, mode: 'tool_per_action' });
    const { client, call } = await connectInMemory(t, door, revision);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    const expected = [
      'take_order',
      'add_modifier',
      'pay',
      'fulfill',
      'cancel',
      'reset_session',
      'fork_session',
      'next',
      'history',
    ];
    assert.deepEqual(await names(), expected);
    await call('take_order', { drink: 'latte' });
    assert.deepEqual(await names(), expected);
    const { tools } = await client.listTools();
    const [takeOrder] = tools;
    assert.deepEqual(takeOrder?.inputSchema.required, ['drink']);
    assert.deepEqual(Object.keys(takeOrder?.inputSchema.properties ?? {}), ['drink', 'session']);
    const pay = tools.find(({ name }) => name === 'pay');
    assert.deepEqual(Object.keys(pay?.inputSchema.properties ?? {}), ['session'], 'without inputs of its own, too');
  });

  test(`a session that is named wins, whatever the action declares, over HTTP, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee, mode: 'tool_per_action' });
    const { url } = await serveHttp(t, door);
    const { call } = await connectHttp(t, url, revision);
    const { session } = (await call('take_order', { drink: 'latte' })).reply;
    const { session: fork } = (await call('fork_session', { session })).reply;
    for (const [name, meant] of [
      ['pay', fork],
      ['cancel', session],
      ['fulfill', fork],
    ] as const) {
      const { reply, text } = await call(name, { session: meant });
      assert.ok(isSuccess(reply), text);
      assert.equal(reply.session, meant);
    }
    const { reply } = await call('pay', { session: 'ses_nonsense' });
    assert.ok(isRefusal(reply) && reply.code === 'UnknownSession', JSON.stringify(reply));
  });

  for (const mode of ['step', 'tool_per_action'] as const)
    test(`an unknown tool is refused in the session that its arguments name, by ${mode}, over HTTP, in ${revision}`, async (t) => {
      const { door } = await openDoor(t, { workflow: coffee, mode });
      const { url } = await serveHttp(t, door);
      const { call } = await connectHttp(t, url, revision);
      const inputs = { drink: 'latte' };
      const first =
        mode === 'step' ? await call('step', { action: 'take_order', inputs }) : await call('take_order', inputs);
      const { session } = (await call('fork_session', { session: first.reply.session })).reply;
      const { reply, text } = await call('pay_now', { session });
      assert.ok(isRefusal(reply) && reply.error === 'unknown_action', text);
      assert.deepEqual([reply.session, reply.valid_next_actions], [session, ['add_modifier', 'pay', 'cancel']]);
      const other = await call('pay_now', { session: 'of the evening' });
      assert.ok(isRefusal(other.reply) && other.reply.error === 'unknown_action', other.text);
    });

  test(`a session is refused, and not lost, among the arguments of an action that cannot take it, in ${revision}`, async (t) => {
    const anyOf = [{ properties: { table: { type: 'integer' } } }, { properties: { bar: { const: true } } }];
    const seats = mount(createMachine({ id: 'seats', initial: 'free', states: { free: { on: { seat: 'free' } } } }), {
      actions: { seat: { input: { type: 'object', anyOf }, run: async (inputs) => inputs } },
    });
    const { door, service } = await openDoor(t, { workflow: seats, mode: 'tool_per_action' });
    const { call } = await connectInMemory(t, door, revision);
    const { session } = (await call('seat', { table: 1 })).reply;
    const { session: fork } = (await call('fork_session', { session })).reply;
    assert.ok(fork !== null);
    const { reply } = await call('seat', { table: 2, session: fork });
    assert.ok(isRefusal(reply) && reply.error === 'validation_failed', JSON.stringify(reply));
    assert.match(reply.message, /_meta\["recourse\/session"\]/);
    assert.deepEqual([reply.session, reply.valid_next_actions], [fork, ['seat']]);
    const history = await service.history(fork, { tenant: 'default', agent: 'tester' }, 0, 10);
    assert.ok(!('error' in history));
    assert.deepEqual(history.entries.at(-1)?.outcome, 'validation_failed');
    const named = await call('seat', { table: 2, session: fork }, { meta: { 'recourse/session': fork } });
    assert.ok(isSuccess(named.reply) && named.reply.session === fork, named.text);
  });

  test(`an action that is not possible now is refused as a step would be, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee, mode: 'tool_per_action' });
    const { call } = await connectInMemory(t, door, revision);
    const stale = await call('pay', {});
    assert.ok(isRefusal(stale.reply) && stale.reply.error === 'invalid_transition');
    assert.deepEqual(stale.reply.valid_next_actions, ['take_order']);
    const wrong = await call('take_order', {});
    assert.ok(isRefusal(wrong.reply) && wrong.reply.error === 'validation_failed');
    const taken = await call('take_order', { drink: 'latte' });
    assert.ok(isSuccess(taken.reply));
    assert.deepEqual(taken.reply.result, { drink: 'latte' });
    assert.equal((await call('step', { action: 'pay' })).isError, true, 'there is no step in this mode');
  });

  test(`session and key come as an argument or in _meta, and never reach the body, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee, mode: 'tool_per_action' });
    const ann = await connectInMemory(t, door, revision);
    const bob = await connectInMemory(t, door, revision);
    const { session } = (await ann.call('take_order', { drink: 'latte' })).reply;
    const meta = { 'recourse/session': session, 'recourse/key': 'k1' };
    const paid = await bob.call('pay', {}, { meta });
    assert.equal(paid.isError, false, paid.text);
    assert.equal(paid.reply.session, session);
    const again = await bob.call('pay', {}, { meta });
    assert.ok(isSuccess(again.reply) && again.reply.replayed === true);
    const own = await bob.call('take_order', { drink: 'mocha', session: null });
    assert.ok(isSuccess(own.reply));
    const modified = await ann.call('add_modifier', { modifier: 'oat', session: own.reply.session });
    assert.ok(isSuccess(modified.reply), modified.text);
    assert.deepEqual(modified.reply.result, { modifier: 'oat' });
  });
}
