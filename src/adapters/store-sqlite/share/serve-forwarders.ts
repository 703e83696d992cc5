/**
 * Serves forwarders on a socket that only our user can open. Each connection says who it is, then sends commits, which
 * wait in the same queue as our own. Garbage ends its connection and affects no other.
 */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

import type { IncarnationId } from '../../../core/call/call.ts';
import type { Position } from '../../../core/journal/record.ts';
import type { CommitResult } from '../../../ports/store.ts';
import type { WriteRequest } from '../write/batch.ts';
import type { Equal } from './equal-writes.ts';
import { isObject } from '../../../core/values/json.ts';
import { createFrameReader, encodeFrame } from './frames.ts';
import { isPrivateFolder, type Place } from './place.ts';
import { areRequests, object, text, whole } from './request-shape.ts';

export const protocolVersion = 6;

const maxConnections = 64;
const maxInFlight = 4_096;
const maxUnreadBytes = 64 << 20;
const helloWithinMs = 10_000;
/** Longer than a process tries to put on record what it knows. */
const knownWithinMs = 20_000;
const maxIncarnationChars = 256;

export interface Door {
  /**
   * Asks a forwarder to record what it knows of requesters who left an equal write. False if it could not; true if it
   * has, or is gone. One that does not answer in time is disconnected, and counts as gone.
   */
  ask(of: IncarnationId, equal: Equal): Promise<boolean>;
  /** Everyone who is connected. */
  forwarders(): readonly IncarnationId[];
  close(): void;
}

export interface Welcome {
  readonly version: number;
  readonly epoch: number;
  readonly highestTimeMs: number;
}

export interface Forwarder {
  readonly incarnation: IncarnationId;
  /** Whether its link stands: otherwise nobody hears what becomes of its commits. */
  isLinked(): boolean;
}

/** What the owner is told about forwarders. */
export interface ForwarderEvents {
  readonly gone: (incarnation: IncarnationId) => void;
  readonly write: (requests: readonly WriteRequest[], by: Forwarder) => Promise<readonly CommitResult[]>;
  readonly answered: (position: Position) => void;
}

/** Null if there can be no socket here: then this process has no forwarders, and others are refused as `locked`. */
export async function serveForwarders(place: Place, welcome: Welcome, events: ForwarderEvents): Promise<Door | null> {
  const served = new Map<Socket, Served>();
  const server = createServer((socket) => {
    served.set(socket, serve(socket, welcome, events));
    socket.once('close', () => served.delete(socket));
  });
  server.maxConnections = maxConnections;
  if (!(await listen(server, place))) return null;
  server.unref();
  return {
    async ask(of, equal) {
      const asked = [...served.values()].filter(({ incarnation }) => incarnation() === of);
      return (await Promise.all(asked.map(({ ask }) => ask(equal)))).every(Boolean);
    },
    forwarders: () => [...served.values()].map(({ incarnation }) => incarnation()).filter((each) => each !== null),
    close() {
      server.close();
      for (const socket of served.keys()) socket.destroy();
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

/** The holder of the lock may remove the socket of an earlier owner, but nothing else at that path. */
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

interface Served {
  readonly incarnation: () => IncarnationId | null;
  readonly ask: (equal: Equal) => Promise<boolean>;
}

function serve(socket: Socket, welcome: Welcome, events: ForwarderEvents): Served {
  let incarnation: IncarnationId | null = null;
  let inFlight = 0;
  const asked = new Map<number, (known: boolean) => void>();
  let lastAsked = 0;
  const say = (value: unknown) => {
    const frame = encodeFrame(JSON.stringify(value));
    // A forwarder that never reads its answers must not fill the memory.
    if (frame === null || socket.writableLength > maxUnreadBytes) socket.destroy();
    else if (!socket.destroyed) socket.write(frame);
  };

  const commit = (id: unknown, requests: unknown, by: IncarnationId): boolean => {
    if (!whole(id) || !areRequests(requests)) return false;
    inFlight += requests.length;
    if (inFlight >= maxInFlight) socket.pause();
    void events.write(requests, { incarnation: by, isLinked: () => !socket.destroyed }).then((results) => {
      inFlight -= requests.length;
      if (inFlight < maxInFlight) socket.resume();
      say({ type: 'results', id, results });
    });
    return true;
  };

  const known = (id: unknown, recorded: unknown): boolean => {
    const answer = asked.get(id as number);
    if (answer === undefined) return false;
    answer(recorded === true);
    return true;
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
    if (value['type'] === 'commit') return commit(value['id'], value['requests'], incarnation);
    if (value['type'] === 'known') return known(value['id'], value['recorded']);
    if (value['type'] !== 'answered' || !isPosition(value['position'])) return false;
    events.answered(value['position'] as { epoch: number; seq: number });
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
    for (const answer of asked.values()) answer(true);
  });
  return {
    incarnation: () => incarnation,
    ask: (equal) =>
      new Promise((resolve) => {
        const id = ++lastAsked;
        const late = setTimeout(() => socket.destroy(), knownWithinMs);
        asked.set(id, (answer) => {
          clearTimeout(late);
          asked.delete(id);
          resolve(answer);
        });
        say({ type: 'equal', id, ...equal });
      }),
  };
}
