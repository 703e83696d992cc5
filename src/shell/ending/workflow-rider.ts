/**
 * What the end of a call does to its workflow. A success moves the state, in the same transaction. Everything else
 * gives the turn back and leaves the state alone. An update that throws after a success stops the session.
 */
import { failed, resolvedThere, type RestingReply } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import { ticketIdOf } from '../../core/recovery/ticket.ts';
import { renderForAuthor } from '../../core/recovery/render-error.ts';
import { type StepFact, viewAfter, withDueFired } from '../../core/workflow/step.ts';
import type { Moved } from '../../core/workflow/workflow.ts';
import type { Json } from '../../core/values/json.ts';
import type { WorkflowChange } from '../../ports/store.ts';
import { type Interpreted, interpretFailure } from '../attempt/interpret-result.ts';
import type { Step } from '../attempt/work.ts';
import { maskInputs } from '../mask.ts';
import { digestOf, draftOf } from '../session/position.ts';
import type { Shell } from '../shell.ts';
import { envelopeOfStep, type EndAddition, type EndRider, type Move, type Say } from './ending.ts';
import { outcomeEvent } from '../../core/workflow/step-error.ts';
import { type Reaction, reactTo, standingAfter } from './error-edge.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { startRollback } from '../reversal/start-rollback.ts';
import { noChange, note } from './transition.ts';

export const workflowRider: EndRider = (move, shell) => {
  const added = endInWorkflow(move, shell);
  const { from, next, context } = move;
  // The doubt of a stage is looked at again: it ends with the doubts of its calls.
  const isDue = context.isStage === true && next.state === 'IN_DOUBT' && from.state !== 'IN_DOUBT';
  return isDue ? { ...added, dueAtMs: shell.ports.clock.nowMs() + shell.limits.firstProbeMs } : added;
};

const endInWorkflow: EndRider = (move, shell) => {
  const { step, hasTurn, standing = null } = move.context;
  if (step !== null) return endStep(move, step, shell);
  const change = hasTurn ? turnChange(move) : null;
  const reaction = standing === null ? null : reactionTo(move, standing, move.ending.say, shell);
  if (reaction !== null && standing !== null)
    return react(move, reaction, { fact: standing.fact, say: move.ending.say, change }, shell);
  return change === null ? {} : { parts: { workflow: change } };
};

/** INVARIANT: a doubt takes no edge; only what settles it says which. */
const heardStates: ReadonlySet<Call['state']> = new Set(['FAILED', 'SUCCEEDED', 'CLOSED_UNKNOWN', 'REJECTED'] as const);

function reactionTo(move: Move, step: Step, say: Say, shell: Shell): Reaction | null {
  const { from, next, effect } = move;
  if (from.state === '(none)' || !heardStates.has(next.state)) return null;
  const reply = say(envelopeOfStep(next, step.fact, shell, step.inputs), effect);
  return reactTo(next, reply, step, shell, move.ending.stage);
}

interface Reacting {
  readonly fact: StepFact;
  readonly say: Say;
  /** What else the end does to the session; null if nothing. */
  readonly change: WorkflowChange | null;
}

/** The state moves by the edge of a failure, in the commit that records it; or the session stops, if it could not. */
function react(move: Move, reaction: Reaction, { fact, say, change }: Reacting, shell: Shell): EndAddition {
  const { next } = move;
  const workflow = change ?? { ...noChange, turn: 'free' as const };
  if (reaction.kind === 'moved') {
    const { snapshot, after, view, facts, resolution } = reaction;
    // In doubt, or while it waited for a person, the call has no turn: nobody else may have it now.
    const hasTurn = move.from.state === 'DISPATCHED' || move.from.state === 'RETRY_WAIT';
    const turn = hasTurn ? workflow.turn : 'free';
    return {
      envelope: { ...envelopeOfStep(next, after, shell), step: view },
      say: (envelope, effect) => {
        const told = resolvedThere(say(envelope, effect));
        return resolution === undefined ? told : { ...told, resolution };
      },
      parts: { workflow: { ...workflow, turn, snapshot }, expectSeq: fact.seq },
      facts,
    };
  }
  if (reaction.kind === 'aborted') return abort(move, workflow, fact, shell);
  const becomes = { state: 'stopped', reason: 'repair' } as const;
  return {
    envelope: { ...envelopeOfStep(next, fact, shell), nextActions: [] },
    say,
    parts: {
      workflow: { ...workflow, becomes },
      notes: [stoppedNote(next, reaction, fact)],
    },
    facts: { state_before: fact.digest, state_after: fact.digest, step: fact.seq, edge: reaction.event },
  };
}

