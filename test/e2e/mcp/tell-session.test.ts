/** `next` and `history` as tools, for clients that read no resources. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createMachine } from 'xstate';
import { mount } from '../../../src/adapters/upstream-function/workflow/mount.ts';
import { connectInMemory, revisions } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee } from '../../support/mcp-workflows.ts';

interface Told {
  readonly text: string;
  readonly isError: boolean;
  readonly content: Readonly<Record<string, unknown>>;
}

for (const revision of revisions)
  for (const mode of ['step', 'tool_per_action'] as const)
    test(`next and history tell what their resources tell, in ${mode} mode, in ${revision}`, async (t) => {
      const { door } = await openDoor(t, { workflow: coffee, mode });
      const { client, call } = await connectInMemory(t, door, revision);
      const read = async (uri: string): Promise<unknown> => {
        const [first] = (await client.readResource({ uri })).contents as readonly { text: string }[];
        return JSON.parse(first?.text ?? '') as unknown;
      };
      const tell = async (name: string, args: object = {}): Promise<Told> => {
        const result = await client.callTool({ name, arguments: args as Record<string, unknown> });
        const [first] = result.content as readonly { text: string }[];
        const content = result.structuredContent as Record<string, unknown>;
        return { text: first?.text ?? '', isError: result.isError === true, content };
      };
      const { tools } = await client.listTools();
      for (const name of ['next', 'history'])
        assert.equal(tools.find((tool) => tool.name === name)?.annotations?.readOnlyHint, true, name);
      const order = { drink: 'latte' };
      const first = mode === 'step' ? ['step', { action: 'take_order', inputs: order }] : ['take_order', order];
      const { session } = (await call(first[0] as string, first[1] as object)).reply;
      assert.ok(session !== null);
      const next = await tell('next', { session });
      assert.deepEqual(next.content['valid_next_actions'], ['add_modifier', 'pay', 'cancel']);
      assert.deepEqual(next.content, await read(`recourse://next/${session}`));
      assert.match(next.text, /^next: add_modifier, pay, cancel\. status open, seq 1\..*"modifier"/);
      const pay = mode === 'step' ? ['step', { action: 'fulfill', session }] : ['fulfill', { session }];
      await call(pay[0] as string, pay[1] as object);
      const history = await tell('history', { session });
      assert.deepEqual(history.content, await read(`recourse://history/${session}`));
      assert.match(history.text, /#\d+ take_order succeeded\n#\d+ fulfill invalid_transition: action 'fulfill' is not/);
      const page = await tell('history', { session, limit: 1 });
      assert.equal((page.content['entries'] as unknown[]).length, 1);
      assert.match(page.text, /More follows: after 1\.$/);
      for (const [wrong, says] of [
        [{ sesion: session }, /"\/sesion".*only session, after, limit/],
        [{ session: 7 }, /"\/session".*the session that an earlier reply named/],
        [{ session: 'ses_nobody' }, /UnknownSession/],
        [{ session, after: -1 }, /"\/after".*a whole number from 0/],
        [{ session, limit: 0 }, /"\/limit".*a whole number from 1/],
      ] as const) {
        const refused = await tell('history', wrong);
        assert.equal(refused.isError, true, JSON.stringify(refused));
        assert.match(JSON.stringify(refused.content), says);
      }
      const end = mode === 'step' ? ['step', { action: 'cancel', session }] : ['cancel', { session }];
      await call(end[0] as string, end[1] as object);
      assert.match(
        (await tell('next', { session })).text,
        /^next: nothing\. status done, seq 2\. The workflow has ended/,
      );
    });

test('without a session it is the one of the connection, and a page is never longer than the door allows', async (t) => {
  const { door } = await openDoor(t, { workflow: coffee, doorLimits: { historyPage: 1 } });
  const { client, step } = await connectInMemory(t, door, '2025-11-25');
  const { reply } = await step({ action: 'take_order', inputs: { drink: 'latte' } });
  await step({ action: 'fulfill' });
  const tell = async (name: string, args: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>;
  const next = await tell('next');
  assert.deepEqual([next['session'], next['seq']], [reply.session, 1]);
  const history = await tell('history', { limit: 50 });
  assert.equal(history['session'], reply.session);
  assert.deepEqual([(history['entries'] as unknown[]).length, history['next']], [1, 1]);
});

test('an action of the name goes first, and then ours is not there', async (t) => {
  const machine = createMachine({ id: 'book', initial: 'page', states: { page: { on: { next: 'page' } } } });
  const book = mount(machine, { actions: { next: { run: async () => 'turned' } } });
  for (const mode of ['step', 'tool_per_action'] as const) {
    const { door } = await openDoor(t, { workflow: book, mode });
    const { client } = await connectInMemory(t, door, '2025-11-25');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.deepEqual(names.filter((name) => name === 'next').length, mode === 'tool_per_action' ? 1 : 0);
    assert.ok(names.includes('history'));
    if (mode === 'step') continue;
    const turned = await client.callTool({ name: 'next', arguments: {} });
    assert.equal((turned.structuredContent as { result: unknown }).result, 'turned');
  }
});
