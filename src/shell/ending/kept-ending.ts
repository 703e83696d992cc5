/**
 * The end of a call of which some items are done: whatever ends it, it ends as a partial result. The items that were
 * not sent again, or failed again, are told with what the end of the call would have been without the others.
 */
import { type Envelope, type RestingReply, succeeded } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import type { PartialError } from '../../core/call/reply.ts';
import { inOrder, type PlacedError } from '../../core/partial/kept-parts.ts';
import type { Ending } from './ending.ts';
import type { KeptParts } from './kept-parts.ts';

/** The ending as it is, unless it would say of a call that is partly done that nothing was. */
export function withKept(ending: Ending, from: Call, reached: Call, parts: KeptParts | null): Ending {
  if (from.kept !== true || reached.state !== 'SUCCEEDED' || ending.result !== undefined) return ending;
  const result = parts?.kept?.result ?? null;
  return {
    ...ending,
    result,
    say: (envelope, effect) => sayKept(ending.say(envelope, 'none'), envelope, parts) ?? ending.say(envelope, effect),
  };
}

/** Null if a person or a read said what the call returned. */
function sayKept(told: RestingReply, envelope: Envelope, parts: KeptParts | null): RestingReply | null {
  const { kept = null, names = [] } = parts ?? {};
  const { dispatch: _, ...plain } = envelope;
  const attempts = envelope.dispatch === undefined ? plain : envelope;
  if (!('error' in told)) {
    const isSaid = told.result !== null || kept === null;
    return isSaid ? null : succeeded(attempts, kept.result, inOrder(kept.errors));
  }
  const because = { class: told.class, code: told.code } as Pick<PartialError, 'class' | 'code'>;
  const message = told.message;
  if (kept === null) return succeeded(attempts, null, [{ ...because, item: '*', message } as PartialError]);
  const left = kept.left.map((at): PlacedError => {
    return { at, error: { ...because, item: names[at] ?? at, message } as PartialError };
  });
  return succeeded(attempts, kept.result, inOrder([...kept.errors, ...left]));
}
