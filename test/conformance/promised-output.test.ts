/**
 * CONTRACT section 9: what a server promised of its results is held against them, and a write that breaks it is in
 * doubt.
 */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isSuccess } from '../../src/index.ts';
import { errorOf } from '../support/check-reply.ts';
import { openGateway } from '../support/open-gateway.ts';
import { listen } from '../support/upstream-http.ts';

const program = path.join(import.meta.dirname, '../support/upstream-child.ts');

test('[C9-response-1] a result that its own output schema does not allow is no success', async (t) => {
  const server = { name: 'shop', command: process.execPath, args: [program, 'promising'] };
  const gateway = await openGateway(t, [], {
    servers: [{ ...server, tools: { look: { effect: 'pure' } } }],
    serverTools: ['shop/sell', 'shop/look'],
  });
  const kept = await gateway.call({ tool: 'shop/sell', args: { structuredContent: { price: 3 } } });
  assert.ok(isSuccess(kept), JSON.stringify(kept));
  assert.deepEqual(kept.result, { content: [], structuredContent: { price: 3 } });

  for (const given of [{ structuredContent: { price: 'three' } }, {}]) {
    const sold = errorOf(await gateway.call({ tool: 'shop/sell', args: given }), 'action_error');
    const { class: kind, code, verdict, effect, resolution } = sold;
    assert.deepEqual(
      [kind, code, verdict, effect, resolution.type],
      ['ToolTerminal', 'OutputMalformed', 'schema_mismatch', 'unknown', 'reconcile'],
    );
    assert.equal((await gateway.stored(sold.call_id)).state, 'IN_DOUBT');
    assert.match(sold.error_message ?? '', /^the result of 'shop\/sell' does not match its output schema: /);
    const looked = errorOf(await gateway.call({ tool: 'shop/look', args: given }), 'action_error');
    assert.deepEqual([looked.code, looked.effect], ['OutputMalformed', 'none']);
    assert.equal((await gateway.stored(looked.call_id)).state, 'FAILED');
  }
});

test('[C6-effect-4] what the SDK calls a wrong request may be the answer to a write that was done', async (t) => {
  const done: string[] = [];
  const serverOf = () => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    const act = (name: string, end: () => unknown) =>
      server.registerTool(name, { inputSchema: z.object({}) }, () => {
        done.push(name);
        return end() as never;
      });
    for (const name of ['refund', 'look']) act(name, () => ({ content: [{ type: 'text', text: 42 }] }));
    return server;
  };
  const serve = toNodeHandler(createMcpHandler(serverOf)) as (...both: Parameters<RequestListener>) => Promise<void>;
  const web = await listen(t, (request, response) => void serve(request, response));
  const gateway = await openGateway(t, [], {
    servers: [{ name: 'shop', url: web.url, tools: { look: { effect: 'pure' } } }],
    serverTools: ['shop/refund', 'shop/look'],
  });
  const refunded = errorOf(await gateway.call({ tool: 'shop/refund', args: {} }), 'action_error');
  assert.deepEqual(
    [refunded.class, refunded.code, refunded.error_type, refunded.effect, refunded.resolution.type],
    ['ToolTerminal', 'InputInvalid', 'InvalidParams', 'unknown', 'reconcile'],
  );
  assert.equal((await gateway.stored(refunded.call_id)).state, 'IN_DOUBT');
  const looked = errorOf(await gateway.call({ tool: 'shop/look', args: {} }), 'action_error');
  assert.deepEqual([looked.code, looked.effect, looked.resolution.type], ['InputInvalid', 'none', 'replan']);
  assert.equal((await gateway.stored(looked.call_id)).state, 'FAILED');
  assert.deepEqual(done, ['refund', 'look']);
});
