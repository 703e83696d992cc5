/** The words of an ending: what whoever ends a call says about it, and what a rider adds. Types only. */
import type { Envelope, RestingReply } from '../../core/call/answer.ts';
import type { Call, CallId } from '../../core/call/call.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import type { Payload, RecordDraft } from '../../core/journal/record.ts';
import type { Effect } from '../../core/taxonomy.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { Shell } from '../shell.ts';
import type { CallContext } from './call-context.ts';
import type { CommitParts } from './transition.ts';

/** The reply, once the lifecycle has said what is proven of the effect. */
export type Say = (envelope: Envelope, effect: Effect) => RestingReply;

export interface Ending {
  readonly events: readonly CallEvent[];
  readonly say: Say;
  /** What the tool returned; absent unless it did. It moves the workflow. */
  readonly result?: Json | undefined;
  /** The earlier step whose result this call takes instead of sending anything. */
  readonly adopts?: CallId;
  /** What the record of the new state says. */
  readonly record?: (end: End) => JsonObject;
  /** Kept with that record, for the audit alone. */
  readonly payloads?: readonly Payload[];
  /** Records beside that of the new state. */
  readonly notes?: (end: End) => readonly RecordDraft[];
  /** What else the commit carries: the intent of a call that begins and ends at once, the end of an approval. */
  readonly parts?: CommitParts;
}

/** An ending whose next state is known. */
export interface Move {
  readonly from: Call;
  readonly next: Call;
  readonly effect: Effect;
  readonly ending: Ending;
  readonly context: CallContext;
}

export interface End extends Move {
  readonly reply: RestingReply;
  /** What the riders say for the record. */
  readonly facts: JsonObject;
}

/** What one capability adds to the commit that ends a call. */
export type EndRider = (move: Move, shell: Shell) => EndAddition;

export interface EndAddition {
  readonly parts?: CommitParts;
  readonly facts?: JsonObject;
  /** In place of the envelope, or the reply, of a call that is nothing but a call. */
  readonly envelope?: Envelope;
  readonly say?: Say;
}