export const stoppedNote = (
  call: Pick<Call, 'id' | 'session'>,
  { event, errorType, problem }: Extract<Reaction, { kind: 'failed' }>,
  fact: StepFact,
) =>
  note('session_stopped', call, {
    reason: 'repair',
    state: fact.digest,
    edge: event,
    problem: errorType,
    why: problem,
  });

function endStep(move: Move, step: Step, shell: Shell): EndAddition {
  const { from, next, ending } = move;
  // A success that comes to light later is adopted by the next equal step: the state does not move behind an agent's
  // back.
  const moves = next.state === 'SUCCEEDED' && (from.state === 'DISPATCHED' || ending.adopts !== undefined);
  return moves && ending.result !== undefined
    ? advanceState(move, ending.result, step, shell)
    : leave(move, step, shell);
}

function advanceState(move: Move, result: Json, step: Step, shell: Shell): EndAddition {
  const { next: call } = move;
  const { fact } = step;
  const now = shell.ports.clock.nowMs();
  const moved = apply(move, step, result, now, shell);
  if (moved.kind === 'failed') return stopForRepair(move, moved, fact, shell);
  const snapshot = draftOf(moved.snapshot);
  const digest = digestOf(call.session as NonNullable<Call['session']>, snapshot.text, shell);
  const after = withDueFired({ ...fact, snapshot: moved.snapshot, seq: fact.seq + 1, digest }, now);
  return {
    envelope: { ...envelopeOfStep(call, after, shell), step: viewAfter(fact, after) },
    parts: { workflow: { ...turnChange(move), snapshot }, expectSeq: fact.seq },
    facts: { state_before: fact.digest, state_after: digest, step: after.seq },
  };
}

/** The call gives its turn back, wherever it ended; its operation is fenced if nobody knows whether it happened. */
function turnChange({ from, next, ending }: Move): WorkflowChange {
  // INVARIANT: the earlier fence goes with the same stroke that moves the state: a result is adopted once.
  if (ending.adopts !== undefined) return { ...noChange, turn: 'free', call: ending.adopts, fence: 'lifted' };
  const { takesTurnFor: operation } = ending;
  if (operation !== undefined) return { ...noChange, turn: 'take', call: next.id, operation, fence: 'lifted' };
  // A failure that had an effect leaves no result to adopt.
  const failed = ending.events.some(({ kind }) => kind === 'failed');
  const ended = next.state === 'FAILED' || next.state === 'CLOSED_UNKNOWN' || (failed && next.state === 'SUCCEEDED');
  const settled = from.state === 'IN_DOUBT' && ended;
  const raised = next.state === 'IN_DOUBT' && from.state !== 'IN_DOUBT';
  return {
    ...noChange,
    // Between two attempts the step is not over.
    turn: next.state === 'RETRY_WAIT' ? null : 'release',
    call: next.id,
    fence: raised ? 'raised' : settled ? 'lifted' : null,
  };
}

/** A stage gave its workflow up: what its session did is undone, and it takes no further step. */
function abort({ next, ending }: Move, workflow: WorkflowChange, fact: StepFact, shell: Shell): EndAddition {
  const resolution = { type: 'replan', reason: 'the workflow was aborted; open a new session' } as const;
  const { session, tenant, agent } = next;
  invariant(session !== null, 'a step has a session');
  return {
    envelope: { ...envelopeOfStep(next, fact, shell), nextActions: [] },
    say: (envelope, effect) => ({ ...ending.say(envelope, effect), resolution }) as RestingReply,
    parts: { ...startRollback({ id: session, tenant, agent }, `step ${next.id}`, 'aborted', shell), workflow },
    facts: { state_before: fact.digest, state_after: fact.digest, step: fact.seq, edge: 'abort-workflow' },
  };
}

interface Applied {
  readonly next: Call;
  readonly ending: Pick<Move['ending'], 'stage'>;
}

/** INVARIANT: guards are asked about the inputs that came; the state is made of nothing that must not be shown. */
function apply(
  { next: { tool, agent }, ending: { stage } }: Applied,
  { fact, inputs }: Step,
  result: Json,
  nowMs: number,
  shell: Shell,
): Moved {
  const shown = maskInputs(inputs, agent, shell);
  const { machine } = fact.workflow;
  const snapshot = standingAfter(fact.snapshot, tool, stage);
  const outcome = stage?.outcome ?? null;
  if (outcome === null) return machine.apply(snapshot, tool, inputs, result, nowMs, shown);
  const event = outcomeEvent(tool, outcome);
  const reacted = machine.react(snapshot, { type: event, inputs: shown, result }, nowMs);
  if (reacted.kind !== 'stays') return reacted;
  return { kind: 'failed', errorType: 'NotTaken', problem: `no edge of '${event}' was taken` };
}

