/** A forwarder's connection to the owner. When it is lost, the outcome of whatever was in flight is not known. */
import { connect } from 'node:net';

import type { IncarnationId } from '../../../core/call/call.ts';
import { isObject } from '../../../core/values/json.ts';
import type { Position } from '../../../core/journal/record.ts';
import type { CommitResult } from '../../../ports/store.ts';
import type { Equal } from './equal-writes.ts';
import { createFrameReader, encodeFrame } from './frames.ts';
import { isPrivateFolder, type Place } from './place.ts';
import { protocolVersion, type Welcome } from './serve-forwarders.ts';
import { object, text, whole } from './request-shape.ts';

export interface OwnerLink {
  readonly welcome: Welcome;
  alive(): boolean;
  /** Requests as JSON. Null if the connection was lost; 'too_large' if they do not fit a frame. */
  commit(requests: readonly string[]): Promise<readonly CommitResult[] | null | 'too_large'>;
  answered(position: Position): void;
  /** False if the owner says nothing for `withinMs`; the connection stays. */
  answers(withinMs: number): Promise<boolean>;
  close(): void;
}

const isQuestion = object({ type: text, id: whole, session: text, fingerprint: text });
type Question = Equal & { readonly id: number };

const welcomeWithinMs = 5_000;
/** A disk that stalls is waited for; an owner that is stopped, or hangs, is not waited for without end. */
export const defaultAnswerWithinMs = 10_000;

export interface LinkSettings {
  readonly place: Place;
  readonly incarnation: IncarnationId;
  /** An owner that leaves a commit without an answer for so long counts as lost. */
  readonly answerWithinMs: number;
  /** The owner asks: has whatever is known here of requesters who left an equal write been put on record? */
  readonly known: (equal: Equal) => Promise<boolean>;
}

/** Null if nobody answers there. */
export function linkToOwner({ place, incarnation, answerWithinMs, known }: LinkSettings): Promise<OwnerLink | null> {
  if (place.socketFolder !== null && !isPrivateFolder(place.socketFolder)) return Promise.resolve(null);
  return new Promise((resolve) => {
    const socket = connect(place.socket);
    const waiting = new Map<number, (results: readonly CommitResult[] | null) => void>();
    let lastId = 0;
    let welcomed = false;

    const link = (welcome: Welcome): OwnerLink => ({
      welcome,
      alive: () => !socket.destroyed,
      commit(requests) {
        if (socket.destroyed) return Promise.resolve(null);
        const id = ++lastId;
        const frame = encodeFrame(`{"type":"commit","id":${id},"requests":[${requests.join(',')}]}`);
        if (frame === null) return Promise.resolve('too_large');
        return new Promise((done) => {
          const late = setTimeout(() => socket.destroy(), answerWithinMs);
          waiting.set(id, (results) => {
            clearTimeout(late);
            done(results);
          });
          // The process stays while somebody waits for an answer.
          socket.ref();
          socket.write(frame);
        });
      },
      answered(position) {
        const frame = encodeFrame(JSON.stringify({ type: 'answered', position }));
        if (frame !== null && !socket.destroyed) socket.write(frame);
      },
      answers(withinMs) {
        // A commit of nothing is answered at once by whoever can answer at all.
        const frame = encodeFrame(`{"type":"commit","id":${++lastId},"requests":[]}`);
        if (socket.destroyed || frame === null) return Promise.resolve(false);
        const id = lastId;
        return new Promise((done) => {
          const late = setTimeout(() => done(false), withinMs).unref();
          waiting.set(id, (results) => {
            clearTimeout(late);
            done(results !== null);
          });
          socket.write(frame);
        });
      },
      close: () => socket.end(),
    });

    const answer = ({ id, session, fingerprint }: Question): boolean => {
      void known({ session, fingerprint }).then((recorded) => {
        const frame = encodeFrame(JSON.stringify({ type: 'known', id, recorded }));
        if (frame !== null && !socket.destroyed) socket.write(frame);
      });
      return true;
    };

    const receive = (value: unknown): boolean => {
      if (!isObject(value)) return false;
      if (value['type'] === 'welcome' && value['version'] === protocolVersion && !welcomed) {
        welcomed = true;
        socket.setTimeout(0);
        socket.unref();
        resolve(link(value as unknown as Welcome));
        return true;
      }
      if (value['type'] === 'equal' && welcomed && isQuestion(value)) return answer(value as unknown as Question);
      const done = waiting.get(value['id'] as number);
      if (value['type'] !== 'results' || done === undefined || !Array.isArray(value['results'])) return false;
      waiting.delete(value['id'] as number);
      if (waiting.size === 0) socket.unref();
      done(value['results'] as CommitResult[]);
      return true;
    };

    const read = createFrameReader(receive);
    socket.setTimeout(welcomeWithinMs, () => socket.destroy());
    socket.once('connect', () => {
      const hello = encodeFrame(JSON.stringify({ type: 'hello', version: protocolVersion, incarnation }));
      if (hello !== null) socket.write(hello);
    });
    socket.on('data', (chunk) => {
      if (!read(chunk)) socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      resolve(null);
      for (const done of waiting.values()) done(null);
      waiting.clear();
    });
  });
}
