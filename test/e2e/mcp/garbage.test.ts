import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { isRefusal } from '../../../src/core/call/reply.ts';
import { connectInMemory, revisions } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee } from '../../support/mcp-workflows.ts';

async function connected(t: TestContext, revision: (typeof revisions)[number]) {
  const { door } = await openDoor(t, { workflow: coffee });
  return connectInMemory(t, door, revision);
}

const garbage: readonly (readonly [string, unknown])[] = [
  ['no arguments', undefined],
  ['no action', {}],
  ['an action that is null', { action: null }],
  ['an action that is a number', { action: 7 }],
  ['an action that is empty', { action: '' }],
  ['an action that is far too long', { action: 'x'.repeat(10_000) }],
  ['a misspelt field', { action: 'take_order', kye: 'k' }],
  ['inputs that are no object', { action: 'take_order', inputs: 7 }],
  ['inputs as a text that is not JSON', { action: 'take_order', inputs: '{"drink": "lat' }],
  ['inputs of the wrong type', { action: 'take_order', inputs: { drink: 7 } }],
  ['a session that is no text', { action: 'take_order', session: 7 }],
  ['a sequence that is no number', { action: 'take_order', expected_seq: 'one' }],
];

for (const revision of revisions) {
  for (const [what, args] of garbage)
    test(`${what}: a typed refusal, and the client can go on, in ${revision}`, async (t) => {
      const client = await connected(t, revision);
      const { reply, isError } = await client.step(args);
      assert.ok(isError && isRefusal(reply), JSON.stringify(reply));
      assert.equal(reply.effect, 'none');
      const next = await client.step({ action: 'take_order', inputs: { drink: 'latte' } });
      assert.equal(next.isError, false, next.text);
    });

  test(`a refusal of what has no action says what is possible, in ${revision}`, async (t) => {
    const client = await connected(t, revision);
    const { reply, text } = await client.step({ inputs: { drink: 'latte' } });
    assert.ok(isRefusal(reply));
    assert.deepEqual(reply.valid_next_actions, ['take_order']);
    assert.match(text, /next: take_order/);
  });

  test(`inputs as a JSON text are understood, in ${revision}`, async (t) => {
    const client = await connected(t, revision);
    const { reply } = await client.step({ action: 'take_order', inputs: '{"drink":"latte"}' });
    assert.deepEqual('result' in reply && reply.result, { drink: 'latte' });
  });

  test(`a tool that does not exist is an unknown action, in ${revision}`, async (t) => {
    const client = await connected(t, revision);
    const { reply } = await client.call('stepp', { action: 'take_order' });
    assert.ok(isRefusal(reply) && reply.error === 'unknown_action', JSON.stringify(reply));
    assert.equal(reply.requested, 'stepp');
  });

  test(`an action is no tool of its own in step mode: it does not run, in ${revision}`, async (t) => {
    const client = await connected(t, revision);
    const { reply } = await client.call('take_order', { drink: 'latte' });
    assert.ok(isRefusal(reply), JSON.stringify(reply));
    assert.match(reply.message, /'step', with the action 'take_order'/);
    const { contents } = await client.client.readResource({ uri: 'recourse://next' });
    assert.deepEqual(JSON.parse(String((contents[0] as { text: string }).text)).valid_next_actions, ['take_order']);
  });

  test(`methods that do not exist are errors of the protocol, in ${revision}`, async (t) => {
    const { client } = await connected(t, revision);
    await assert.rejects(client.request({ method: 'prompts/get', params: { name: 'x' } }), { code: -32_601 });
  });
}
