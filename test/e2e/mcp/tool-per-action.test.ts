import assert from 'node:assert/strict';
import test from 'node:test';
import { isRefusal, isSuccess } from '../../../src/core/reply.ts';
import { connectInMemory, revisions } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee } from '../../support/mcp-workflows.ts';

for (const revision of revisions) {
  test(`every action is listed, always, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee, mode: 'tool_per_action' });
    const { client, call } = await connectInMemory(t, door, revision);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    const expected = ['take_order', 'add_modifier', 'pay', 'fulfill', 'cancel', 'reset_session', 'fork_session'];
    assert.deepEqual(await names(), expected);
    await call('take_order', { drink: 'latte' });
    assert.deepEqual(await names(), expected);
    const { tools } = await client.listTools();
    const [takeOrder] = tools;
    assert.deepEqual(takeOrder?.inputSchema.required, ['drink']);
    assert.deepEqual(Object.keys(takeOrder?.inputSchema.properties ?? {}), ['drink', 'session']);
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
