/** The payments of the shop, as an MCP server over standard input and output: what stands behind the gateway. */
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { pay } from './ledger.ts';

const ledger = process.env['LEDGER'] ?? '';
const inputSchema = z.object({ amount: z.number().positive() });
const server = new McpServer({ name: 'payments', version: '1.0.0' });

for (const kind of ['refund', 'payout'] as const)
  server.registerTool(kind, { description: `Makes a ${kind}.`, inputSchema }, async ({ amount }) => {
    const structuredContent = pay(ledger, kind, amount);
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  });

await server.connect(new StdioServerTransport());
