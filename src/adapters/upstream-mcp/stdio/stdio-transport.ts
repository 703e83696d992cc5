/**
 * An SDK transport over the standard streams of a child process: one line, one message. Invalid lines, unexpected
 * answers and floods slow the child down; a message above the limit ends it. Does not restart the child; server-
 * link.ts does.
 */
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type ChildGroup, startGroup } from './child-group.ts';
import { createTokenBucket } from '../token-bucket.ts';
import type { StdioConnection } from '../mcp-config.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { type MessageId, readMessage } from '../rpc-message.ts';
import { createLineSplitter } from './split-lines.ts';
import { parseAnswer } from '../rpc-message.ts';
import { NotSent } from '../transport-faults.ts';

export interface StdioTransport extends Transport {
  pid(): number | null;
  /** Why it ended; null while it runs. */
  ending(): string | null;
}

/** An unasked line costs one unit, and one more for each of these. */
const bytesOfAUnit = 4_096;

export function createStdioTransport(
  server: StdioConnection,
  limits: McpLimits,
  onStderr: (text: string) => void,
): StdioTransport {
  const awaited = new Set<MessageId>();
  /** Withdrawn: the answer may be under way, and may still be of use. The oldest are forgotten. */
  const withdrawn = new Set<MessageId>();
  const unasked = createTokenBucket(limits.floodBurst, limits.floodPerSecond);
  const gone = Promise.withResolvers<void>();
  let group: ChildGroup | null = null;
  let ending: string | null = null;
  let isBroken = false;
  let closed = false;
  let restMs = 0;

  const transport: StdioTransport = {
    pid: () => group?.child.pid ?? null,
    ending: () => ending,
    start,
    async send(message) {
      const input = group?.child.stdin;
      if (input === undefined || ending !== null || isBroken) {
        throw new NotSent('the server is not running');
      }
      if (input.writableLength > limits.maxQueuedBytes) throw new NotSent('the server does not read its input');
      const line = `${oneLine(message)}\n`;
      note(message);
      input.write(line);
    },
    async close() {
      if (group === null) return finish('it was never started');
      void stop('it was closed');
      await gone.promise;
    },
  };
  return transport;

  function start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const started = startGroup(server);
      group = started;
      const { child } = started;
      const lines = createLineSplitter(limits.maxMessageBytes, hear, () => {
        kill(`it sent a message above ${limits.maxMessageBytes} bytes and was stopped`);
      });
      child.once('spawn', resolve);
      child.on('error', (error) => {
        reject(new NotSent(whyNotStarted(server, error), { cause: error }));
        if (child.pid === undefined) finish('it could not be started');
      });
      child.once('exit', (code, signal) => {
        ending ??= signal === null ? `it ended by itself with exit code ${code}` : `it was ended by ${signal}`;
        const words = [lastWords(child.stdout), lastWords(child.stderr)];
        void within(Promise.all(words), limits.drainMs).then(() => finish('it ended'));
      });
      // Whoever closes one of the streams can no longer serve, even if the process lives on.
      child.stdin.on('error', () => giveUp('it closed its input'));
      child.stdout.on('error', () => giveUp('its output could not be read'));
      child.stdout.once('end', () => giveUp('it closed its output'));
      child.stdout.on('data', (chunk: Buffer) => {
        restMs = 0;
        lines.push(chunk);
        rest(child.stdout, restMs);
      });
      const stderr = createTokenBucket(limits.stderrBytesBurst, limits.stderrBytesPerSecond);
      child.stderr.on('error', () => undefined);
      child.stderr.on('data', (chunk: Buffer) => {
        onStderr(chunk.toString('utf8'));
        rest(child.stderr, stderr.spend(chunk.length));
      });
    });
  }

  function hear(line: Buffer): void {
    const message = parse(line);
    const read = readMessage(message);
    // INVARIANT: an answer is handed on once, and only to a question that was asked.
    const isAwaited = read?.kind === 'answer' && (awaited.delete(read.id) || withdrawn.delete(read.id));
    if (!isAwaited) restMs = Math.max(restMs, unasked.spend(1 + Math.floor(line.length / bytesOfAUnit)));
    if (read === null || (read.kind === 'answer' && !isAwaited) || closed) return;
    transport.onmessage?.(message as JSONRPCMessage);
  }

  function note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) awaited.add(message.id);
    else if (message.method === 'notifications/cancelled') {
      const id = message.params?.['requestId'] as MessageId;
      if (awaited.delete(id)) withdrawn.add(id);
      const [oldest] = withdrawn.size > limits.maxLateAnswers ? withdrawn : [];
      if (oldest !== undefined) withdrawn.delete(oldest);
    }
  }

  /** First politely, then not. Ends when the child has. */
  async function stop(reason: string): Promise<void> {
    if (group === null || ending !== null) return;
    ending = reason;
    group.child.stdin.end();
    if (await within(gone.promise, limits.inputGraceMs)) return;
    group.signal('SIGTERM');
    if (await within(gone.promise, limits.termGraceMs)) return;
    group.signal('SIGKILL');
    if (!(await within(gone.promise, limits.termGraceMs))) finish('it cannot be killed');
  }

  /** A stream usually ends because the process does, which then tells why. */
  function giveUp(reason: string): void {
    isBroken = true;
    setTimeout(kill, limits.drainMs, reason).unref();
  }

  function kill(reason: string): void {
    ending ??= reason;
    group?.child.stdout.destroy();
    group?.signal('SIGKILL');
  }

  function finish(reason: string): void {
    if (closed) return;
    ending ??= reason;
    closed = true;
    group?.child.stdout.destroy();
    group?.child.stderr.destroy();
    gone.resolve();
    transport.onclose?.();
  }
}

/** JSON leaves three characters as they are at which some programs end a line too. */
function oneLine(message: JSONRPCMessage): string {
  return JSON.stringify(message).replace(
    /[\u0085\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function parse(line: Buffer): unknown {
  try {
    return parseAnswer(line.toString('utf8'));
  } catch {
    return null;
  }
}

/** Backpressure: the child waits when its pipe is full, and so does nobody else. */
function rest(stream: { pause(): unknown; resume(): unknown }, restMs: number): void {
  if (restMs <= 0) return;
  stream.pause();
  setTimeout(() => stream.resume(), restMs).unref();
}

/** What the child wrote before it ended is still in the pipe, and why it ended is often in it. */
function lastWords(stream: Readable): Promise<void> {
  return stream.closed ? Promise.resolve() : new Promise((resolve) => stream.once('close', resolve));
}

async function within(promise: Promise<unknown>, maxMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, maxMs, false);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The system says the same of a folder that is not there as of the command, and the command is what would be looked for. */
function whyNotStarted({ command, cwd }: StdioConnection, error: Error): string {
  return cwd !== null && !existsSync(cwd)
    ? 'there is no such folder as its cwd'
    : `the command '${command}' cannot be started: ${codeOf(error)}`;
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
