/** A bare tool of the SDK over HTTP: `commits FILE TEMPLATE` makes the commits of a step, `echo` answers at once. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { openCeiling, templateOf } from '../ceiling.ts';

const [mode, file = '', template = ''] = process.argv.slice(2);
const ceiling = mode === 'commits' ? await openCeiling(file, templateOf(template)) : null;
const text = JSON.stringify({ action: 'advance', result: { done: true, reference: 'ref_1' }, next: ['advance'] });

const handler = createMcpHandler(() => {
  const mcp = new McpServer({ name: 'bare', version: '1' });
  const input = { order: z.string(), amount: z.number().optional(), reason: z.string().optional() };
  mcp.registerTool('step', { description: 'Makes two commits.', inputSchema: z.object(input) }, async () => {
    await ceiling?.call();
    return { content: [{ type: 'text', text }] };
  });
  return mcp;
});
const node = toNodeHandler(handler);
const server = createServer((request, response) => void node(request as never, response as never));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

process.once('SIGTERM', () => {
  server.closeAllConnections();
  void (ceiling?.close() ?? Promise.resolve()).then(() => process.exit(0));
});