function leave(move: Move, { fact: before, inputs }: Step, shell: Shell): EndAddition {
  const { from, next, ending, context } = move;
  const fact = withDenial(before, move);
  const say: Say = (envelope, effect) => {
    const ended = ending.say(envelope, effect);
    // The session was open when the step began; if it was cancelled meanwhile, nothing is next in it.
    const isOver = 'code' in ended && ended.code === 'SessionCancelled';
    const reply = isOver ? ending.say({ ...envelope, nextActions: [] }, effect) : ended;
    return fact.workflow.debugMessages ? withCause(reply, move, shell) : reply;
  };
  const waitsFor = next.state === 'IN_DOUBT' ? (ending.stage?.waitsFor ?? null) : null;
  const change = from.state === '(none)' ? null : turnChange(move);
  const late = context.standing;
  const standing = late === undefined ? { fact, inputs } : late;
  const reaction = standing === null ? null : reactionTo(move, standing, say, shell);
  if (reaction !== null && standing !== null) return react(move, reaction, { fact: standing.fact, say, change }, shell);
  return {
    envelope: envelopeOfStep(next, fact, shell, inputs),
    say,
    // A call that was never recorded has no turn.
    parts: change === null ? {} : { workflow: change },
    facts: {
      state_before: fact.digest,
      state_after: fact.digest,
      step: fact.seq,
      ...(fact.workflow.debugMessages ? { debug_messages: true } : {}),
      ...(waitsFor === null ? {} : { waits_for: waitsFor }),
    },
  };
}

/** What its upstream forbade is fenced by this very commit, so it is not next any more. */
function withDenial(fact: StepFact, { next, ending: { dispatch }, context }: Move): StepFact {
  const ticket = dispatch?.kind === 'failed' ? dispatch.ticket : null;
  if (ticket?.reason !== 'policy_denied' || context.forbids === null || context.forbids === 'nothing') return fact;
  const { operation } = context.forbids;
  const denial = { operation, callId: next.id, ticket: ticketIdOf(next.id, ticket.reason), queue: ticket.queue };
  return { ...fact, denials: [...(fact.denials ?? []), denial] };
}

/** A read whose result the workflow cannot take has had no effect: it failed, and the session stays where it is. */
export function asFailedRead(call: Call, ended: Interpreted, step: Step, shell: Shell): Interpreted {
  if (call.effectClass !== 'pure' || ended.result === undefined) return ended;
  const moved = apply({ next: call, ending: {} }, step, ended.result, shell.ports.clock.nowMs(), shell);
  if (moved.kind !== 'failed') return ended;
  const failure = {
    ...unfollowed,
    errorType: moved.errorType,
    message: `the workflow cannot follow: ${moved.problem}`,
  };
  return interpretFailure(call, failure, shell.limits);
}

const unfollowed = {
  kind: 'threw',
  subject: null,
  effect: 'none',
  retryAfterSeconds: null,
  code: null,
  cause: null,
} as const;

/** For authors at work: the cause chain reaches the agent too, because the workflow says so. Secrets still do not. */
function withCause(reply: RestingReply, { ending }: Move, { limits }: Shell): RestingReply {
  const cause = ending.payloads?.find(({ part }) => part === 'cause')?.text;
  if (cause === undefined || !('error' in reply) || reply.error !== 'action_error') return reply;
  const told = renderForAuthor(reply.error_message, String(JSON.parse(cause)), limits.maxMessageChars);
  return { ...reply, error_message: told };
}

function stopForRepair(
  move: Move,
  { errorType, problem }: { readonly errorType: string; readonly problem: string },
  fact: StepFact,
  shell: Shell,
): EndAddition {
  const { next: call } = move;
  const message = `the action succeeded, and the workflow's state could not follow: ${problem}`;
  const say: Say = (envelope) => ({
    ...failed(envelope, {
      classification: {
        class: 'ToolTerminal',
        code: 'ExecutionFailed',
        verdict: 'server_error_5xx',
        detail: 'state_update',
        recognised: false,
        effect: 'applied',
      },
      effect: 'applied',
      errorType,
      message,
      retryAfterSeconds: null,
      maxMessageChars: shell.limits.maxMessageChars,
    }),
    resolution: { type: 'replan', reason: 'the session is stopped: reset or fork it' },
  });
  const becomes = { state: 'stopped', reason: 'repair' } as const;
  return {
    envelope: { ...envelopeOfStep(call, fact, shell), nextActions: [] },
    say,
    parts: {
      workflow: { ...turnChange(move), becomes },
      notes: [note('session_stopped', call, { reason: 'repair', state: fact.digest })],
      ...(move.ending.adopts === undefined ? {} : { expectSeq: fact.seq }),
    },
    facts: { state_before: fact.digest, state_after: fact.digest, step: fact.seq, state_update: 'failed' },
  };
}
