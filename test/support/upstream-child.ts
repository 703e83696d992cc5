/**
 * A tiny MCP server over standard streams, written by hand so that it can misbehave. Its first argument says how it
 * starts; what a call does is in the name of the tool. Speaks plain JSON-RPC, without any SDK.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

const [mode = 'good', option = ''] = process.argv.slice(2);
const cancelled: unknown[] = [];
const say = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
const answer = (id: unknown, result: unknown) => say({ jsonrpc: '2.0', id, result });
const notify = (method: string, params: unknown = {}) => say({ jsonrpc: '2.0', method, params });
const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const object = { type: 'object' };
let generation = 0;
const priced = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };

const names =
  'echo vendor die exit_after_answer hang huge twice wrong_id garbage not_a_result rpc_error fails cancelled environment pid ask_client grow close_input input_required'.split(
    ' ',
  );

function listed(): unknown[] {
  if (mode === 'many') return Array.from({ length: 5_000 }, (_, at) => ({ name: `tool_${at}`, inputSchema: object }));
  if (mode === 'odd') return oddTools();
  if (mode === 'written') return JSON.parse(readFileSync(option, 'utf8')) as unknown[];
  if (mode === 'promising')
    return ['sell', 'look'].map((name) => ({ name, inputSchema: object, outputSchema: priced }));
  const tools: unknown[] = names.map((name) => ({
    name,
    description: `does ${name}`,
    inputSchema: object,
    'vendor/mark': { kept: [1, 2, 3] },
    annotations: { readOnlyHint: name === 'echo', 'vendor/hint': 1 },
  }));
  for (let at = 0; at < generation; at++) tools.push({ name: `grown_${at}`, inputSchema: object });
  return tools;
}

function oddTools(): unknown[] {
  const deep = JSON.parse(`${'{"properties":{"a":'.repeat(200)}{}${'}}'.repeat(200)}`) as unknown;
  return [
    { name: 'fine', inputSchema: object },
    { name: 'fine', inputSchema: object },
    { name: 'no_schema' },
    { name: 'wrong_schema', inputSchema: { type: 'strnig' } },
    { name: 'remote_ref', inputSchema: { $ref: 'https://example.invalid/schema.json' } },
    { name: 'deep', inputSchema: deep },
    { name: 'large', inputSchema: { type: 'object', description: 'x'.repeat(300_000) } },
    { name: 'line\nbreak', inputSchema: object },
    { name: 7, inputSchema: object },
    null,
    { name: 'also_fine', inputSchema: object },
  ];
}

function list(id: unknown, cursor: unknown): void {
  if (mode === 'endless') return answer(id, { tools: [], nextCursor: `${String(cursor)}x` });
  if (mode === 'circle') return answer(id, { tools: [{ name: 'only', inputSchema: object }], nextCursor: 'again' });
  if (mode !== 'paged') return answer(id, { tools: listed() });
  const from = Number(cursor ?? 0);
  const tools = listed();
  answer(id, {
    tools: tools.slice(from, from + 5),
    ...(from + 5 < tools.length ? { nextCursor: String(from + 5) } : {}),
  });
}

function call(id: unknown, params: Record<string, unknown>): void {
  const args = params['arguments'] as Record<string, unknown> | undefined;
  const acts: Record<string, () => void> = {
    echo: () => answer(id, text({ params })),
    vendor: () =>
      answer(id, {
        content: [{ type: 'vendor/hologram', beams: [1, { deep: null }] }],
        'vendor/extra': { kept: true },
        _meta: { 'vendor/trace': 'abc' },
        structuredContent: { n: 1 },
      }),
    sell: () => answer(id, { content: [], ...args }),
    look: () => answer(id, { content: [], ...args }),
    die: () => process.kill(process.pid, 'SIGKILL'),
    exit_after_answer: () => {
      writeSync(1, `${JSON.stringify({ jsonrpc: '2.0', id, result: text('last words') })}\n`);
      process.exit(3);
    },
    hang: () => undefined,
    huge: () => {
      process.stdout.write(`{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[{"type":"text","text":"`);
      const block = 'x'.repeat(1 << 20);
      for (let at = 0; at < 100; at++) process.stdout.write(block);
    },
    twice: () => {
      answer(id, text('first'));
      answer(id, text('second'));
    },
    wrong_id: () => {
      answer(Number(id) + 100_000, text('not yours'));
      answer(String(id), text('not yours either'));
      answer(0, text('nor yours'));
      answer(id, text('yours'));
    },
    garbage: () => {
      process.stdout.write('Hello, I print to stdout!\n{"jsonrpc":\n\u0000\u0001\n[]\nnull\n{"jsonrpc":"2.0"}\n');
      process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a]));
      answer(id, text('after garbage'));
    },
    not_a_result: () => answer(id, 'just a text'),
    input_required: () => answer(id, { resultType: 'input_required', requestState: 'x', inputRequests: {} }),
    rpc_error: () =>
      say({ jsonrpc: '2.0', id, error: { code: args?.['code'], message: 'as you wished', data: { a: 1 } } }),
    fails: () =>
      answer(id, {
        content: [
          { type: 'text', text: 'no' },
          { type: 'text', text: 'way' },
        ],
        isError: true,
      }),
    cancelled: () => answer(id, text(cancelled)),
    environment: () => answer(id, text(process.env)),
    pid: () => answer(id, text(process.pid)),
    ask_client: () => {
      say({
        jsonrpc: '2.0',
        id: 'mine',
        method: 'elicitation/create',
        params: { message: '?', requestedSchema: object },
      });
      waiting = (reply) => answer(id, text(reply));
    },
    grow: () => {
      generation++;
      answer(id, text('grown'));
      notify('notifications/tools/list_changed');
    },
    close_input: () => {
      process.stdin.destroy();
      closeSync(0);
      setInterval(() => undefined, 1_000);
    },
  };
  (
    acts[String(params['name'])] ??
    (mode === 'written' ? () => answer(id, text({ params })) : null) ??
    (() => say({ jsonrpc: '2.0', id, error: { code: -32602, message: 'unknown tool' } }))
  )();
}

let waiting: ((reply: unknown) => void) | null = null;

function hear({ id, method, params = {}, ...rest }: Message): void {
  if (method === undefined) return waiting?.(rest);
  if (method === 'initialize' && mode !== 'hang_in_initialize') {
    const serverInfo = { name: 'upstream-child', version: '1.0.0' };
    const capabilities = { tools: { listChanged: true } };
    if (mode === 'garbage_in_initialize') return void process.stdout.write('<html>nope</html>\n');
    const reply = () => answer(id, { protocolVersion: '2025-11-25', capabilities, serverInfo });
    if (mode === 'slow_start') whenThere(option, reply);
    else reply();
  }
  if (method === 'tools/list' && mode !== 'hang_in_list') list(id, params['cursor']);
  if (method === 'tools/call') call(id, params);
  if (method === 'ping') answer(id, {});
  if (method === 'notifications/cancelled') cancelled.push(params['requestId']);
  if (method === 'notifications/initialized') begin();
}

function begin(): void {
  if (mode === 'flood')
    flood(
      process.stdout,
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x'.repeat(100) } })}\n`,
    );
  if (mode === 'flood_answers')
    flood(process.stdout, `${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { big: 'x'.repeat(1_000) } })}\n`);
  if (mode === 'flood_changes')
    flood(process.stdout, `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })}\n`);
  if (mode === 'flood_requests')
    flood(process.stdout, `${JSON.stringify({ jsonrpc: '2.0', id: 'r', method: 'roots/list' })}\n`);
  if (mode === 'flood_stderr') flood(process.stderr, `${'e'.repeat(10_000)}\n`);
}

/** Once the test has written the file. */
function whenThere(file: string, act: () => void): void {
  if (existsSync(file)) act();
  else setTimeout(() => whenThere(file, act), 5);
}

/** As fast as the other side reads. */
function flood(stream: NodeJS.WriteStream, line: string): void {
  const block = line.repeat(Math.ceil(65_536 / line.length));
  const more = () => {
    while (stream.write(block)) continue;
  };
  stream.on('drain', more);
  more();
}

writeSync(2, `started as ${mode}\n`);
if (mode === 'dies_at_once') process.exit(7);
if (mode === 'ignores_signals') process.on('SIGTERM', () => undefined);
if (mode === 'ignores_signals' || mode === 'has_grandchild') setInterval(() => undefined, 1_000);
if (mode === 'has_grandchild') {
  const grandchild = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
  process.stderr.write(`grandchild ${grandchild.pid}\n`);
}
createInterface({ input: process.stdin }).on('line', (line) => hear(JSON.parse(line) as Message));
