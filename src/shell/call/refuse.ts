/** Refuses a call: by a gate, before the gates, or because it could not be read. Nothing ran. */
import { type Envelope, refused } from '../../core/call/answer.ts';
import type { Call, Principal, Request, SessionId } from '../../core/call/call.ts';
import type { Decision } from '../../core/call/decide.ts';
import type { Facts } from '../../core/gates/facts.ts';
import type { GateName } from '../../core/gates/gate.ts';
import { invalidInput } from '../../core/gates/invalid-input.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { ReadRequest } from '../../core/call/request.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { Asked, MeantStep } from './asked.ts';
import { fetchSession } from '../session/fetch-session.ts';
import { firstFacts } from './first-facts.ts';
import { gather } from './gather-facts.ts';
import { factsOf } from './intent.ts';
import { recordRefusal, storeUnavailable } from './record-refusal.ts';
import { refuseStep } from './refuse-step.ts';
import { nextActions, type Shell } from '../shell.ts';

export function cancelledBefore(shell: Shell, who: Principal, step: StepFact | null = null): Refusal {
  return {
    error: 'cancelled',
    class: 'Cancellation',
    code: 'ToolCancelled',
    message: 'the caller cancelled before the call was sent.',
    resolution: { type: 'choose_action', actions: nextActions(shell, who, step) },
  };
}

/** It waited for its turn until its deadline: the same words as for a call that could not be sent in its time. */
function expiredInQueue({ tool, createdAtMs, deadlineAtMs }: Call, actions: readonly string[]): Refusal {
  const seconds = (deadlineAtMs - createdAtMs) / 1_000;
  return {
    error: 'action_timeout',
    class: 'ToolTransient',
    code: 'ExecutionTimeout',
    message: `action '${tool}' exceeded its ${seconds}s timeout.`,
    resolution: { type: 'choose_action', actions },
    timeout_seconds: seconds,
  };
}

/** Refused before the gates: because of its key, or because its caller left. */
export async function refuseEarly(
  no: Refusal | ((step: StepFact | null) => Refusal),
  { call, request, who }: Asked,
  shell: Shell,
): Promise<Reply> {
  const gathered = await gather('session', firstFacts(who, shell), request, who, null, shell);
  const fact = gathered.kind === 'facts' && gathered.facts.session?.found ? gathered.facts.session : null;
  const step = fact?.step ?? null;
  const known = gathered.kind === 'facts' ? ofItsClass(call, gathered.facts) : call;
  const about = refusal({ ...known, session: fact?.id ?? null }, 'admit', {}, request, step, shell);
  const said = { ...about, refusal: typeof no === 'function' ? no(step) : no };
  return step === null ? (await recordRefusal(said, shell)).reply : refuseStep(said, step, shell);
}

export async function refuseByGate(
  call: Call,
  decision: Extract<Decision, { kind: 'refuse' }>,
  facts: Facts,
  request: Request,
  shell: Shell,
): Promise<Reply> {
  const step = stepOf(facts);
  const about = refusal(ofItsClass(call, facts), decision.gate, factsOf(facts, shell), request, step, shell);
  const isLate = decision.refusal.error === 'action_in_flight' && shell.ports.clock.nowMs() >= call.deadlineAtMs;
  const no = { ...about, refusal: isLate ? expiredInQueue(call, about.nextActions) : decision.refusal };
  // Until the store is open and recovered there is nowhere to write, and nothing was decided but to wait.
  const silent = decision.gate === 'ready' && !shell.live.readiness.ready;
  if (silent) return refused(unreadyEnvelope(call, request.tool), decision.refusal);
  return step === null ? (await recordRefusal(no, shell)).reply : refuseStep(no, step, shell);
}

/** On record with the class of what was asked for; before the session is known, nobody knows what a name means. */
function ofItsClass(call: Call, { catalogue, session }: Facts): Call {
  const tool = session === undefined ? undefined : catalogue.get(call.tool);
  return tool === undefined ? call : { ...call, effectClass: tool.effectClass };
}

function unreadyEnvelope(call: Call, requested: string | null): Envelope {
  return { requested, callId: call.id, session: call.session, nextActions: [] };
}

export async function refuseBusy(asked: Asked, shell: Shell): Promise<Reply> {
  return storeUnavailable(refusal(asked.call, 'admit', {}, asked.request, null, shell), 'overloaded');
}

export function refusal(
  call: Call,
  gate: GateName | 'admit',
  facts: JsonObject,
  request: Request,
  step: StepFact | null,
  shell: Shell,
) {
  const known = call.session !== null || gate === 'admit';
  const next = known ? nextActions(shell, call, step) : [];
  return { call, gate, facts, argsText: request.argsText, nextActions: next, step };
}

/** `meant`: the session in which a step was meant, so that even what cannot be read hears what is next there. */
export async function refuseUnreadable(
  read: Extract<ReadRequest, { ok: false }>,
  call: Call,
  meant: MeantStep | null,
  shell: Shell,
): Promise<Reply> {
  const handle = (meant?.session ?? null) as SessionId | null;
  const code = read.problem === 'too_large' ? 'InputTooLarge' : 'InputInvalid';
  const no: Refusal = invalidInput(read.requested, read.errors, code);
  if (!shell.live.readiness.ready) return refused(unreadyEnvelope(call, read.requested), no);
  const fact = handle === null ? null : await fetchSession(handle, call, null, shell);
  const about = { call, gate: 'admit', facts: {}, argsText: null, refusal: no } as const;
  if (fact !== null && 'found' in fact && fact.found && fact.step !== null) {
    const nextActionsThere = nextActions(shell, call, fact.step);
    return refuseStep(
      { ...about, call: { ...call, session: fact.id }, nextActions: nextActionsThere },
      fact.step,
      shell,
    );
  }
  // A step in no session that could be read has no next action; the tools of the gateway are none.
  const next = read.requested === null || meant !== null ? [] : nextActions(shell, call);
  return (await recordRefusal({ ...about, nextActions: next }, shell)).reply;
}
