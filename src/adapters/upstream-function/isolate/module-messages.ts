/** Messages between the gateway and the thread of a module. Everything is passed by structured clone. */
import type { SuppressedByBody, UpstreamResult } from '../../../ports/upstream.ts';
import type { ThreadBody } from '../check-definition.ts';
import type { Printed } from './worker-messages.ts';
import type { ContextFacts } from '../tool-context.ts';

/** What the thread is started with. */
export interface ModuleFacts {
  /** Shared: the number of the last order that the thread has begun. Orders are begun one after the other. */
  readonly begun: Int32Array<SharedArrayBuffer>;
}

export type ToModule =
  | {
      readonly kind: 'run';
      readonly order: number;
      readonly body: ThreadBody;
      readonly args: unknown;
      /** Null: the body is only loaded. */
      readonly facts: ContextFacts | null;
    }
  /** The call was cancelled. */
  | { readonly kind: 'abort'; readonly order: number; readonly reason: string }
  /** The answer to a request. */
  | { readonly kind: 'told'; readonly question: number; readonly answer: Told }
  | { readonly kind: 'ping' };

export type Told =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly name: string; readonly message: string };

export type FromModule =
  | { readonly kind: 'ended'; readonly order: number; readonly outcome: UpstreamResult }
  | {
      readonly kind: 'asks';
      readonly order: number;
      readonly question: number;
      readonly service: 'elicit' | 'sample' | 'call';
      readonly given: readonly unknown[];
    }
  | { readonly kind: 'suppressed'; readonly order: number; readonly told: SuppressedByBody }
  | { readonly kind: 'pong' }
  /** An unhandled rejection. */
  | { readonly kind: 'stray'; readonly name: string; readonly message: string }
  | ({ readonly kind: 'printed' } & Printed);
