/** MCP over HTTP and over standard input and output. Tool calls meet the faults; everything else is the SDK's. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  type CallToolResult,
  createMcpHandler,
  isJSONRPCRequest,
  ProtocolError,
  Server,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isObject, type Json, type JsonObject } from '../core/values/json.ts';
import { unreachable } from '../core/values/unreachable.ts';
import type { Desk, Written } from './carry-out.ts';
import { operationNames, type OperationName, tools } from './operations.ts';
import type { Asked } from './payments.ts';

/** The tool call of a message; null for anything else, which is the SDK's to answer. */
export function callIn(message: unknown, connection: number): Asked | null {
  return isJSONRPCRequest(message) && message.method === 'tools/call' ? askedBy(message.params, connection) : null;
}

function askedBy(params: unknown, connection: number): Asked | null {
  if (!isObject(params) || !operationNames.includes(params['name'] as OperationName)) return null;
  const { arguments: args = {}, _meta: meta } = params;
  if (!isObject(args)) return null;
  const key = isObject(meta) ? meta['recourse/idempotency_key'] : undefined;
  return {
    operation: params['name'] as OperationName,
    args: args as JsonObject,
    key: typeof key === 'string' ? key : null,
    connection,
  };
}

type CallTool = (params: unknown) => Promise<CallToolResult>;

function createServer(callTool: CallTool): Server {
  const server = new Server({ name: 'recourse-faults', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: tools as never }));
  server.setRequestHandler('tools/call', ({ params }) => callTool(params));
  return server;
}

/** Node's own types, which the SDK's are meant to be. */
type NodeHandler = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>;

const unknownTool: CallTool = async () => failed('there is no such tool, or its arguments are not an object');

/** Answers a message that is already read. `written` is what a tool call came to; null for other messages. */
export async function serveMcp(
  request: IncomingMessage,
  response: ServerResponse,
  message: unknown,
  written: Written | null,
): Promise<void> {
  const callTool = written === null ? unknownTool : async () => resultOf(written);
  const handler = createMcpHandler(() => createServer(callTool));
  await (toNodeHandler(handler) as NodeHandler)(request, response, message);
  await handler.close();
}

/** Of what reaches the client as a result. The rest is written by the front, below JSON-RPC. */
export function resultOf(written: Written): CallToolResult {
  switch (written.kind) {
    case 'outcome':
    case 'reply': {
      const { status, body } = written.reply;
      return status < 400 ? succeeded(body) : failed(JSON.stringify(body));
    }
    case 'instead':
      return succeeded(written.body);
    case 'tool_error':
      return failed('the fault tool_error was asked for');
    case 'rpc_error':
      throw new ProtocolError(-32_603, 'the fault rpc_error was asked for');
    case 'malformed':
    case 'truncated':
    case 'drop':
    case 'nothing':
    case 'refuse':
      return failed('bug: this fault has no result');
    default:
      return unreachable(written);
  }
}

const succeeded = (body: Json): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(body) }],
  structuredContent: body as Record<string, unknown>,
});
const failed = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });

export interface ServedStdio {
  /** When the client is gone, or a fault cut the connection. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export function serveMcpStdio(desk: Desk): ServedStdio {
  const gone = Promise.withResolvers<void>();
  const never = new Promise<never>(() => undefined);
  const callTool: CallTool = async (params) => {
    const asked = askedBy(params, 0);
    if (asked === null) return unknownTool(params);
    const written = await desk.handle(asked);
    switch (written.kind) {
      case 'malformed':
        process.stdout.write('this line is not JSON\n');
        return never;
      case 'truncated':
        process.stdout.write('{"jsonrpc":"2.0","resu');
        gone.resolve();
        return never;
      case 'drop':
      case 'refuse':
        gone.resolve();
        return never;
      case 'nothing':
        return never;
      default:
        return resultOf(written);
    }
  };
  const served = serveStdio(() => createServer(callTool), { onerror: () => undefined });
  process.stdin.once('close', gone.resolve).once('end', gone.resolve);
  return { ended: gone.promise, close: () => served.close() };
}
