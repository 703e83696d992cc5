/** The way from one process to the tools: the witness sees each attempt leave, and what the process hears of it. */
import type { Clock } from '../../../src/ports/clock.ts';
import { type Attempt, isTimeout, type Upstream, type UpstreamResult } from '../../../src/ports/upstream.ts';
import type { UpstreamBehaviour } from '../fault-mix.ts';
import { answerProbe, type ProbeWorld } from '../recovery/answer-probe.ts';
import { isAboutKey } from '../recovery/key-memory.ts';
import type { AttemptEnd } from '../recovery/recovery-witness.ts';
import type { Life, Scheduler } from '../scheduler.ts';
import { classOf, findTool, isToolName } from '../setting.ts';
import type { Witness } from '../witness.ts';

export type Answer = (result: UpstreamResult) => void;

export interface PortWorld {
  readonly scheduler: Scheduler;
  readonly witness: Witness;
  readonly probes: () => ProbeWorld;
  readonly draw: () => UpstreamBehaviour;
  readonly cover: (fault: string, callId: string) => void;
  readonly behave: (behaviour: UpstreamBehaviour, attempt: Attempt, answer: Answer, signal: AbortSignal) => void;
  /** A result reached the process. */
  readonly onResult: (heard: { readonly callId: string; readonly attempt: number; readonly life: Life }) => void;
}

/** What never happened whatever is said later: the upstream, or the way to it, refused. */
const refusals: ReadonlySet<string> = new Set(['never_sent', '429', '400_invalid']);

export function openPort(life: Life, owner: string, clock: Clock, world: PortWorld): Upstream {
  const { scheduler, witness } = world;

  const send = (attempt: Attempt, signal: AbortSignal): Promise<UpstreamResult> => {
    const { callId } = attempt;
    witness.sent(attempt, { owner, wallMs: clock.nowMs() });
    const behaviour = fitting(world.draw(), attempt.tool);
    scheduler.say(() => `${life.node}: sends attempt ${attempt.attempt} of ${callId}, which ${behaviour}`);
    if (behaviour !== 'answers' && !isAboutKey(behaviour)) world.cover(behaviour, callId);
    const sentAtMs = scheduler.nowMs();
    let over = false;
    const ends = (end: AttemptEnd) => {
      if (!over) witness.recovery.ended(attempt, owner, end);
      over = true;
    };
    signal.addEventListener('abort', () => (isTimeout(signal.reason) ? ends('timeout') : (over = true)));
    return new Promise((resolve, reject) => {
      const hear = (result: UpstreamResult) => {
        if (behaviour === 'executes late' || behaviour === 'answer late') world.cover(`${behaviour} (heard)`, callId);
        if (provesNothing(result)) witness.refused(callId, attempt.attempt);
        // Past its time an answer counts as none: the process says so by its signal.
        if (scheduler.nowMs() - sentAtMs <= attempt.timeoutMs) ends(endOf(result, behaviour));
        if ((result as unknown) === 'rejects') return reject(lostItsMind());
        if (result.kind === 'returned' && behaviour !== 'result is no json')
          world.onResult({ callId, attempt: attempt.attempt, life });
        resolve(result);
      };
      const answer: Answer = (result) =>
        void scheduler.after(0, life, `hears of attempt ${attempt.attempt} of ${callId}`, () => hear(result));
      world.behave(behaviour, attempt, answer, signal);
    });
  };

  const ask = (attempt: Attempt): Promise<UpstreamResult> =>
    new Promise((resolve) => {
      const hears = `hears what became of ${attempt.callId}`;
      const answer: Answer = (result) => void scheduler.after(0, life, hears, () => resolve(result));
      witness.recovery.probed();
      answerProbe(attempt, answer, world.probes());
    });

  return {
    invoke(attempt, signal) {
      if (!life.alive) return new Promise(() => undefined);
      return attempt.tool === findTool ? ask(attempt) : send(attempt, signal);
    },
  };
}

/**
 * A connection delivers an attempt once; only what is safe to repeat is ever repeated by the network. Only a tool that
 * knows keys speaks of them.
 */
function fitting(behaviour: UpstreamBehaviour, tool: string): UpstreamBehaviour {
  const effectClass = isToolName(tool) ? classOf[tool] : null;
  const isKeyed = effectClass === 'keyed';
  if (behaviour === 'delivered twice') return isKeyed || effectClass === 'pure' ? behaviour : 'answers';
  if (isAboutKey(behaviour)) return isKeyed ? behaviour : 'answers';
  return behaviour;
}

function provesNothing(result: UpstreamResult): boolean {
  if (result.kind !== 'failed') return false;
  const { kind, subject, effect } = result.failure;
  return effect === 'none' || (effect === null && (refusals.has(kind) || subject === 'mismatch'));
}

function endOf(result: UpstreamResult, behaviour: UpstreamBehaviour): AttemptEnd {
  if ((result as unknown) === 'rejects') return 'unknown';
  if (result.kind === 'failed') return result.failure.kind;
  return behaviour === 'result is no json' ? 'schema_validation' : 'ok';
}

/** Stacks are recorded for the audit; a real one would differ from run to run. */
const lostItsMind = () =>
  Object.assign(new Error('the adapter lost its mind'), { stack: 'Error: the adapter lost its mind' });
