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
import { type MessageId, parseAnswer, readMessage } from '../rpc-message.ts';
import { createLineSplitter } from './split-lines.ts';
import { NotSent } from '../transport-faults.ts';

export interface StdioTransport extends Transport {
  pid(): number | null;
  /** Why it ended; null while it runs. */
  ending(): string | null;
}

/** A line that was not requested costs one unit, and one more for each of so many bytes. */
const bytesPerUnit = 4_096;

export function createStdioTransport(
  server: StdioConnection,
  limits: McpLimits,
  onStderr: (text: string) => void,
): StdioTransport {
  const awaited = new Set<MessageId>();
  /** Cancelled requests: their answers may still come and be of use. The oldest are forgotten. */
  const cancelled = new Set<MessageId>();
  const unrequested = createTokenBucket(limits.floodBurst, limits.floodPerSecond);
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
      const lines = createLineSplitter(limits.maxMessageBytes, receive, () => {
        kill(`it sent a message above ${limits.maxMessageBytes} bytes and was stopped`);
      });
      child.once('spawn', resolve);
      child.on('error', (error) => {
        reject(new NotSent(whyNotStarted(server, error), { cause: error }));
        if (child.pid === undefined) finish('it could not be started');
      });
      child.once('exit', (code, signal) => {
        ending ??= signal === null ? `it ended by itself with exit code ${code}` : `it was ended by ${signal}`;
        const ends = [streamEnd(child.stdout), streamEnd(child.stderr)];
        void within(Promise.all(ends), limits.drainMs).then(() => finish('it ended'));
      });
      // A server that closes one of its streams can no longer serve, even if the process runs on.
      child.stdin.on('error', () => giveUp('it closed its input'));
      child.stdout.on('error', () => giveUp('its output could not be read'));
      child.stdout.once('end', () => giveUp('it closed its output'));
      child.stdout.on('data', (chunk: Buffer) => {
        restMs = 0;
        lines.push(chunk);
        pauseFor(child.stdout, restMs);
      });
      const stderr = createTokenBucket(limits.stderrBytesBurst, limits.stderrBytesPerSecond);
      child.stderr.on('error', () => undefined);
      child.stderr.on('data', (chunk: Buffer) => {
        onStderr(chunk.toString('utf8'));
        pauseFor(child.stderr, stderr.spend(chunk.length));
      });
    });
  }

  function receive(line: Buffer): void {
    const message = parse(line);
    const read = readMessage(message);
    // INVARIANT: an answer is handed on once, and only if its request was sent.
    const isAwaited = read?.kind === 'answer' && (awaited.delete(read.id) || cancelled.delete(read.id));
    if (!isAwaited) restMs = Math.max(restMs, unrequested.spend(1 + Math.floor(line.length / bytesPerUnit)));
    if (read === null || (read.kind === 'answer' && !isAwaited) || closed) return;
    transport.onmessage?.(message as JSONRPCMessage);
  }

  function note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) awaited.add(message.id);
    else if (message.method === 'notifications/cancelled') {
      const id = message.params?.['requestId'] as MessageId;
      if (awaited.delete(id)) cancelled.add(id);
      const [oldest] = cancelled.size > limits.maxLateAnswers ? cancelled : [];
      if (oldest !== undefined) cancelled.delete(oldest);
    }
  }

  /** Closes the input, then SIGTERM, then SIGKILL. Resolves when the child has ended. */
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

/** Escapes three characters that JSON leaves as they are and at which some programs end a line. */
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

/** Backpressure: the child waits when its pipe is full; other servers do not. */
function pauseFor(stream: { pause(): unknown; resume(): unknown }, restMs: number): void {
  if (restMs <= 0) return;
  stream.pause();
  setTimeout(() => stream.resume(), restMs).unref();
}

/** What a child wrote before it ended is still in the pipe, often with the reason why it ended. */
function streamEnd(stream: Readable): Promise<void> {
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

/** The system reports a missing cwd like a missing command. */
function whyNotStarted({ command, cwd }: StdioConnection, error: Error): string {
  return cwd !== null && !existsSync(cwd)
    ? 'there is no such folder as its cwd'
    : `the command '${command}' cannot be started: ${codeOf(error)}`;
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
