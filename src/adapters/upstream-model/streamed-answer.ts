/**
 * One streamed answer: parses its events within limits, relays each as it comes, no faster than whoever asked reads
 * them, and folds them into the whole answer.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { ProviderFailure, StreamReader } from '../../core/model/protocol.ts';
import type { Json } from '../../core/values/json.ts';
import type { Relay, StreamEvent } from '../../ports/upstream.ts';
import type { HideSecrets } from '../shared/http/hide-secrets.ts';
import type { WireLimits } from './wire-limits.ts';

export type StreamEnd =
  | { readonly kind: 'done' }
  /** The provider says so. `isFirst`: before anything else. */
  | { readonly kind: 'failed'; readonly failure: ProviderFailure; readonly isFirst: boolean }
  | { readonly kind: 'malformed'; readonly problem: string }
  /** Nobody reads it any more. */
  | { readonly kind: 'left' };

interface StreamParts {
  readonly reader: StreamReader;
  readonly relay: Relay | undefined;
  readonly hide: HideSecrets;
  readonly limits: Pick<WireLimits, 'maxEventChars' | 'maxEvents'>;
}

export class StreamedAnswer {
  readonly #parts: StreamParts;
  readonly #ended = Promise.withResolvers<StreamEnd>();
  #end: StreamEnd | null = null;
  readonly #decoder = new TextDecoder();
  #arrived: EventSourceMessage[] = [];
  #events = 0;
  #relayed = false;
  readonly #parser;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    const { maxEventChars } = parts.limits;
    this.#parser = createParser({
      maxBufferSize: maxEventChars,
      onEvent: (event) => void this.#arrived.push(event),
      // Other lines that are no fields are left out, as the format says.
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded')
          this.#finish(malformed(`an event of over ${maxEventChars} characters`));
      },
    });
  }

  /** Resolves with the first of its ends; never if the connection ends before. */
  get ended(): Promise<StreamEnd> {
    return this.#ended.promise;
  }

  get end(): StreamEnd | null {
    return this.#end;
  }

  hasRelayed(): boolean {
    return this.#relayed;
  }

  /** The whole answer, or as much of it as has come. */
  answer(): Json {
    return this.#parts.reader.answer();
  }

  take = async (piece: Buffer): Promise<void> => {
    if (this.#end !== null) return;
    this.#parser.feed(this.#decoder.decode(piece, { stream: true }));
    const arrived = this.#arrived;
    this.#arrived = [];
    for (const event of arrived) if (!(await this.#hear(event))) return;
  };

  /** Whether further events are wanted. */
  async #hear({ event, data }: EventSourceMessage): Promise<boolean> {
    const { reader, hide, limits } = this.#parts;
    if (++this.#events > limits.maxEvents) return this.#finish(malformed(`more than ${limits.maxEvents} events`));
    const heard = { event: event ?? null, data: hide(data) };
    const taken = reader.take(heard);
    if (taken.kind === 'malformed') return this.#finish(malformed('an event that is no JSON object'));
    if (taken.kind === 'failed')
      return this.#finish({ kind: 'failed', failure: taken.failure, isFirst: this.#events === 1 });
    const told = reader.told === undefined ? heard : reader.told(heard);
    const isRead = told === null || (await this.#relay(told));
    if (taken.kind === 'done') return this.#finish({ kind: 'done' });
    return isRead || this.#finish({ kind: 'left' });
  }

  async #relay(event: StreamEvent): Promise<boolean> {
    const { relay } = this.#parts;
    if (relay === undefined) return true;
    // INVARIANT: what may have reached the reader counts as relayed.
    this.#relayed = true;
    return relay.send(event);
  }

  #finish(end: StreamEnd): false {
    if (this.#end === null) {
      this.#end = end;
      this.#ended.resolve(end);
    }
    return false;
  }
}

const malformed = (problem: string): StreamEnd => ({ kind: 'malformed', problem });
