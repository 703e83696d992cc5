/** What an explicit error answer of an MCP server proves, by effect class and by what is declared with `on_error`. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ServerOptions, ServerToolOptions } from '../../src/compose/upstreams/server-options.ts';
import { errorOf } from '../support/check-reply.ts';
import { openGateway } from '../support/open-gateway.ts';
import { listen } from '../support/upstream-http.ts';

const tools = ['read', 'write', 'edit', 'store'] as const;
type Fails = 'isError' | 'jsonrpc' | 'malformed';

/** A shop whose every tool fails in the way that is asked for. */
async function aShop(t: TestContext, declared: Partial<ServerOptions>) {
  const serverOf = () => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    for (const name of tools)
      server.registerTool(name, { inputSchema: z.object({ fails: z.string() }) }, ({ fails }) => {
        if (fails === 'isError') return { isError: true, content: [{ type: 'text', text: 'no such file' }] };
        if (fails === 'malformed') return { content: 'a text' } as never;
        return { content: [{ type: 'text', text: 42 }] } as never;
      });
    return server;
  };
  const serve = toNodeHandler(createMcpHandler(serverOf)) as (...both: Parameters<RequestListener>) => Promise<void>;
  const web = await listen(t, (request, response) => void serve(request, response));
  const gateway = await openGateway(t, [], {
    servers: [{ name: 'shop', url: web.url, ...declared } as ServerOptions],
    serverTools: tools.map((name) => `shop/${name}`),
  });
  return async (tool: (typeof tools)[number], fails: Fails) => {
    const reply = errorOf(await gateway.call({ tool: `shop/${tool}`, args: { fails } }), 'action_error');
    const { state } = await gateway.stored(reply.call_id);
    return [reply.effect, state, reply.resolution.type === 'replan' ? 'choose_action' : reply.resolution.type];
  };
}

const nothing = ['none', 'FAILED', 'choose_action'];
const doubt = ['unknown', 'IN_DOUBT', 'reconcile'];
const pure: ServerToolOptions = { effect: 'pure' };

test('[C9-onerror-1] a read that fails has had no effect, however it fails', async (t) => {
  const ask = await aShop(t, { tools: { read: pure } });
  for (const fails of ['isError', 'jsonrpc', 'malformed'] as const)
    assert.deepEqual(await ask('read', fails), nothing, fails);
});

test('[C9-onerror-2] an error answer to a write proves what is declared, of its tool before its server', async (t) => {
  const silent = await aShop(t, { tools: { edit: { on_error: 'none' }, store: { on_error: 'unknown' } } });
  assert.deepEqual(await silent('write', 'isError'), doubt);
  assert.deepEqual(await silent('edit', 'isError'), nothing);
  assert.deepEqual(await silent('store', 'isError'), doubt);
  const sure = await aShop(t, {
    on_error: 'none',
    tools: { store: { on_error: 'unknown' }, edit: { effect: 'plain' } },
  });
  assert.deepEqual(await sure('write', 'isError'), nothing);
  assert.deepEqual(await sure('edit', 'isError'), nothing);
  assert.deepEqual(await sure('store', 'isError'), doubt);
});

test('[C9-onerror-3] what is declared of error answers is not said of other failures', async (t) => {
  const ask = await aShop(t, { on_error: 'none' });
  for (const fails of ['jsonrpc', 'malformed'] as const) assert.deepEqual(await ask('write', fails), doubt, fails);
});
