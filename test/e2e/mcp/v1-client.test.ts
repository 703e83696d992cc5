import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { calledOf, serveHttp, stdioCommand } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee, createTalk } from '../../support/mcp-workflows.ts';

async function connected(t: TestContext, transport: unknown) {
  const client = new Client({ name: 'v1', version: '1' }, { capabilities: { elicitation: {}, sampling: {} } });
  await client.connect(transport as Transport);
  t.after(() => client.close());
  await client.listTools();
  const step = async (args: Record<string, unknown>) =>
    calledOf(await client.callTool({ name: 'step', arguments: args }));
  return { client, step };
}

const ways = {
  'over HTTP': async (t: TestContext) => {
    const { url } = await serveHttp(t, (await openDoor(t, { workflow: coffee })).door);
    return connected(t, new StreamableHTTPClientTransport(url));
  },
  'over stdio': (t: TestContext) =>
    connected(t, new StdioClientTransport({ ...stdioCommand('coffee'), stderr: 'inherit' })),
};

for (const [way, connect] of Object.entries(ways))
  test(`a client of the first SDK walks a workflow and recovers from a refusal, ${way}`, async (t) => {
    const { step, client } = await connect(t);
    const refused = await step({ action: 'pay' });
    assert.equal(refused.isError, true);
    assert.ok('valid_next_actions' in refused.reply);
    const [next] = refused.reply.valid_next_actions;
    assert.equal((await step({ action: next, inputs: { drink: 'latte' } })).isError, false);
    for (const action of ['pay', 'fulfill']) assert.equal((await step({ action })).isError, false);
    const { contents } = await client.readResource({ uri: 'recourse://session' });
    assert.equal(JSON.parse((contents[0] as { text: string }).text).status, 'done');
  });

test('a client of the first SDK is asked while its call runs', async (t) => {
  const { url } = await serveHttp(t, (await openDoor(t, { workflow: createTalk().workflow })).door);
  const { client, step } = await connected(t, new StreamableHTTPClientTransport(url));
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { milk: 'oat' } }));
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: 'hi' },
  }));
  const asked = await step({ action: 'ask_milk' });
  assert.deepEqual('result' in asked.reply && asked.reply.result, { action: 'accept', content: { milk: 'oat' } });
  assert.equal((await step({ action: 'ask_model' })).isError, false);
});
