/** What goes back to the client, before it is bytes: a reply, JSON, a problem, a text, or a stream. */
import type { ServerResponse } from 'node:http';
import { type DoorCode, doorProblem, type DoorProblem } from '../../core/http/door-problems.ts';
import type { Readiness } from '../../core/gates/facts.ts';
import type { Identity } from '../../core/call/identity.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { WatchedClient } from '../../shell/call/watch-client.ts';
import type { Query } from './find-route.ts';
import type { HttpDoorParts } from './parts.ts';

export type Headers = Readonly<Record<string, string>>;

export type Answer =
  | { readonly kind: 'reply'; readonly reply: Reply; readonly headers?: Headers }
  | { readonly kind: 'json'; readonly status: number; readonly value: unknown; readonly headers?: Headers }
  | { readonly kind: 'problem'; readonly problem: ProblemBody; readonly headers?: Headers }
  | { readonly kind: 'text'; readonly type: string; readonly text: string }
  /** Writes to the response by itself, for as long as it likes. */
  | { readonly kind: 'stream'; readonly run: (response: ServerResponse) => Promise<void> };

/** The members of RFC 9457, and whatever else. */
export type ProblemBody = Pick<DoorProblem, 'type' | 'title' | 'status' | 'detail'> & { readonly code: string };

/** One request that may be answered: who asks, and for what. */
export interface Asked {
  readonly who: Identity;
  readonly id: string;
  readonly query: Query;
  readonly body: unknown;
  readonly header: (name: string) => string | undefined;
  /** How the client leaves, and whether the answer reached its connection. */
  readonly client: WatchedClient;
  /** Aborted when the client goes away before the answer was flushed, and when the door closes: for whoever only waits. */
  readonly ended: AbortSignal;
  readonly readiness: Readiness;
  readonly parts: HttpDoorParts;
}

export const json = (value: unknown, status = 200): Answer => ({ kind: 'json', status, value });

export const reply = (given: Reply): Extract<Answer, { kind: 'reply' }> => ({ kind: 'reply', reply: given });

export const refuse = (code: DoorCode, detail: string, headers: Headers = {}): Answer => ({
  kind: 'problem',
  problem: doorProblem(code, detail),
  headers,
});

/** A reply if it is one: some answers of the gateway are either what was asked for, or a refusal. */
export const jsonOrReply = (value: object): Answer => ('error' in value ? reply(value as Reply) : json(value));
