/** What a reply claims, read as a claim: is it on record, is it final, and does it have the published shape? */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { canonicalText } from '../../src/core/values/canonical.ts';
import { replySchema } from '../../src/core/http/reply-schema.ts';
import { isPending, isSuccess, type Reply } from '../../src/core/call/reply.ts';
import type { Effect } from '../../src/core/taxonomy.ts';

const isValid = new Ajv2020({ strict: false }).compile(replySchema());

/** Null, or what is wrong with the shape. */
export function misshapen(reply: Reply): string | null {
  if (isValid(reply)) return null;
  const [first] = isValid.errors ?? [];
  return `${first?.instancePath ?? ''} ${first?.message ?? 'is wrong'} in ${JSON.stringify(reply)}`;
}

const unrecordedCodes: ReadonlySet<string> = new Set(['StoreUnavailable', 'Busy', 'DAEMON_NOT_READY']);

/** Replies that say themselves that nothing was decided, or that it is not over. */
export function isPromise(reply: Reply): boolean {
  return !isPending(reply) && (isSuccess(reply) || !unrecordedCodes.has(reply.code));
}

/** It waits for a person: nothing has happened, and something still may. */
export const isDeferral = (reply: Reply): boolean => 'code' in reply && reply.code === 'POLICY_DEFER';

/** It waits for a person to let more be spent, which is no approval of a call. */
export const isOfBudget = (reply: Reply): boolean => 'budget_id' in reply;

/** What the reply says about the call it names; null while it is pending. */
export function claimedEffect(reply: Reply): Effect | null {
  if (isPending(reply) || isDeferral(reply)) return null;
  return isSuccess(reply) ? 'applied' : reply.effect;
}

/** A doubt may still be settled; anything else is said for ever. */
export const isFinal = (reply: Reply): boolean =>
  isPromise(reply) && !isDeferral(reply) && claimedEffect(reply) !== 'unknown';

/** The reply without the words that tell a repetition from the first time. */
export function wordsOf(reply: Reply): string {
  const own = reply.notices?.filter(({ human_message: text }) => !text.startsWith(`result of call ${reply.call_id};`));
  return canonicalText({
    ...reply,
    replayed: undefined,
    notices: own === undefined || own.length === 0 ? undefined : own,
  });
}

/** It names an equal call that nobody knows the outcome of: what was asked for may have happened. */
export const isFenced = (reply: Reply): boolean => 'error' in reply && reply.error === 'fenced';
