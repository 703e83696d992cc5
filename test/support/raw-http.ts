/** Requests as bytes on a socket of their own: what a client library would not send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: Record<string, unknown>;
}

/** Sends the lines with a blank one after them, then the body, and reads until the server ends the connection. */
export async function sendRaw(url: URL, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const socket = await openSocket(url);
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  return readAnswer(socket);
}

export async function openSocket({ hostname, port }: URL): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Everything until the end; status 0 if there was no answer. */
export async function readAnswer(socket: Socket): Promise<RawAnswer> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  await new Promise((resolve) => socket.on('close', resolve));
  const [head = '', rest = ''] = text.split(/\r\n\r\n(.*)/s);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body: parsed(rest) };
}

/** The object in it; around it may be the lengths of chunks. */
function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
