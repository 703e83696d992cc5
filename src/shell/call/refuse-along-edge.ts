/**
 * Refuses a step for which the machine has an edge: the refusal and the new state are one commit. What was refused
 * because of the session itself, or before the step was known to be legal, moves nothing.
 */
import type { Decision } from '../../core/call/decide.ts';
import type { Request } from '../../core/call/call.ts';
import { refused as refusedReply } from '../../core/call/answer.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { GateName } from '../../core/gates/gate.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import { reactTo, type Reaction } from '../ending/error-edge.ts';
import { noChange } from '../ending/transition.ts';
import { stoppedNote } from '../ending/workflow-rider.ts';
import { resumption } from '../session/position.ts';
import { nextActions, type Shell } from '../shell.ts';
import { type RefusalMove, type RefusedCall, recordMoving } from './record-refusal.ts';

/** The gates that decide about a step which is legal where its session stands. */
const stepGates: ReadonlySet<GateName> = new Set([
  'input',
  'policy',
  'model',
  'egress',
  'rate',
  'budget',
  'approval',
  'evidence',
  'credential',
] as const);

/** Null without an edge; `again` if the session moved on meanwhile. */
export async function refuseAlongEdge(
  said: RefusedCall,
  gate: Extract<Decision, { kind: 'refuse' }>['gate'],
  request: Request,
  step: StepFact,
  shell: Shell,
): Promise<ErrorReply | 'again' | null> {
  if (!stepGates.has(gate)) return null;
  const { call } = said;
  const envelope = { requested: call.tool, callId: call.id, session: call.session, nextActions: said.nextActions };
  const reply = refusedReply(envelope, said.refusal);
  const reaction = reactTo(call, reply, { fact: step, inputs: request.args }, shell);
  if (reaction === null) return null;
  const facts = { ...said.facts, state: step.digest, step: step.seq };
  const before = resumption(call.session, step, shell);
  const answer = await recordMoving({ ...said, facts, resumption: before }, moveOf(said, reaction, step, shell), shell);
  if (answer === null) return 'again';
  if (call.session !== null) shell.live.streaks.delete(call.session);
  return answer.reply as ErrorReply;
}

function moveOf({ call }: RefusedCall, reaction: Reaction, step: StepFact, shell: Shell): RefusalMove {
  // INVARIANT: a refusal moves the state that it was decided for, while nobody has the turn.
  const guards = { expectSeq: step.seq, expectOpen: true };
  const free = { ...noChange, turn: 'free' } as const;
  if (reaction.kind === 'moved') {
    const { snapshot, facts, view, after } = reaction;
    const parts = { ...guards, workflow: { ...free, snapshot } };
    return { parts, body: { refused: facts }, nextActions: nextActions(shell, call, after), view };
  }
  invariant(reaction.kind === 'failed', 'a refusal aborts nothing');
  const becomes = { state: 'stopped', reason: 'repair' } as const;
  const notes = [stoppedNote(call, reaction, step)];
  const body = { refused: { edge: reaction.event } };
  return { parts: { ...guards, workflow: { ...free, becomes }, notes }, body, nextActions: [], view: null };
}
