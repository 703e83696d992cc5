/**
 * The payments of the shop, as an MCP server over standard input and output. Every refund that is really made is a line
 * of a file.
 */
import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const ledger = process.env['LEDGER'] ?? '';
const server = new McpServer({ name: 'payments', version: '1.0.0' });

server.registerTool('orders', { description: 'Lists the orders.', inputSchema: z.object({}) }, async () => ({
  content: [{ type: 'text', text: 'order 7, 250.00, delivered cold' }],
}));

server.registerTool(
  'refund',
  { description: 'Refunds an order.', inputSchema: z.object({ order: z.string(), amount: z.number().positive() }) },
  async ({ order, amount }) => {
    appendFileSync(ledger, `${order} ${amount}\n`);
    return { content: [{ type: 'text', text: `refunded ${amount} for ${order}` }] };
  },
);

await server.connect(new StdioServerTransport());
