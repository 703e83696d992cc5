/**
 * Dry run: explains what would happen to a call, with the same facts and gates as a real one. Nothing runs, no session
 * is opened, nothing is recorded. Validators do run, because their answer is a fact.
 */
import { refused } from '../../core/call/answer.ts';
import type { CallId, Principal, Request } from '../../core/call/call.ts';
import { type Explanation, explainLadder } from '../../core/gates/explain.ts';
import { gateNames } from '../../core/gates/gate.ts';
import { invalidInput } from '../../core/gates/invalid-input.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { readRequest } from '../../core/call/request.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import { firstFacts, nextActions, type Shell } from '../shell.ts';
import { gatherLooking } from '../call/gather-facts.ts';
import { maskRefusal } from '../mask.ts';
import { sayFault } from '../call/record-refusal.ts';

/** `raw` is a call as any door takes it: `{tool, args, session?, model?}`. */
export async function evaluateCall(raw: unknown, who: Principal, shell: Shell): Promise<Explanation | ErrorReply> {
  const read = readRequest(raw, shell.limits);
  if (!read.ok) {
    const refusal = maskRefusal(invalidInput(read.requested, read.errors), null, who.agent, shell);
    return explainUnreadable(read.requested, refusal, who, shell);
  }
  const { request } = read;
  let facts = firstFacts(who, shell);
  for (let fetched = 0; fetched <= shell.limits.maxFactFetches; fetched++) {
    const explained = explainLadder(request, facts, shell.ladder);
    if (explained.kind === 'explained') {
      const { decision, rungs, rules } = explained;
      const no = explained.refusal;
      const refusal = no === null ? null : maskRefusal(no, request.argsText, who.agent, shell);
      const next = facts.session?.found ? nextActions(shell, { ...who, session: request.session }, stepOf(facts)) : [];
      const reply = refusal === null ? null : refusalReply(request.tool, refusal, request.session, next, shell);
      return { ...who, tool: request.tool, decision, rungs, rules, reply };
    }
    const gathered = await gatherLooking(explained.fact, facts, request, who, shell);
    if (gathered.kind === 'store_unavailable') return sayFault(request.tool, request.session, gathered.fault, shell);
    facts = gathered.facts;
  }
  throw new Error('bug: the gates never stop asking for facts');
}

function explainUnreadable(requested: string | null, refusal: Refusal, who: Principal, shell: Shell): Explanation {
  const rungs = gateNames.map((gate) => ({ gate, answer: 'not_asked', saw: {}, why: null, change: null }) as const);
  const reply = refusalReply(requested, refusal, null, [], shell);
  return { ...who, tool: requested ?? '', decision: 'refuse', rungs, rules: [], reply };
}

function refusalReply(
  requested: string | null,
  refusal: Refusal,
  session: Request['session'],
  next: readonly string[],
  shell: Shell,
): ErrorReply {
  const callId = shell.ports.ids.ordered('call_', shell.ports.clock.nowMs()) as CallId;
  return refused({ requested, callId, session, nextActions: next }, refusal);
}
