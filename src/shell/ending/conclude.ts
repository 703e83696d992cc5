/**
 * Ends a call, or moves it on: the one place that computes the next state, the reply and the transition of an event.
 * Writes nothing; the caller commits. A capability adds its part to this commit by a rider in the list at the end of
 * this file.
 */
import type { Envelope, RestingReply } from '../../core/call/answer.ts';
import { addNotices } from '../../core/call/notices.ts';
import type { Call } from '../../core/call/call.ts';
import { isUnderWay, type SideEffect } from '../../core/call/lifecycle.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { StoredCall, Transition } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';
import { type CallContext, contextElsewhere, type End, type Ending, type EndRider, type Move } from './ending.ts';
import { advanceAll, type CommitParts, effectOf, mergeParts, note, toTransition } from './transition.ts';
import { viewOf } from '../../core/recovery/dispatch.ts';
import { budgetRider } from './budget-rider.ts';
import { withKept } from './kept-ending.ts';
import { recoveryRider } from './recovery-rider.ts';
import { reversalEnding } from '../reversal/riders.ts';
import { turnRider } from './turn-rider.ts';
import { workflowRider } from './workflow-rider.ts';

export interface Concluded {
  readonly call: Call;
  readonly reply: RestingReply;
  readonly transition: Transition;
}

export function conclude(from: Call, asked: Ending, context: CallContext, shell: Shell): Concluded {
  const { next: moved, effects } = advanceAll(from, asked.events);
  const ending = withKept(asked, from, moved, context.parts);
  // What is adopted was not sent: no attempt counts.
  const reached = ending.adopts === undefined ? moved : { ...moved, attempt: 0 };
  const effect = effectOf(reached.state);
  const move: Move = { from, next: reached, effect, ending, context };
  const added = riders.map((ride) => ride(move, shell));
  const due = added.find((addition) => addition.dueAtMs !== undefined)?.dueAtMs;
  const next = due === undefined ? reached : { ...reached, dueAtMs: due };
  const say = added.find((addition) => addition.say !== undefined)?.say ?? ending.say;
  const envelope = added.find((addition) => addition.envelope !== undefined)?.envelope ?? context.envelope(next);
  const dispatch = viewOf(ending.dispatch, next.attempt);
  const beside = Object.assign({}, ...added.map((addition) => addition.beside)) as Partial<Envelope>;
  const told = dispatch === null ? { ...envelope, ...beside } : { ...envelope, ...beside, dispatch };
  const reply = addNotices(say(told, effect), context.notices);
  const end: End = { ...move, next, reply, facts: Object.assign({}, ...added.map(({ facts }) => facts)) as JsonObject };
  const noted = { notes: ending.notes?.(end) ?? [] };
  // What does not change the state leaves only its notes.
  const parts =
    next.state !== from.state
      ? mergeParts([
          ending.parts ?? {},
          lastRecord(end, effects),
          ...added.map((addition) => addition.parts ?? {}),
          noted,
        ])
      : noted;
  return { call: next, reply, transition: toTransition(from, next, effects, parts, shell) };
}

/** For a call that this process does not run. Null if the events do not move it. */
export async function concludeElsewhere(call: StoredCall, ending: Ending, shell: Shell): Promise<Concluded | null> {
  const { next } = advanceAll(call, ending.events);
  if (next.state === call.state) return null;
  return conclude(call, ending, await contextElsewhere(call, next, shell), shell);
}

/** The record of the state that is reached. INVARIANT: a call that rests has its reply on record with its state. */
function lastRecord(end: End, effects: readonly SideEffect[]): CommitParts {
  const kind = effects.findLast((effect) => effect.kind === 'record')?.record;
  if (kind === undefined) return {};
  const reply = isUnderWay(end.next.state) ? [] : [{ part: 'reply', text: canonicalText(end.reply) }];
  // A call that ends between two attempts with what is done passes through one that sends nothing.
  const unsent = end.from.state === 'RETRY_WAIT' && end.next.state === 'SUCCEEDED';
  return {
    // Whoever ends the call, its record says what riders did: what a budget was charged, what state a step left.
    body: {
      ...(unsent ? { dispatched: { attempt: end.from.attempt, sent: false } } : {}),
      [kind]: { ...end.facts, ...end.ending.record?.(end) },
    },
    payloads: { [kind]: [...reply, ...(end.ending.payloads ?? [])] },
  };
}

/** Work that goes on after its call has succeeded: the commit of the success says by when it must be reported. */
export const taskRider: EndRider = ({ from, next, ending, context: { reportsWithinMs } }, shell) => {
  // The task of an adopted result was opened by the call that did the work.
  if (ending.adopts !== undefined) return {};
  if (next.state !== 'SUCCEEDED' || from.state === 'SUCCEEDED' || reportsWithinMs === null) return {};
  const dueAtMs = shell.ports.clock.nowMs() + reportsWithinMs;
  const opened = note('task_opened', next, { tool: next.tool, due_at_ms: dueAtMs });
  return { parts: { task: { kind: 'open', call: next.id, dueAtMs }, notes: [opened] } };
};

/** In the order in which their records are written. */
const riders: readonly EndRider[] = [workflowRider, recoveryRider, turnRider, taskRider, budgetRider, reversalEnding];
