/**
 * The tools of a simulated world. They run apart from any gateway: an attempt that was sent is executed, late, twice or
 * never, whether or not its sender still lives. The keyed tool remembers call ids for its window, as it promises.
 */
import type { Attempt, Failure, Upstream, UpstreamResult } from '../../src/ports/upstream.ts';
import type { FaultMix, UpstreamBehaviour } from './fault-mix.ts';
import type { Random } from './random.ts';
import type { Life, Scheduler } from './scheduler.ts';
import { classOf, isToolName, latestExecutionMs } from './setting.ts';
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

type Answer = (result: UpstreamResult) => void;

const lateMargin = 500;

export function createTools(world: UpstreamWorld) {
  const { scheduler, random, witness } = world;
  const remembered = new Map<string, number>();
  const answers: { readonly callId: string; readonly attempt: number; readonly life: Life }[] = [];
  let underWay = 0;

  const execute = (attempt: Attempt) => {
    const now = scheduler.nowMs();
    const { callId, tool } = attempt;
    let counts = true;
    if (isToolName(tool) && classOf[tool] === 'keyed') {
      const before = remembered.get(callId);
      counts = before === undefined || now - before >= world.rememberMs;
      if (counts) remembered.set(callId, now);
    }
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

  const behave = (behaviour: UpstreamBehaviour, attempt: Attempt, answer: Answer, signal: AbortSignal) => {
    const soon = random.between(1, 400);
    const late = attempt.timeoutMs + random.between(lateMargin, latestExecutionMs - attempt.timeoutMs);
    const runThen = (delayMs: number, then: () => void) =>
      later(delayMs, () => {
        execute(attempt);
        then();
      });
    const say = (result: UpstreamResult) => () => later(random.between(0, 100), () => answer(result));
    const failAt = (delayMs: number, kind: Failure['kind'], effect: Failure['effect'] = null) =>
      later(delayMs, say(failure(kind, effect)));
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
        return runThen(random.chance(0.5) ? soon : late, say(failure('threw', 'applied')));
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
            say(failure('cancelled', 'none'))();
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

  return {
    underWay: () => underWay,
    /** Results that reached a process: what it heard, it must not forget while it lives. */
    answers,
    /** What a probe sees. */
    tookEffect: (callId: string) => (witness.calls.get(callId)?.effects ?? 0) > 0,
    portFor(life: Life, owner: string): Upstream {
      return {
        invoke(attempt, signal) {
          if (!life.alive) return new Promise(() => undefined);
          witness.sent(attempt, owner);
          let behaviour = random.weighted(world.mix().upstream);
          // A connection delivers an attempt once; only what is safe to repeat is ever repeated by the network.
          if (behaviour === 'delivered twice' && !isRepeatable(attempt.tool)) behaviour = 'answers';
          scheduler.say(
            () => `${life.node}: sends attempt ${attempt.attempt} of ${attempt.callId}, which ${behaviour}`,
          );
          if (behaviour !== 'answers') world.cover(behaviour, attempt.callId);
          return new Promise((resolve, reject) => {
            const answer: Answer = (result) => {
              scheduler.after(0, life, `hears of attempt ${attempt.attempt} of ${attempt.callId}`, () => {
                if (behaviour === 'executes late' || behaviour === 'answer late')
                  world.cover(`${behaviour} (heard)`, attempt.callId);
                if ((result as unknown) === 'rejects') return reject(lostItsMind());
                if (result.kind === 'returned' && behaviour !== 'result is no json')
                  answers.push({ callId: attempt.callId, attempt: attempt.attempt, life });
                resolve(result);
              });
            };
            behave(behaviour, attempt, answer, signal);
          });
        },
      };
    },
  };
}

/** Stacks are recorded for the audit; a real one would differ from run to run. */
const lostItsMind = () =>
  Object.assign(new Error('the adapter lost its mind'), { stack: 'Error: the adapter lost its mind' });

const isRepeatable = (tool: string) => isToolName(tool) && (classOf[tool] === 'pure' || classOf[tool] === 'keyed');

function returned({ callId, tool }: Attempt): Extract<UpstreamResult, { kind: 'returned' }> {
  return { kind: 'returned', output: { did: tool, for: callId }, errors: [] };
}

function failure(kind: Failure['kind'], effect: Failure['effect'] = null): UpstreamResult {
  const about = { subject: null, errorType: 'SimulatedError', message: `the tool said ${kind}` };
  return {
    kind: 'failed',
    failure: { kind, effect, ...about, retryAfterSeconds: kind === '429' ? 3 : null, code: null, cause: 'simulated' },
  };
}
