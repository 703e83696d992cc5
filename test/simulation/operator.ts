/**
 * The person who settles what is in doubt, by what the upstream shows: at once if the effect is there, and not before
 * quarantine if it is not. Moves calls by the same lifecycle and the same commits as everybody else.
 */
import { failed } from '../../src/core/call/answer.ts';
import { canonicalText } from '../../src/core/values/canonical.ts';
import { advance, type CallEvent } from '../../src/core/call/lifecycle.ts';
import { classify } from '../../src/core/recovery/classify.ts';
import { commit } from '../../src/shell/upkeep/commit.ts';
import { effectOf, toTransition } from '../../src/shell/ending/transition.ts';
import { envelopeOf } from '../../src/shell/ending/ending.ts';
import { settleDoubt } from '../../src/shell/ending/settle-doubt.ts';
import type { Shell } from '../../src/shell/shell.ts';
import type { StoredCall } from '../../src/ports/store.ts';
import type { MemoryState } from './memory-state.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Gateway } from './simulated-gateway.ts';
import type { Witness } from './witness.ts';

export interface OperatorWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly witness: Witness;
  readonly state: MemoryState;
  readonly quarantineMs: number;
  readonly pickGateway: () => Gateway | null;
  readonly tookEffect: (callId: string) => boolean;
}

const isProof = (event: CallEvent) => event.kind === 'proved' && event.effect === 'applied';

export function createOperator(world: OperatorWorld) {
  const { scheduler, random, witness, state } = world;
  const doubtedSince = new Map<string, number>();

  const decide = (call: StoredCall, sinceMs: number): CallEvent | null => {
    if (world.tookEffect(call.id)) return random.chance(0.5) ? { kind: 'proved', effect: 'applied' } : null;
    // INVARIANT: a probe that finds nothing proves nothing before quarantine.
    if (scheduler.nowMs() - sinceMs < world.quarantineMs) return null;
    if (call.effectClass === 'plain' && random.chance(0.3)) return { kind: 'closed' };
    // A call that was sent again may not be given its old life back: an earlier attempt could still be known upstream.
    const nowMs = call.createdAtMs;
    return random.chance(0.3) && call.effectClass !== 'keyed'
      ? { kind: 'released', atMs: nowMs }
      : { kind: 'proved', effect: 'none' };
  };

  /** Of a step: what a person says is said through the shell, which knows what becomes of the fence. */
  const judge = async ({ id, tool }: StoredCall, event: CallEvent, shell: Shell): Promise<void> => {
    const happened = event.kind === 'closed' ? 'unknown' : isProof(event) ? 'yes' : 'no';
    const judgement = {
      happened,
      by: 'an operator',
      ...(happened === 'yes' ? { result: { did: tool } } : {}),
    } as const;
    const judged = await settleDoubt(id, judgement, shell);
    scheduler.say(() => `operator: ${id} ${happened} → ${judged}`);
  };

  const settle = async (call: StoredCall, event: CallEvent, shell: Shell): Promise<void> => {
    if (witness.workflows.isStep(call.session)) return judge(call, event, shell);
    const [next, effects] = advance(call, event);
    const effect = effectOf(next.state);
    const reply = failed(envelopeOf(next, shell), {
      classification: { ...classify('unknown', undefined, call.effectClass), effect },
      effect,
      errorType: 'SettledByOperator',
      message: `an operator settled it: ${event.kind}`,
      retryAfterSeconds: null,
      maxMessageChars: 500,
    });
    const papers =
      next.state === 'RETRY_WAIT' ? {} : { payloads: { settled: [{ part: 'reply', text: canonicalText(reply) }] } };
    const result = await commit(toTransition(call, next, effects, papers, shell), shell);
    if (result.kind === 'committed') scheduler.say(() => `operator: ${call.id} ${event.kind} → ${next.state}`);
  };

  return {
    look(): void {
      const gateway = world.pickGateway();
      const shell = gateway?.shell() ?? null;
      const life = gateway?.life() ?? null;
      for (const { call } of state.calls.values()) {
        if (call.state !== 'IN_DOUBT') continue;
        // Each attempt has a quarantine of its own: what was sent last may still be on its way.
        const attempt = `${call.id} ${call.attempt}`;
        const since = doubtedSince.get(attempt) ?? scheduler.nowMs();
        doubtedSince.set(attempt, since);
        const event = shell === null ? null : decide(call, since);
        if (event === null || shell === null) continue;
        if (event.kind === 'released' && !witness.workflows.isStep(call.session)) witness.released(call.id);
        scheduler.after(0, life, `an operator says ${event.kind} of ${call.id}`, () => void settle(call, event, shell));
      }
    },
  };
}
