/** An answer before it is written: a reply, JSON, a problem, a text or a stream; and the request that handlers get. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { refused } from '../../core/call/answer.ts';
import type { CallId } from '../../core/call/call.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
import { invalidInput } from '../../core/gates/invalid-input.ts';
import type { RouteName } from '../../core/http/http-routes.ts';
import { type DoorCode, doorProblem, type DoorProblem } from '../../core/http/door-problems.ts';
import type { Readiness } from '../../core/gates/facts.ts';
import type { Identity } from '../../core/call/identity.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { WatchedClient } from '../../shell/call/requester.ts';
import type { Query } from './find-route.ts';
import type { HttpDoorOptions, HttpDoorParts } from './parts.ts';

export type Headers = Readonly<Record<string, string>>;

export type Answer =
  | { readonly kind: 'reply'; readonly reply: Reply; readonly headers?: Headers }
  | { readonly kind: 'json'; readonly status: number; readonly value: unknown; readonly headers?: Headers }
  | { readonly kind: 'problem'; readonly problem: ProblemBody; readonly headers?: Headers }
  | { readonly kind: 'text'; readonly type: string; readonly text: string }
  /** Writes to the response itself, until the stream ends; or says what is to be written. */
  | {
      readonly kind: 'stream';
      readonly run: (response: ServerResponse) => Promise<Written | void>;
      /** Closing the door waits for it. */
      readonly drains?: true;
    };

export type Written = Exclude<Answer, { kind: 'stream' }>;

/** The members of RFC 9457, and possibly more. */
export type ProblemBody = Pick<DoorProblem, 'type' | 'title' | 'status' | 'detail'> & { readonly code: string };

/** A request as handlers get it: authenticated, with its input read. */
export interface Asked {
  readonly who: Identity;
  readonly id: string;
  readonly query: Query;
  readonly body: unknown;
  readonly header: (name: string) => string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Whether the client has left, and whether the answer was flushed. */
  readonly client: WatchedClient;
  /** Aborted when the client leaves before the answer was flushed, and when the door closes. */
  readonly ended: AbortSignal;
  readonly readiness: Readiness;
  readonly settings: HttpDoorOptions;
  readonly parts: HttpDoorParts;
}

export const json = (value: unknown, status = 200): Answer => ({ kind: 'json', status, value });

export const reply = (given: Reply): Extract<Answer, { kind: 'reply' }> => ({ kind: 'reply', reply: given });

export const refuse = (code: DoorCode, detail: string, headers: Headers = {}): Answer => ({
  kind: 'problem',
  problem: doorProblem(code, detail),
  headers,
});

/** For results of the gateway that are either a value or a refusal. */
export const jsonOrReply = (value: object): Answer => ('error' in value ? reply(value as Reply) : json(value));

/**
 * Refuses a request before it is a call, in the same form as invalid arguments. Nothing is recorded. `what` is null if
 * nothing could be read.
 */
export function refuseInput(
  what: RouteName | null,
  errors: readonly FieldError[],
  { newCallId }: Pick<HttpDoorParts, 'newCallId'>,
  code: 'InputInvalid' | 'InputTooLarge' = 'InputInvalid',
): ReturnType<typeof reply> {
  const requested = what === null ? null : inSnakeCase(what);
  const envelope = { requested, callId: newCallId() as CallId, session: null, nextActions: [] };
  return reply(refused(envelope, invalidInput(requested, errors, code)));
}

const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
