/**
 * The tools of a simulated world. They run apart from any gateway: an attempt that was sent is executed, late, twice or
 * never, whether or not its sender still lives. The keyed tool remembers call ids for its window, as it promises.
 */
import type { Attempt, Failure, Upstream, UpstreamResult } from '../../src/ports/upstream.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { FaultMix, UpstreamBehaviour } from './fault-mix.ts';
import type { Random } from './random.ts';
import type { Life, Scheduler } from './scheduler.ts';
import { classOf, isToolName, latestExecutionMs } from './setting.ts';
import { type Answer, openPort, type PortWorld } from './parts/upstream-port.ts';
import { createKeyMemory, isAboutKey, type KeyBehaviour } from './recovery/key-memory.ts';
import type { Witness } from './witness.ts';

export interface UpstreamWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly witness: Witness;
  readonly mix: () => FaultMix;
  readonly cover: (fault: string, callId: string) => void;
  /** The keyed tool's memory; Infinity where clocks may go anywhere. */
  readonly rememberMs: number;
}

type OwnBehaviour = Exclude<UpstreamBehaviour, KeyBehaviour>;

const lateMargin = 500;

export function createTools(world: UpstreamWorld) {
  const { scheduler, random, witness } = world;
  const keys = createKeyMemory(world.rememberMs, scheduler.nowMs);
  const answers: { readonly callId: string; readonly attempt: number; readonly life: Life }[] = [];
  let underWay = 0;
  const execute = (attempt: Attempt) => {
    const { callId, tool } = attempt;
    const counts = !isToolName(tool) || classOf[tool] !== 'keyed' || keys.takes(callId);
    scheduler.say(
      () => `upstream: ${tool} executes attempt ${attempt.attempt} of ${callId}${counts ? '' : ', known before'}`,
    );
    witness.executed(attempt, counts);
  };

  /** Outside of every process: happens even if the sender is gone. */
  const later = (delayMs: number, run: () => void) => {
    underWay += 1;
    scheduler.after(delayMs, null, '', () => {
      underWay -= 1;
      run();
    });
  };

  const runLater = (attempt: Attempt, delayMs: number, then: () => void) => {
    keys.comes(attempt.callId, 1);
    later(delayMs, () => {
      keys.comes(attempt.callId, -1);
      execute(attempt);
      then();
    });
  };

  const behaveByKey = (behaviour: KeyBehaviour, attempt: Attempt, answer: Answer) =>
    later(random.between(1, 400), () => {
      const subject = keys.conflict(attempt.callId, behaviour);
      if (subject === null) return runLater(attempt, 0, () => answer(returned(attempt)));
      world.cover(`key ${subject}`, attempt.callId);
      answer(failure('409_conflict', { subject }));
    });

  const behave = (behaviour: OwnBehaviour, attempt: Attempt, answer: Answer, signal: AbortSignal) => {
    const soon = random.between(1, 400);
    const late = attempt.timeoutMs + random.between(lateMargin, latestExecutionMs - attempt.timeoutMs);
    const runThen = (delayMs: number, then: () => void) => runLater(attempt, delayMs, then);
    const say = (result: UpstreamResult) => () => later(random.between(0, 100), () => answer(result));
    const failAt = (delayMs: number, kind: Failure['kind'], effect: Failure['effect'] = null) =>
      later(delayMs, say(failure(kind, { effect, retryAfterSeconds: kind === '429' ? drawRetryAfter() : null })));
    switch (behaviour) {
      case 'answers':
        return runThen(soon, say(returned(attempt)));
      case 'request lost':
        return undefined;
      case 'answer lost':
        return runThen(soon, () => undefined);
      case 'answer late':
        return runThen(soon, () => later(late - soon, () => answer(returned(attempt))));
      case 'executes late':
        return runThen(late, () => {
          world.cover('executes late (runs)', attempt.callId);
          say(returned(attempt))();
        });
      case 'delivered twice':
        runThen(random.chance(0.5) ? soon : late, () => undefined);
        return runThen(soon, say(returned(attempt)));
      case 'never sent':
        return failAt(soon, 'never_sent');
      case 'refused 400':
        return failAt(soon, '400_invalid');
      case 'refused 429':
        return failAt(soon, '429');
      case '5xx before':
        return failAt(soon, '5xx');
      case '5xx after':
        return runThen(soon, say(failure('5xx')));
      case 'threw before':
        return failAt(soon, 'threw');
      case 'threw after':
        return runThen(soon, say(failure('threw')));
      case 'failure proves none':
        return failAt(random.chance(0.5) ? soon : late, 'threw', 'none');
      case 'failure proves applied':
        return runThen(random.chance(0.5) ? soon : late, say(failure('threw', { effect: 'applied' })));
      case 'partial result':
        return runThen(
          soon,
          say({ ...returned(attempt), errors: [{ item: 1, kind: '404_not_found', message: 'no such item' }] }),
        );
      case 'result is no json':
        return runThen(soon, say({ ...returned(attempt), output: { count: 1n } }));
      case 'adapter rejects':
        return runThen(soon, () => answer('rejects' as unknown as UpstreamResult));
      case 'obeys abort': {
        let over = false;
        signal.addEventListener(
          'abort',
          () => {
            // A tool that has run does not say that it was stopped before: whoever slept may abort very late.
            if (over) return;
            over = true;
            say(failure('cancelled', { effect: 'none' }))();
          },
          { once: true },
        );
        return later(late, () => {
          if (over) return;
          over = true;
          execute(attempt);
          say(returned(attempt))();
        });
      }
      default:
        return behaviour satisfies never;
    }
  };

  /** Without the header, with it, and with more than anybody waits for. */
  const drawRetryAfter = () => random.pick([null, 1, 3, 12, 2_000]);

  const tookEffect = (callId: string) => (witness.calls.get(callId)?.effects ?? 0) > 0;
  const portWorld: PortWorld = {
    scheduler,
    witness,
    behave: (behaviour, attempt, answer, signal) =>
      isAboutKey(behaviour) ? behaveByKey(behaviour, attempt, answer) : behave(behaviour, attempt, answer, signal),
    cover: world.cover,
    draw: () => random.weighted(world.mix().upstream),
    onResult: (heard) => void answers.push(heard),
    probes: () => ({ random, later, tookEffect, cover: world.cover, probeFails: world.mix().probeFails ?? 0 }),
  };

  return {
    underWay: () => underWay,
    /** Results that reached a process: what it heard, it must not forget while it lives. */
    answers,
    /** What a probe sees. */
    tookEffect,
    portFor: (life: Life, owner: string, clock: Clock): Upstream => openPort(life, owner, clock, portWorld),
  };
}

function returned({ callId, tool }: Attempt): Extract<UpstreamResult, { kind: 'returned' }> {
  return { kind: 'returned', output: { did: tool, for: callId }, errors: [] };
}

function failure(
  kind: Failure['kind'],
  said: Partial<Pick<Failure, 'effect' | 'subject' | 'retryAfterSeconds'>> = {},
): UpstreamResult {
  const about = { errorType: 'SimulatedError', message: `the tool said ${kind}`, code: null, cause: 'simulated' };
  return { kind: 'failed', failure: { kind, effect: null, subject: null, retryAfterSeconds: null, ...about, ...said } };
}
