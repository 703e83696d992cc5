/**
 * A small MCP server over standard streams with one tool, whose every execution is a line in a file, fsynced before it
 * answers.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly arguments?: unknown; readonly protocolVersion?: string };
}

const [ledger = ''] = process.argv.slice(2);

function post(args: unknown): unknown {
  const descriptor = openSync(ledger, 'a');
  writeSync(descriptor, `${JSON.stringify(args)}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
  return { content: [{ type: 'text', text: 'posted' }] };
}

function resultOf({ method, params }: Message): unknown {
  switch (method) {
    case 'initialize': {
      const protocolVersion = params?.protocolVersion ?? '2025-11-25';
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'ledger', version: '1.0.0' } };
    }
    case 'tools/list':
      return { tools: [{ name: 'post', description: 'posts to the ledger', inputSchema: { type: 'object' } }] };
    case 'tools/call':
      return post(params?.arguments);
    case 'ping':
      return {};
    default:
      return undefined;
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) return;
  const result = resultOf(message);
  const answer = result === undefined ? { error: { code: -32_601, message: 'no such method' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer })}\n`);
});
