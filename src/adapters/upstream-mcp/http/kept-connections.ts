/**
 * Connections to servers over plain HTTP, kept for the next question: one question at a time over each, the one that was used last
 * is used first. Says how each exchange ended, once. Must not ask anything twice.
 */
import { connect } from 'node:net';
import { type AnswerHead, type AnswerParts, type AnswerReader, createAnswerReader, hungUp } from './answer-reader.ts';
import { createFloodGate, type FloodGate } from './flood-gate.ts';

export interface Exchange {
  head(head: AnswerHead): void;
  data(bytes: Buffer): void;
  end(): void;
  /** It ended otherwise. */
  fail(error: unknown): void;
}

export interface KeptConnection {
  /** Nothing else may be under way. */
  exchange(text: string | Buffer, exchange: Exchange): void;
  pause(): void;
  resume(): void;
  /** Whoever waits for an answer does not hear of it. */
  destroy(): void;
}

interface Resting extends KeptConnection {
  /** By the monotonic clock. */
  readonly untilMs: number;
}

const restsMs = 30_000;
/** A server that says how long it waits may be gone by then. */
const marginMs = 1_000;
const sweepEveryMs = 1_000;
const maxResting = 256;

/** What comes at once in no more pieces than this costs little; beyond it, and beyond the burst, a server is read slowly. */
const usualPieces = 64;
const piecesBurst = 20_000;
const piecesPerSecond = 10_000;

const resting = new Map<string, Resting[]>();
const paces = new Map<string, FloodGate>();
let sweeping = false;

export function takeConnection(host: string, port: number): KeptConnection {
  const address = `${host} ${port}`;
  const pool = resting.get(address);
  for (let last = pool?.pop(); last !== undefined; last = pool?.pop()) {
    if (last.untilMs > performance.now()) return last;
    last.destroy();
  }
  return open(host, port, address);
}

function open(host: string, port: number, address: string): KeptConnection {
  const socket = connect({ host, port, noDelay: true, keepAlive: true });
  let current: Exchange | null = null;
  let reader: AnswerReader | null = null;
  let maxRestMs = restsMs;
  /** Of the bytes that came last. */
  let pieces: Buffer[] = [];
  let wanted = true;
  let paced = false;

  const connection = {
    untilMs: 0,
    exchange(text: string | Buffer, exchange: Exchange) {
      current = exchange;
      reader = createAnswerReader(parts);
      socket.ref();
      socket.write(text);
    },
    pause() {
      wanted = false;
      socket.pause();
    },
    resume() {
      wanted = true;
      if (!paced) socket.resume();
    },
    destroy() {
      current = reader = null;
      pieces = [];
      connection.untilMs = 0;
      socket.destroy();
    },
  };

  const parts: AnswerParts = {
    head(head) {
      const seconds = /(?:^|[, \t])timeout=(\d{1,6})/i.exec(head.headers['keep-alive'] ?? '')?.[1];
      maxRestMs = seconds === undefined ? restsMs : Math.min(restsMs, Number(seconds) * 1_000 - marginMs);
      current?.head(head);
    },
    data: (bytes) => void pieces.push(bytes),
    end(mayGoOn) {
      handOver();
      const ended = current;
      current = reader = null;
      // Who answers before the question was sent as a whole may still read the rest of it, or not.
      if (mayGoOn && socket.writableLength === 0 && !socket.destroyed) rest();
      else connection.destroy();
      ended?.end();
    },
  };

  function rest(): void {
    const pool = resting.get(address) ?? [];
    if (maxRestMs <= 0 || pool.length >= maxResting) return connection.destroy();
    resting.set(address, pool);
    connection.untilMs = performance.now() + maxRestMs;
    socket.unref();
    connection.resume();
    pool.push(connection);
    sweepSoon();
  }

  function fail(error: unknown): void {
    const failed = current;
    connection.destroy();
    const pool = resting.get(address);
    const at = pool?.indexOf(connection) ?? -1;
    if (at !== -1) pool?.splice(at, 1);
    if (pool?.length === 0) resting.delete(address);
    failed?.fail(error);
  }

  /** Whoever waits takes what came at once in one piece, into however many the server cut it. */
  function handOver(): void {
    const bytes = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    pieces = [];
    if (bytes !== undefined && bytes.length > 0) current?.data(bytes);
  }

  /** A server that cuts its answers into crumbs is read no faster than its share. */
  function pace(count: number): void {
    const restMs = count <= usualPieces ? 0 : paceOf(address).spend(count);
    if (restMs === 0 || socket.destroyed || reader === null) return;
    paced = true;
    socket.pause();
    setTimeout(() => {
      paced = false;
      if (wanted) socket.resume();
    }, restMs).unref();
  }

  function attempt(work: (reader: AnswerReader) => void): void {
    // Nobody asked: what comes now would be taken for the answer to the next question.
    if (reader === null) return connection.destroy();
    try {
      work(reader);
      const count = pieces.length;
      handOver();
      pace(count);
    } catch (error) {
      handOver();
      fail(error);
    }
  }

  socket.on('data', (bytes: Buffer) => attempt((asked) => asked.push(bytes)));
  socket.on('end', () => attempt((asked) => asked.close()));
  socket.on('error', fail);
  socket.on('close', () => fail(hungUp()));
  return connection;
}

function paceOf(address: string): FloodGate {
  const known = paces.get(address) ?? createFloodGate(piecesBurst, piecesPerSecond);
  paces.set(address, known);
  return known;
}

/** Those that rested for long enough are closed, and nothing keeps a process from ending. */
function sweepSoon(): void {
  if (sweeping) return;
  sweeping = true;
  setTimeout(() => {
    sweeping = false;
    for (const [address, pool] of resting) {
      const tired = pool.filter(({ untilMs }) => untilMs <= performance.now());
      for (const connection of tired) connection.destroy();
      const others = pool.filter((connection) => !tired.includes(connection));
      if (others.length === 0) resting.delete(address);
      else resting.set(address, others);
    }
    if (resting.size > 0) sweepSoon();
  }, sweepEveryMs).unref();
}
