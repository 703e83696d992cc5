/**
 * A step that was in doubt turned out to have succeeded, and its state was never moved. The next equal step takes its result
 * instead of doing it again, and only then the workflow's state advances: one commit, nothing is sent.
 */
import { succeeded } from '../../core/call/answer.ts';
import type { Call, CallId, Request } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { adoptedFrom } from '../../core/call/earlier-result.ts';
import type { Position } from '../../core/journal/record.ts';
import type { Json } from '../../core/values/json.ts';
import { isObject } from '../../core/values/json.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { FenceFact, StepFact } from '../../core/workflow/step.ts';
import type { StoreFault } from '../../ports/store.ts';
import { commit, nobodyWaits } from '../upkeep/commit.ts';
import { endStep } from './end-step.ts';
import { fingerprintIn } from '../call/new-call.ts';
import { withSeq } from './settle.ts';
import { me, type Shell } from '../shell.ts';
import { bare, note, numbered, type Papers, toTransition } from './transition.ts';
import { chain } from '../attempt/work.ts';

/** The earlier equal step whose result can be taken; null if there is none. */
export function adoptable(fingerprint: string, request: Request, fact: StepFact, shell: Shell): FenceFact | null {
  const isEqual = (fence: FenceFact) =>
    fence.fingerprint === fingerprint ||
    // In a fork the step may be one of the session that it comes from.
    (fence.session !== request.session &&
      fence.fingerprint === fingerprintIn(fence.session ?? '', request.tool, request.argsText, shell));
  return fact.fences.find((fence) => !fence.inDoubt && isEqual(fence)) ?? null;
}

export type Adopted =
  /** `call` is the one that adopted, whose reply is recorded at `position`. */
  | { readonly kind: 'adopted'; readonly reply: Reply; readonly call: Call; readonly position: Position | null }
  /** Somebody else moved the session, or the result is gone: decide again. */
  | { readonly kind: 'no' }
  | { readonly kind: 'unavailable'; readonly fault: StoreFault };

export async function adopt(
  call: Call,
  { callId: earlier, session: asked }: FenceFact,
  fact: StepFact,
  inputs: Json,
  papers: Papers,
  shell: Shell,
): Promise<Adopted> {
  const result = await resultOf(earlier, shell);
  if (result === undefined) return { kind: 'no' };
  const isInherited = asked !== call.session;
  const place = isInherited ? null : await takePlace(earlier, shell);
  if (place !== null) return { kind: 'unavailable', fault: place };
  const now = shell.ports.clock.nowMs();
  const dispatched = chain(call, [{ kind: 'admitted' }, { kind: 'claimed', owner: me(shell), leaseUntilMs: now }]);
  const ended = chain(call, [
    { kind: 'admitted' },
    { kind: 'claimed', owner: me(shell), leaseUntilMs: now },
    { kind: 'returned', attempt: 1 },
  ]);
  const weighed = {
    event: { kind: 'returned', attempt: 1 } as const,
    result,
    reply: (envelope: Parameters<typeof succeeded>[0]) => succeeded(envelope, result, []),
    facts: { adopted_from: earlier },
    payloads: [],
  };
  const end = endStep(dispatched.call, ended.call, weighed, 'applied', { fact, inputs }, shell);
  const notices = [...(end.reply.notices ?? []), adoptedFrom(earlier)];
  const reply = 'error' in end.reply ? end.reply : { ...end.reply, replayed: true as const, notices };
  const workflow = end.papers.workflow ?? null;
  const body = { attempt: 0, effect: 'applied', ...end.facts, end: weighed.facts };
  const transition = toTransition(
    call,
    // Nothing was sent: no attempt counts.
    { ...ended.call, attempt: 0 },
    ended.effects,
    {
      ...papers,
      // The earlier fence goes with the same stroke that moves the state: a result is adopted once.
      workflow: workflow === null ? null : { ...workflow, turn: 'free', call: earlier, fence: 'lifted' },
      expectSeq: fact.seq,
      body: { ...papers.body, dispatched: { attempt: 0, adopted_from: earlier }, settled: body },
      payloads: { ...papers.payloads, settled: [{ part: 'reply', text: canonicalText(reply as unknown as Json) }] },
      notes: [
        ...(end.papers.notes ?? []),
        note('adopted', ended.call, { from: earlier, ...end.facts }),
        // The key of the earlier step is answered by the call that moved the state for it, in its own session.
        ...(isInherited ? [] : [note('adopted', { ...ended.call, id: earlier }, { by: ended.call.id })]),
      ],
    },
    shell,
  );
  const committed = await commit(transition, shell);
  // INVARIANT: nobody runs the step again because the word of its adoption was lost.
  if (committed.kind === 'unavailable') return { kind: 'unavailable', fault: committed.fault };
  if (committed.kind === 'conflict') return { kind: 'no' };
  return { kind: 'adopted', reply: withSeq(reply, committed.seq), call: ended.call, position: committed.position };
}

/**
 * INVARIANT: what was adopted has its requester. Before the adoption, so that a crash in between leaves the fence, and never a
 * free place: an equal step that came after would take it, hear of a success, and move nothing.
 */
async function takePlace(id: CallId, shell: Shell): Promise<StoreFault | null> {
  const earlier = await shell.ports.store.call(id);
  if (earlier === null || earlier.requesterLeftAtMs === null) return null;
  const result = await commit(
    {
      ...bare(shell),
      call: { kind: 'mark', id, requester: 'returned', repeats: 0 },
      session: numbered(earlier),
      records: [note('attached', earlier, { state: earlier.state })],
    },
    shell,
  );
  nobodyWaits(result, shell);
  return result.kind === 'unavailable' ? result.fault : null;
}

async function resultOf(id: CallId, shell: Shell): Promise<Json | undefined> {
  const stored = await shell.ports.store.reply(id);
  if (stored.kind !== 'text') return undefined;
  const reply: unknown = JSON.parse(stored.text);
  return isObject(reply) && 'action' in reply ? ((reply['result'] ?? null) as Json) : undefined;
}
