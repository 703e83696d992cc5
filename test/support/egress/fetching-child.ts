/** An MCP server of a test: `fetch` fetches a URL as any program does, `raw` opens a socket by itself. */
import { connect } from 'node:net';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const server = new McpServer({ name: 'fetching', version: '1.0.0' });
const says = (text: string, isError = false) => ({ content: [{ type: 'text' as const, text }], isError });

const input = z.object({ url: z.string() });
for (const name of ['fetch', 'write'])
  server.registerTool(name, { description: 'fetches', inputSchema: input }, async ({ url }) => {
    try {
      const response = await fetch(url);
      return says(`${response.status} ${await response.text()}`, !response.ok);
    } catch (error) {
      return says(String(error), true);
    }
  });

server.registerTool('raw', { description: 'connects', inputSchema: z.object({ port: z.number() }) }, ({ port }) => {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(says('connected'));
    });
    socket.once('error', (error) => resolve(says(`not connected: ${(error as NodeJS.ErrnoException).code}`)));
  });
});

server.registerTool('variables', { description: 'says what it was given', inputSchema: z.object({}) }, async () => {
  const names = Object.keys(process.env).filter((name) => /proxy/i.test(name));
  const shown = names.map((name) => `${name}=${(process.env[name] ?? '').replace(/:[0-9a-f]+@/, ':***@')}`);
  return says(shown.sort().join('\n'));
});

await server.connect(new StdioServerTransport());
