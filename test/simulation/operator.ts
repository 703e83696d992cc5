/**
 * The person who settles what is in doubt, by what the upstream shows: at once if the effect is there, and not before
 * quarantine if it is not.
 */
import { advance, type CallEvent } from '../../src/core/call/lifecycle.ts';
import { commit } from '../../src/shell/upkeep/commit.ts';
import { toTransition } from '../../src/shell/ending/transition.ts';
import { settleDoubt } from '../../src/shell/ending/settle-doubt.ts';
import type { Shell } from '../../src/shell/shell.ts';
import type { StoredCall } from '../../src/ports/store.ts';
import type { MemoryState } from './memory-state.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import { tools } from './setting.ts';
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

  /** Said through the shell, which knows what becomes of fence and ticket. */
  const judge = async ({ id, tool, attempt }: StoredCall, event: CallEvent, shell: Shell): Promise<void> => {
    const happened = event.kind === 'closed' ? 'unknown' : isProof(event) ? 'yes' : 'no';
    const judgement = {
      happened,
      by: 'an operator',
      attempt,
      ...(happened === 'yes' ? { result: { did: tool } } : {}),
    } as const;
    const judged = await settleDoubt(id, { ...judgement, ...(world.quarantineMs === 0 ? { force: true } : {}) }, shell);
    scheduler.say(() => `operator: ${id} ${happened} → ${judged}`);
  };

  /** No command releases a call; the lifecycle permits it, so it is met here. */
  const settle = async (call: StoredCall, event: CallEvent, shell: Shell): Promise<void> => {
    if (event.kind !== 'released' || witness.workflows.isStep(call.session)) return judge(call, event, shell);
    const [next, effects] = advance(call, event);
    const moot = {
      kind: 'moot',
      call: call.id,
      reason: 'in_doubt',
      by: 'an operator',
      atMs: call.createdAtMs,
    } as const;
    const fence = tools.refund.name === call.tool ? { fence: { kind: 'lifted', call: call.id } as const } : {};
    const result = await commit(toTransition(call, next, effects, { tickets: [moot], ...fence }, shell), shell);
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
