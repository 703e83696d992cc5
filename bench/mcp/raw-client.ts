/**
 * A minimal MCP client over one HTTP/1.1 connection. Of an answer it reads only the length, the status and whether it
 * is a result, so that little of what is measured is the client.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

export type Revision = '2026-07-28' | '2025-11-25';

export interface RawClient {
  call(): Promise<void>;
  close(): void;
}

interface Answer {
  readonly head: string;
  readonly body: string;
}

type Headers = Readonly<Record<string, string>>;
type Post = (headers: Headers, message: object) => Promise<Answer>;

const client = { name: 'bench', version: '1' };

/** A client that calls one tool with the same arguments each time. */
export async function connectRaw(url: string, revision: Revision, tool: string, args: object): Promise<RawClient> {
  const { post, close } = await openConnection(new URL(url));
  const headers = revision === '2026-07-28' ? callHeaders(tool) : await initialize(post, revision);
  const params = { name: tool, arguments: args, ...(revision === '2026-07-28' ? envelope : {}) };
  let id = 0;
  const call = async () => {
    const { head, body } = await post(headers, { jsonrpc: '2.0', id: ++id, method: 'tools/call', params });
    if (!head.startsWith('HTTP/1.1 200') || !body.includes('"result"') || body.includes('"isError":true'))
      throw new Error(`the bench met ${head}\n${body}`);
  };
  return { call, close };
}

const envelope = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': client,
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};

const callHeaders = (tool: string): Headers => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': tool,
});

/** Opens a session of the older revision; a server without sessions names none. */
async function initialize(post: Post, revision: Revision): Promise<Headers> {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: client };
  const { head } = await post({}, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const session = /^mcp-session-id: (.+)$/im.exec(head)?.[1]?.trim();
  const headers = {
    'mcp-protocol-version': revision,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
  await post(headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
  return headers;
}

async function openConnection({ hostname, port, pathname }: URL): Promise<{ post: Post; close(): void }> {
  const socket = connect(Number(port), hostname).setNoDelay(true);
  await once(socket, 'connect');
  let received = '';
  let waiting: PromiseWithResolvers<Answer> | null = null;
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    const answer = readAnswer(received);
    if (answer === null) return;
    received = '';
    waiting?.resolve(answer);
  });
  const fail = (error: Error) => waiting?.reject(error);
  socket.on('error', fail);
  socket.on('close', () => fail(new Error(`the server closed the connection after: ${received}`)));
  const post: Post = (headers, message) => {
    waiting = Promise.withResolvers<Answer>();
    const body = JSON.stringify(message);
    const all = {
      host: `${hostname}:${port}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    return waiting.promise;
  };
  return { post, close: () => socket.destroy() };
}

/** Null while part of the answer is missing. */
function readAnswer(received: string): Answer | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.slice(0, end);
  const body = received.slice(end + 4);
  if (/^transfer-encoding: chunked/im.test(head)) return body.endsWith('0\r\n\r\n') ? { head, body } : null;
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  return body.length >= length ? { head, body } : null;
}
