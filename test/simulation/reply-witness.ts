/**
 * Checks every reply a client hears: its shape, its claims about the effect, and that what it promises is on record.
 */
import type { Json } from '../../src/core/values/json.ts';
import { canonicalText } from '../../src/core/values/canonical.ts';
import type { Reply } from '../../src/core/call/reply.ts';
import { callStates } from '../../src/core/taxonomy.ts';
import type { CallRow, MemoryState } from './memory-state.ts';
import { hashing } from './memory-journal.ts';
import { claimedEffect, isFinal, isPromise, misshapen, wordsOf } from './reply-rules.ts';
import type { Witness } from './witness.ts';

export type ReplyWitness = ReturnType<typeof createReplyWitness>;

/** The reply as any gateway would read it from the record; null if there is none. */
export function recordedWords(row: CallRow | undefined): string | null {
  const payload = row?.reply?.record.payloads[row.reply.index];
  if (row === undefined || payload === undefined || payload === null) return null;
  const resting = JSON.parse(hashing.text(payload.bytes)) as Reply;
  return wordsOf('error' in resting ? resting : ({ ...resting, seq: row.call.seq } as Reply));
}

/** What a step's reply says for ever: what was done, and what came of it. */
function lasting(words: string): string {
  const said = JSON.parse(words) as Record<string, Json>;
  for (const field of ['state', 'valid_next_actions', 'seq', 'done', 'next_action_schemas']) delete said[field];
  return canonicalText(said);
}

export function createReplyWitness(state: MemoryState, witness: Witness) {
  const heardFor = new Map<string, string>();
  const heard: { readonly callId: string; readonly words: string; readonly final: boolean }[] = [];

  /**
   * Who takes the place of a step's requester, or asks for one that came out of a doubt, hears where the session stands
   * now.
   */
  const isSame = (callId: string, told: string, recorded: string): boolean => {
    const session = state.calls.get(callId)?.call.session ?? null;
    if (told === recorded || !witness.workflows.isStep(session)) return told === recorded;
    const doubted = witness.calls.get(callId)?.path.includes('IN_DOUBT') === true;
    const attached = (state.recordsByCall.get(callId) ?? []).some(({ kind }) => kind === 'attached');
    return (doubted || attached) && lasting(told) === lasting(recorded);
  };

  return {
    heard,
    hear(reply: Reply, wasReady: boolean): void {
      const wrong = misshapen(reply);
      if (wrong !== null) return witness.breaks('schema', wrong);
      if ('error' in reply && reply.error === 'internal_error')
        witness.breaks('bug', `internal_error: ${JSON.stringify(reply)}`);
      const effect = claimedEffect(reply);
      if (effect !== null) witness.told(reply.call_id, effect);
      if (!isPromise(reply) || !wasReady) return;

      const row = state.calls.get(reply.call_id);
      const words = wordsOf(reply);
      const final = isFinal(reply);
      heard.push({ callId: reply.call_id, words, final });
      const recorded = recordedWords(row);
      if (recorded === null) return witness.breaks('13', `a reply was given that is not on record: ${words}`);
      if (final && !isSame(reply.call_id, words, recorded))
        return witness.breaks('14', `told ${words}, on record is ${recorded}`);
      const key = row?.call.key ?? null;
      // What was refused, or expired before it could be sent, never answers for a key.
      if (row === undefined || key === null || row.call.state === 'DENIED' || row.call.attempt === 0) return;
      if (!callStates[row.call.state].terminal) return;
      // A key whose step was adopted has had two answers: that of the adoption, and what the record keeps for it.
      const { wasAdopted, adoptedFrom } = witness.workflows;
      if (wasAdopted(row.call.id) || adoptedFrom(row.call.id) !== null) return;
      const name = JSON.stringify([row.call.tenant, row.call.agent, key, row.call.fingerprint]);
      const before = heardFor.get(name);
      if (final && before !== undefined && !isSame(row.call.id, words, before))
        witness.breaks('7', `key ${name} answered ${before}, and now ${words}`);
      if (final) heardFor.set(name, words);
    },

    /** What was acknowledged once is still readable, and a final word has not changed. */
    readBack(): void {
      for (const { callId, words, final } of heard) {
        const recorded = recordedWords(state.calls.get(callId));
        if (recorded === null) witness.breaks('13', `the reply of ${callId} is gone: ${words}`);
        else if (final && !isSame(callId, words, recorded))
          witness.breaks('14', `told ${words}, now it reads ${recorded}`);
      }
    },
  };
}
