/**
 * An MCP server over standard streams that repeats every secret that it is given: in its list of tools, its results, its
 * errors and on its standard error. Plain JSON-RPC, without any SDK.
 */
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly _meta?: Readonly<Record<string, unknown>> };
}

const given = process.env['CHILD_SECRET'] ?? 'none';
const names = Object.keys(process.env).toSorted();
process.stderr.write(`started with ${given}\n`);

const answer = (id: number | undefined, result: unknown) =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);

function call({ name, _meta: meta = {} }: NonNullable<Message['params']>) {
  const said = { env: given, meta, encoded: Buffer.from(`user:${given}`).toString('base64'), names };
  process.stderr.write(`called with ${JSON.stringify(said)}\n`);
  const content = [{ type: 'text', text: JSON.stringify(said) }];
  return { content, ...(name === 'fail' ? { isError: true } : {}) };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line) as Message;
  if (method === 'initialize')
    answer(id, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'repeats', version: given },
    });
  if (method === 'tools/list')
    answer(id, {
      tools: ['echo', 'fail'].map((name) => ({ name, description: `knows ${given}`, inputSchema: { type: 'object' } })),
    });
  if (method === 'tools/call') answer(id, call(params));
  if (method === 'ping') answer(id, {});
});
