/**
 * How do other processes commit through this one? A socket that only our user can open; each connection says who it is,
 * then sends commits, which wait in the same queue as our own. Garbage ends its connection and harms nobody else.
 */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

import type { IncarnationId } from '../../core/call.ts';
import type { CommitResult, Transition } from '../../ports/store.ts';
import type { WriteRequest } from './batch.ts';
import { isObject } from '../../core/json.ts';
import { createFrameReader, encodeFrame } from './frames.ts';
import type { Place } from './place.ts';
import { isPrivateFolder } from './private-folder.ts';
import { areRequests } from './request-shape.ts';
import { object, text, whole } from './shape.ts';
import type { Writer } from './writer.ts';

export const protocolVersion = 4;

const maxConnections = 64;
const maxInFlight = 4_096;
const maxUnreadBytes = 64 << 20;
const helloWithinMs = 10_000;
const maxIncarnationChars = 256;

export interface Door {
  close(): void;
}

export interface Welcome {
  readonly version: number;
  readonly epoch: number;
  readonly highestTimeMs: number;
}

/** What whoever serves them hears about forwarders. */
export interface ForwarderEvents {
  readonly gone: (incarnation: IncarnationId) => void;
  readonly committed: (transition: Transition, by: IncarnationId) => void;
  /** Until then their commits wait: what an earlier owner left must be on record first. */
  readonly mayWrite: Promise<void>;
}

/** Null if this place cannot have a socket: then this process works alone, and others are refused as `locked`. */
export async function serveForwarders(
  place: Place,
  writer: Writer,
  welcome: Welcome,
  events: ForwarderEvents,
): Promise<Door | null> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serve(socket, writer, welcome, events);
  });
  server.maxConnections = maxConnections;
  if (!(await listen(server, place))) return null;
  server.unref();
  return {
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listen(server: Server, { socket, socketFolder }: Place): Promise<boolean> {
  if (socketFolder !== null && !isPrivateFolder(socketFolder)) return false;
  const pipe = socket.startsWith('\\\\');
  if (!pipe && !removeStale(socket)) return false;
  const listening = new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.once('listening', () => resolve(true));
  });
  // The mask closes the moment between bind and chmod; a thread other than the main one cannot set it.
  const mask = isMainThread && !pipe ? process.umask(0o177) : null;
  try {
    server.listen(socket);
  } finally {
    if (mask !== null) process.umask(mask);
  }
  if (!(await listening)) return false;
  if (!pipe) chmodSync(socket, 0o600);
  return true;
}

/** Whoever holds the lock may remove the socket of a predecessor, but nothing else that stands there. */
function removeStale(socket: string): boolean {
  try {
    if (!lstatSync(socket).isSocket()) return false;
    unlinkSync(socket);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

const isHello = object({
  type: (value) => value === 'hello',
  version: (value) => value === protocolVersion,
  incarnation: text,
});
const isPosition = object({ epoch: whole, seq: whole });

function serve(socket: Socket, writer: Writer, welcome: Welcome, events: ForwarderEvents): void {
  let incarnation: IncarnationId | null = null;
  let inFlight = 0;
  const say = (value: unknown) => {
    const frame = encodeFrame(JSON.stringify(value));
    // Whoever never reads its answers is not worth the memory.
    if (frame === null || socket.writableLength > maxUnreadBytes) socket.destroy();
    else if (!socket.destroyed) socket.write(frame);
  };

  const commit = (id: unknown, requests: unknown): boolean => {
    if (!whole(id) || !areRequests(requests)) return false;
    inFlight += requests.length;
    if (inFlight >= maxInFlight) socket.pause();
    void write(requests).then((results) => {
      inFlight -= requests.length;
      if (inFlight < maxInFlight) socket.resume();
      say({ type: 'results', id, results });
    });
    return true;
  };

  const write = async (requests: readonly WriteRequest[]): Promise<readonly CommitResult[]> => {
    await events.mayWrite;
    const results = await writer.write(requests);
    if (incarnation === null) return results;
    for (const [at, request] of requests.entries())
      if (!('erase' in request) && results[at]?.kind === 'committed') events.committed(request, incarnation);
    // INVARIANT: what lands when its link has ended is owed to nobody who could say that they have it.
    if (socket.destroyed) events.gone(incarnation);
    return results;
  };

  const receive = (value: unknown): boolean => {
    if (!isObject(value)) return false;
    if (incarnation === null) {
      if (!isHello(value) || String(value['incarnation']).length > maxIncarnationChars) return false;
      incarnation = value['incarnation'] as IncarnationId;
      socket.setTimeout(0);
      say({ type: 'welcome', ...welcome });
      return true;
    }
    if (value['type'] === 'commit') return commit(value['id'], value['requests']);
    if (value['type'] !== 'answered' || !isPosition(value['position'])) return false;
    writer.answered(value['position'] as { epoch: number; seq: number });
    return true;
  };

  const read = createFrameReader(receive);
  socket.unref();
  socket.setTimeout(helloWithinMs, () => socket.destroy());
  socket.on('data', (chunk) => {
    if (!read(chunk)) socket.destroy();
  });
  socket.on('error', () => socket.destroy());
  socket.once('close', () => {
    if (incarnation !== null) events.gone(incarnation);
  });
}
