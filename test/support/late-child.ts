/**
 * An MCP server that answers when a file says what: `{"result": …}` or `{"error": …}`. As servers on the official SDK
 * do, it keeps the answer to a call to itself that was cancelled, and writes that down; with `stubborn` it answers all
 * the same. Arguments: folder, way, stubborn.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly requestId?: number; readonly protocolVersion?: string };
}

const [folder = '', way = 'stdio', how = ''] = process.argv.slice(2);
const log = (line: string) => appendFileSync(path.join(folder, 'log'), `${line}\n`);
const cancelled = new Set<number>();
const tools = ['pay', 'look'].map((name) => ({
  name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: name === 'look' },
}));

function answerTo({ id, method, params }: Message, say: (answer: object) => void): void {
  if (method === 'notifications/cancelled') {
    log(`cancelled`);
    cancelled.add(params?.requestId ?? -1);
  }
  if (id === undefined) return;
  const answer = (body: object) => say({ jsonrpc: '2.0', id, ...body });
  if (method === 'initialize')
    return answer({
      result: {
        protocolVersion: params?.protocolVersion ?? '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'late', version: '1' },
      },
    });
  if (method === 'tools/list') return answer({ result: { tools } });
  if (method !== 'tools/call') return answer({ error: { code: -32_601, message: 'no' } });
  log(`called ${params?.name ?? ''}`);
  const file = path.join(folder, 'answer');
  const timer = setInterval(() => {
    if (!existsSync(file)) return;
    clearInterval(timer);
    if (cancelled.has(id) && how !== 'stubborn') return log('kept its answer');
    answer(JSON.parse(readFileSync(file, 'utf8')) as object);
    if (how === 'stubborn') answer({ result: { content: [{ type: 'text', text: 'twice' }] } });
  }, 10);
}

if (way === 'stdio') {
  createInterface({ input: process.stdin }).on('line', (line) =>
    answerTo(JSON.parse(line) as Message, (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)),
  );
  process.stdin.on('end', () => process.exit(0));
} else {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const message = JSON.parse(body) as Message;
      if (message.id === undefined) {
        response.writeHead(202).end();
        return answerTo(message, () => undefined);
      }
      response.on('close', () => {
        if (!response.writableEnded) log('hung up');
      });
      if (message.method === 'tools/call' && way === 'stream') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        return answerTo(message, (answer) => response.end(`data: ${JSON.stringify(answer)}\n\n`));
      }
      answerTo(message, (answer) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
      );
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.send?.(address?.port);
  });
}
