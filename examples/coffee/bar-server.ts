/** The price list and the fridge of the bar, as an MCP server over standard input and output. */
import { setTimeout as pause } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const prices = { espresso: 2.5, latte: 4 };

/** The price list hangs when it is asked for the first time. */
const hangsMs = 60_000;
let isFirst = true;

const server = new McpServer({ name: 'bar', version: '1.0.0' });

server.registerTool(
  'look_up_price',
  {
    description: 'Tells what a drink costs.',
    inputSchema: z.object({ drink: z.enum(['espresso', 'latte']) }),
    outputSchema: z.object({ price: z.number() }),
  },
  async ({ drink }, ctx) => {
    const wait = isFirst ? hangsMs : 0;
    isFirst = false;
    await pause(wait, undefined, { signal: ctx.mcpReq.signal }); // the gateway cancels at the timeout
    const price = prices[drink];
    return { content: [{ type: 'text', text: `${drink}: ${price}` }], structuredContent: { price } };
  },
);

server.registerTool(
  'look_into_fridge',
  { description: 'Tells whether there is a milk of this sort.', inputSchema: z.object({ modifier: z.string() }) },
  async ({ modifier }) =>
    modifier === 'almond'
      ? { content: [{ type: 'text', text: 'almond milk is out; there is oat and soy' }], isError: true }
      : { content: [{ type: 'text', text: `there is ${modifier}` }] },
);

await server.connect(new StdioServerTransport());
