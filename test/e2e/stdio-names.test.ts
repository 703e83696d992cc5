/**
 * `recourse stdio` lists tools of servers and of workflows side by side: each has a name of its own there, and is
 * offered by it.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { isRefusal, isSuccess } from '../../src/index.ts';
import { connectCommand } from '../support/cli-project.ts';
import { folder } from '../support/recourse-process.ts';
import { rules, smallProgram } from '../support/small-server.ts';

const tools = ['read', 'read_q', 'door__step', 'door__next'];

const workflows = `workflows:
  door:
    actions: { open: {}, shut: {} }
    initial: closed
    states: { closed: { on: { open: opened } }, opened: { on: { shut: closed } } }
  queue:
    actions: { next: {} }
    initial: waiting
    states: { waiting: { on: { next: waiting } } }
`;

/** A server that lists these tools and answers with what it was asked, beside two workflows. */
function serve(t: TestContext, { names, words = [] }: { names: 'bare' | 'prefixed'; words?: readonly string[] }) {
  const home = folder(t);
  const list = path.join(home, 'tools.json');
  writeFileSync(list, JSON.stringify(tools.map((name) => ({ name, inputSchema: { type: 'object' } }))));
  const args = JSON.stringify([smallProgram, 'written', list]);
  const server = `  desk:\n    mcp: { command: ${JSON.stringify(process.execPath)}, args: ${args} }\n`;
  const bare = names === 'bare' ? '    names: bare\n' : '';
  writeFileSync(
    path.join(home, 'recourse.yaml'),
    `tools:\n${server}${bare}${workflows}agents:\n${rules('bot', ['permit: "**"'])}`,
  );
  return connectCommand(t, ['stdio', ...words], { cwd: home });
}

test(
  'a bare name that is also that of a workflow is not used: both are listed, each runs by its own',
  { timeout: 120_000 },
  async (t) => {
    const { client, call } = await serve(t, { names: 'bare' });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const name of ['read', 'read_q', 'desk__door__step', 'desk__door__next', 'door__step', 'door__next'])
      assert.ok(names.includes(name), `${name} is listed in ${names.join()}`);
    const { content } = await client.callTool({ name: 'desk__door__step', arguments: { a: 1 } });
    assert.match(JSON.stringify(content), /door__step/);
    const opened = await call('door__step', { action: 'open' });
    assert.ok(isSuccess(opened), JSON.stringify(opened));
  },
);

test('the instructions promise no tool that an action hides', { timeout: 120_000 }, async (t) => {
  const { client } = await serve(t, { names: 'prefixed' });
  const names = (await client.listTools()).tools.map(({ name }) => name);
  assert.ok(names.includes('door__next') && !names.includes('queue__next'), names.join());
  const [ofDoor, ofQueue] = client.getInstructions()?.split('\n') ?? [];
  assert.match(String(ofDoor), /`door__next` says them at any time\.$/);
  assert.match(String(ofQueue), /^The workflow 'queue' .* pick one of them\.$/);
});

for (const { words, asked, meant } of [
  { words: ['--mode', 'tools'], asked: 'door__opne', meant: 'door__open' },
  { words: ['--mode', 'tools'], asked: 'door/opne', meant: 'door__open' },
  { words: [], asked: 'door__stpe', meant: 'door__step' },
  { words: [], asked: 'desk__raed', meant: 'desk__read' },
])
  test(
    `an unknown name is answered from all tools, of servers and of workflows: ${asked} ${words.join(' ')}`,
    { timeout: 120_000 },
    async (t) => {
      const { client, call } = await serve(t, { names: 'prefixed', words });
      const names = (await client.listTools()).tools
        .map(({ name }) => name)
        .filter((name) => name !== 'complete' && name !== 'await_ticket');
      const reply = await call(asked, {});
      assert.ok(isRefusal(reply) && reply.error === 'unknown_action', JSON.stringify(reply));
      assert.equal(reply.did_you_mean, meant);
      assert.match(reply.message, new RegExp(`is not known\\. Did you mean '${meant}'\\?$`));
      assert.deepEqual(reply.resolution, { type: 'choose_action', actions: [meant] });
      assert.deepEqual([reply.known_actions, reply.valid_next_actions], [names, names]);
      const far = await call('zzzzzzzz', {});
      assert.ok(isRefusal(far) && far.error === 'unknown_action');
      assert.deepEqual([far.did_you_mean, far.resolution], [null, { type: 'choose_action', actions: names }]);
    },
  );
