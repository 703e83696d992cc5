/** The read of a simulated upstream that tells whether a call took effect: true at the moment it is answered. */
import type { Attempt, UpstreamResult } from '../../../src/ports/upstream.ts';
import type { Random } from '../random.ts';

export interface ProbeWorld {
  readonly random: Random;
  readonly probeFails: number;
  readonly later: (delayMs: number, run: () => void) => void;
  readonly tookEffect: (callId: string) => boolean;
  readonly cover: (fault: string, callId: string) => void;
}

const failed: UpstreamResult = {
  kind: 'failed',
  failure: {
    kind: '5xx',
    subject: null,
    errorType: 'SimulatedError',
    message: 'the read failed',
    effect: null,
    retryAfterSeconds: null,
    code: null,
    cause: null,
  },
};

export function answerProbe({ callId }: Attempt, answer: (result: UpstreamResult) => void, world: ProbeWorld): void {
  const { random, later } = world;
  const fault = random.chance(world.probeFails) ? random.pick(['silent', 'unclear', 'fails'] as const) : null;
  world.cover(fault === null ? 'probe' : `probe ${fault}`, callId);
  if (fault === 'silent') return;
  later(random.between(1, 400), () => {
    const happened = world.tookEffect(callId);
    const output = fault === 'unclear' ? { happened: 'perhaps' } : { happened, for: callId };
    const result: UpstreamResult = fault === 'fails' ? failed : { kind: 'returned', output, errors: [] };
    later(random.between(0, 100), () => answer(result));
  });
}
