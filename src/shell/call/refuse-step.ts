/**
 * Refuses a step: every attempt is in the history, none is coalesced. An agent that is refused again and again hears it more
 * plainly, and is stopped in the end, if the workflow's author wants that.
 */
import { nextActions, type StepFact } from '../../core/workflow/step.ts';
import type { SessionId } from '../../core/call/call.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { commit } from '../upkeep/commit.ts';
import { recordNew, type RefusedCall } from './record-refusal.ts';
import { resumption } from '../session/resumption.ts';
import type { Shell } from '../shell.ts';
import { bare, noChange, note } from '../ending/transition.ts';

/** Sessions whose refusals are counted at once. */
const maxCounted = 10_000;

/** What an agent can mend by choosing otherwise; waiting for others is no mistake of its own. */
const mistakes: ReadonlySet<Refusal['error']> = new Set([
  'invalid_transition',
  'unknown_action',
  'validation_failed',
  'fenced',
] as const);

export async function refuseStep(refused: RefusedCall, step: StepFact, shell: Shell): Promise<ErrorReply> {
  const facts = { ...refused.facts, state: step.digest, step: step.seq };
  const session = refused.call.session as SessionId;
  // A session that rests is stopped by nobody, and no choice of an action leads on in it.
  const rests = !step.isOpen || step.drift !== null;
  const counts = !rests && mistakes.has(refused.refusal.error);
  const streak = counts ? countUp(session, shell) : 0;
  const { stopAfter } = step.workflow.refusals;
  const stops = counts && stopAfter !== null && streak >= stopAfter;
  const said = step.snapshot.done && !rests ? overFor(refused.refusal) : refused.refusal;
  const refusal = stops ? stopping(said, refused.call.tool, streak) : sharpened(said, refused.call.tool, streak, step);
  const next = stops ? [] : refused.nextActions;
  // What the gate of sessions refuses, or a session that rests, does not go on with it.
  const goesOn = !rests && refused.gate !== 'session';
  const before = goesOn ? resumption(session, step, shell) : [];
  const { reply } = await recordNew({ ...refused, refusal, facts, nextActions: next, resumption: before }, shell);
  if (stops) await stop(session, refused, streak, shell);
  return reply as ErrorReply;
}

function countUp(session: SessionId, { live }: Shell): number {
  const streak = (live.streaks.get(session) ?? 0) + 1;
  if (live.streaks.size >= maxCounted && !live.streaks.has(session)) live.streaks.clear();
  live.streaks.set(session, streak);
  return streak;
}

/** After the end no action is possible any more, whatever was wrong with this one. */
function overFor(refusal: Refusal): Refusal {
  const reason = 'the workflow has ended: reset the session, or open another, to begin anew';
  const message = `${refusal.message} The workflow has ended: reset the session, or open another, to begin anew.`;
  return { ...refusal, message, resolution: { type: 'replan', reason } };
}

/** The session rests from here on: no action is possible in it, and none is named. */
function stopping(refusal: Refusal, requested: string, streak: number): Refusal {
  const what =
    refusal.error === 'invalid_transition'
      ? `action '${requested}' is not reachable from current state.`
      : refusal.message;
  const hint = 'The session is stopped now: reset it, or tell the person you work for.';
  const resolution = { type: 'replan', reason: 'the session is stopped: reset it, or open a new one' } as const;
  return { ...refusal, message: `${what} Refused ${streak} times in a row. ${hint}`, resolution };
}

/** The form of the refusal stays; what follows it gets plainer. */
function sharpened(refusal: Refusal, requested: string, streak: number, step: StepFact): Refusal {
  if (streak < step.workflow.refusals.sharpenAfter) return refusal;
  const hint = hintAt(step, requested, refusal);
  return { ...refusal, message: `${refusal.message} Refused ${streak} times in a row.${hint}` };
}

/** Where the action itself is possible its inputs were the mistake: it is no way out to take it once more as it was. */
function hintAt(step: StepFact, requested: string, { error }: Refusal): string {
  const next = nextActions(step);
  // That was said.
  if (step.snapshot.done) return '';
  if (next.length === 0) return ' No action is possible here: tell the person you work for.';
  const again = error === 'validation_failed' ? 'Do not send the same inputs again' : 'Do not send it again like this';
  const other = next.find((action) => action !== requested);
  if (!next.includes(requested)) return ` ${again}: call one of valid_next_actions, such as '${other}'.`;
  const change = ` ${again}: change the inputs of '${requested}'`;
  return other === undefined ? `${change}.` : `${change}, or call another of valid_next_actions, such as '${other}'.`;
}

async function stop(session: SessionId, { call }: RefusedCall, streak: number, shell: Shell): Promise<void> {
  const workflow = { ...noChange, becomes: { state: 'stopped', reason: 'refusal_limit' } as const };
  await commit(
    {
      ...bare(shell),
      session: { kind: 'step', id: session, advance: false, expectSeq: null, expectOpen: true, workflow },
      records: [note('session_stopped', { ...call, session }, { reason: 'refusal_limit', refusals: streak })],
    },
    shell,
  );
  shell.live.streaks.delete(session);
}
