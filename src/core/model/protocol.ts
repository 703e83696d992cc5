/**
 * How the models of one kind of provider are spoken to: paths, what a request needs, what answers, streams and errors
 * mean. Pure functions and data; whoever sends is elsewhere.
 */
import type { ErrorReply } from '../call/reply.ts';
import type { RetryRule } from '../recovery/playbook.ts';
import type { ErrorKind, ErrorCode, ErrorSubject } from '../taxonomy.ts';
import type { Json, JsonObject } from '../values/json.ts';

export interface ModelProtocol {
  /** By the name of its tool: `chat`, `responses`, `messages`. */
  readonly operations: Readonly<Record<string, ModelOperation>>;
  /** Of every request, beside those of the file. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the provider lists its models, below its address, and what it says of them; null if it does not. */
  readonly listing: { readonly path: string; readonly read: (body: Json) => readonly ListedModel[] } | null;
  /** In place of the rules for all providers; null keeps those. */
  readonly retry: RetryRule | null;
}

/** What a provider says of one of its models. What it does not say is absent. */
export interface ListedModel {
  readonly name: string;
  readonly streaming?: boolean;
  readonly tools?: boolean;
  readonly contextTokens?: number;
  readonly maxOutputTokens?: number;
}

export interface ModelOperation {
  /** Below the address of the provider. */
  readonly path: string;
  readonly description: string;
  /** JSON Schema of the request. */
  readonly input: JsonObject;
  readonly needs: (args: JsonObject) => ModelNeeds;
  /** The same request for the model of this name. Where the provider must be asked to say what it used, it is. */
  readonly withModel: (args: JsonObject, model: string) => JsonObject;
  /** What a whole answer says that it used; null if it says nothing that can be read. */
  readonly usage: (answer: Json) => TokenUsage | null;
  /** What an answer that is no success means; null leaves it to its status. */
  readonly readError: (answer: ProviderAnswer) => ProviderFailure | null;
  /** Reads the stream of an answer to `asked`, the request before `withModel`; one for each. */
  readonly read: (asked: JsonObject) => StreamReader;
  /** A whole answer as the stream that could have brought it; as the answer to `asked` if that is given. */
  readonly asStream: (answer: Json, asked?: JsonObject) => readonly ProviderEvent[];
  /** Our refusals in the words of the provider, for clients that know no others. */
  readonly sayError: (reply: ErrorReply, status: number) => JsonObject;
  readonly sayErrorInStream: (reply: ErrorReply, status: number) => readonly ProviderEvent[];
}

export interface ModelNeeds {
  readonly model: string | null;
  readonly streaming: boolean;
  readonly tools: boolean;
  /** Characters of all that the model reads: messages, instructions, tools. */
  readonly inputChars: number;
  /** The most that one answer may have, if the request says so. */
  readonly maxOutputTokens: number | null;
  /** How many answers are asked for at once; absent is one. */
  readonly answers?: number;
}

export interface TokenUsage {
  /** All that was read, from a cache or not. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input: read from the cache of the provider, and written to it. */
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export interface ProviderAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null if it is no JSON. */
  readonly body: Json;
}

export interface ProviderFailure {
  readonly kind: ErrorKind;
  readonly subject: ErrorSubject | null;
  readonly code: ErrorCode | null;
  readonly errorType: string;
  readonly message: string;
  readonly retryAfterSeconds?: number | null;
}

/** One event as it is written on the wire; `event` null for one without a name. */
export interface ProviderEvent {
  readonly event: string | null;
  readonly data: string;
}

export interface StreamReader {
  /** `done`: this event is the last. `failed`: the provider says in the stream that it failed. */
  take(
    event: ProviderEvent,
  ): { readonly kind: 'more' | 'done' | 'malformed' } | { readonly kind: 'failed'; readonly failure: ProviderFailure };
  /** What whoever asked is told of an event: null is nothing. Absent: every event as it is. */
  told?(event: ProviderEvent): ProviderEvent | null;
  /** The text that each event added, so that a secret that is cut into several is found. */
  textOf(event: ProviderEvent): readonly StreamedText[];
  /** The whole answer as it would have come without a stream; what has arrived of it so far. */
  answer(): Json;
}

/** A part of a text that comes in several events: which text, and where in the event's JSON this part of it stands. */
export interface StreamedText {
  readonly text: string;
  readonly path: readonly (string | number)[];
  readonly part: string;
}
