/** The shapes of what forwarders write about reversals and rollbacks. */
import { reversalStates, stepOutcomes } from '../../../core/reversal/reversal.ts';
import { anyOf, literal, object, oneOf, orNull, text, whole } from './shape-checks.ts';

const reversal = object({
  id: text,
  tenant: text,
  agent: text,
  session: orNull(text),
  call: text,
  tool: text,
  reverser: text,
  state: oneOf(reversalStates),
  windowMs: whole,
  expiresAtMs: orNull(whole),
  redeemedBy: orNull(text),
  tries: whole,
  askedBy: orNull(text),
  reason: orNull(text),
});

const order = object({ by: text, reason: text });

export const reversalWrite = anyOf(
  object({ kind: literal('issue'), reversal }),
  object({ kind: literal('arm'), call: text, atMs: whole, due: orNull(order) }),
  object({ kind: literal('void'), call: text }),
  object({ kind: literal('order'), id: text, order }),
  object({ kind: literal('give_up'), id: text }),
  object({ kind: literal('redeem'), id: text, by: text, tries: whole }),
  object({ kind: literal('rearm'), id: text, by: text }),
);

const rollback = object({
  session: text,
  tenant: text,
  agent: text,
  state: oneOf({ running: 0, finished: 0 }),
  by: text,
  reason: text,
  startedAtMs: whole,
  finishedAtMs: orNull(whole),
  version: whole,
});

const rollbackStep = object({
  call: text,
  tool: text,
  position: whole,
  outcome: oneOf(stepOutcomes),
  why: orNull(text),
  reversal: orNull(text),
  atMs: whole,
});

export const rollbackWrite = anyOf(
  object({ kind: literal('start'), rollback }),
  object({ kind: literal('step'), session: text, expect: whole, step: rollbackStep }),
  object({ kind: literal('finish'), session: text, expect: whole, atMs: whole }),
);
