/**
 * Adopts the result of an earlier step that was in doubt, succeeded, and never moved its workflow. The next equal step
 * takes the result instead of running again, and the state moves with it: one commit, nothing is sent.
 */
import { stageOnRecord } from '../stage/stage-journal.ts';
import { succeeded, withSeq } from '../../core/call/answer.ts';
import type { Call, CallId, Request } from '../../core/call/call.ts';
import { adoptedFrom } from '../../core/call/notices.ts';
import type { Position } from '../../core/journal/record.ts';
import { type Json, isObject } from '../../core/values/json.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { FenceFact } from '../../core/workflow/step.ts';
import type { StoreFault } from '../../ports/store.ts';
import { commit, markAnswered } from '../upkeep/commit.ts';
import { fingerprintIn } from '../call/asked.ts';
import { contextHere, type Ending } from './ending.ts';
import { conclude } from './conclude.ts';
import { me, type Shell } from '../shell.ts';
import { bare, type CommitParts, mergeParts, note, numbered, untaken } from './transition.ts';
import type { Work } from '../attempt/work.ts';

/** The earlier equal step whose result can be taken; null if there is none. */
export function adoptable(
  fingerprint: string,
  request: Request,
  fences: readonly FenceFact[],
  shell: Shell,
): FenceFact | null {
  const isEqual = (fence: FenceFact) =>
    fence.fingerprint === fingerprint ||
    // In a fork the step may be one of the session that it comes from.
    (fence.session !== request.session &&
      fence.fingerprint === fingerprintIn(fence.session ?? '', request.tool, request.argsText, shell));
  return fences.find((fence) => !fence.inDoubt && isEqual(fence)) ?? null;
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
  work: Work,
  parts: CommitParts,
  shell: Shell,
): Promise<Adopted> {
  const result = await resultOf(earlier, shell);
  if (result === undefined) return { kind: 'no' };
  const isInherited = asked !== call.session;
  const place = isInherited ? null : await takePlace(earlier, shell);
  if (place !== null) return { kind: 'unavailable', fault: place };
  const stage = work.tool.isStage === true ? stageOnRecord(await shell.ports.store.recordsOf(earlier)) : undefined;
  const claimed = { kind: 'claimed', owner: me(shell), leaseUntilMs: shell.ports.clock.nowMs() } as const;
  const ending: Ending = {
    events: [{ kind: 'admitted' }, claimed, { kind: 'returned', attempt: 1 }],
    result,
    stage,
    adopts: earlier,
    say: (envelope) => ({ ...succeeded(envelope, result, []), replayed: true, notices: [adoptedFrom(earlier)] }),
    record: ({ effect, facts }) => ({ attempt: 0, effect, ...facts, end: { adopted_from: earlier } }),
    notes: ({ next, facts }) => [
      note('adopted', next, { from: earlier, ...facts }),
      // The key of the earlier step is answered by the call that moved the state for it, in its own session.
      ...(isInherited ? [] : [note('adopted', { ...next, id: earlier }, { by: next.id })]),
    ],
    parts: mergeParts([untaken(parts), { body: { dispatched: { attempt: 0, adopted_from: earlier } } }]),
  };
  const { call: adopter, reply, transition } = conclude(call, ending, contextHere(work, shell), shell);
  const committed = await commit(transition, shell);
  // INVARIANT: nobody runs the step again because the word of its adoption was lost.
  if (committed.kind === 'unavailable') return { kind: 'unavailable', fault: committed.fault };
  if (committed.kind === 'conflict') return { kind: 'no' };
  return { kind: 'adopted', reply: withSeq(reply, committed.seq), call: adopter, position: committed.position };
}

/**
 * INVARIANT: what was adopted has its requester. Before the adoption, so that a crash in between leaves the fence, and
 * never a free place: an equal step that came after would take it, hear of a success, and move nothing.
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
  markAnswered(result, shell);
  return result.kind === 'unavailable' ? result.fault : null;
}

async function resultOf(id: CallId, shell: Shell): Promise<Json | undefined> {
  const stored = await shell.ports.store.reply(id);
  if (stored.kind !== 'text') return undefined;
  const reply: unknown = JSON.parse(stored.text);
  return isObject(reply) && 'action' in reply ? ((reply['result'] ?? null) as Json) : undefined;
}
