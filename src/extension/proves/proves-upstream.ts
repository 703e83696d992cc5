/**
 * What must every upstream do? One contract, called by each adapter with a way to make its upstream misbehave: each
 * fault in, the right kind out. A fault that a technology cannot express is named as such.
 */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { classify } from '../../core/recovery/classify.ts';
import { safeText } from '../../core/values/redact.ts';
import type { Effect, ErrorKind, ErrorSubject } from '../../core/taxonomy.ts';
import type { Failure, Upstream, UpstreamResult } from '../../ports/upstream.ts';
import { attemptOf } from './attempt-of.ts';
import { eventually } from './eventually.ts';

/** By which a signal is aborted when the time of a call is over. */
class TimedOut extends Error {
  override name = 'TimeoutError';
}

/** In every error that a staged upstream words itself. */
export const planted = 'Bearer planted-secret-0123456789';

interface Expected {
  readonly kinds: readonly ErrorKind[];
  readonly subject?: ErrorSubject;
  /** Of a write. */
  readonly effect: Effect;
  readonly retryAfterSeconds?: number;
}

/** Faults that come as an answer, or in its place. */
const answers = {
  'a result of the wrong shape': { kinds: ['schema_validation'], subject: 'response', effect: 'unknown' },
  'an answer that cannot be parsed': { kinds: ['schema_validation', 'unknown'], effect: 'unknown' },
  'an answer beyond the limit': { kinds: ['schema_validation', 'unknown'], effect: 'unknown' },
  'input refused': { kinds: ['400_invalid'], effect: 'none' },
  'not authenticated': { kinds: ['401_unauthenticated'], effect: 'none' },
  forbidden: { kinds: ['403_forbidden'], effect: 'none' },
  'not found': { kinds: ['404_not_found'], effect: 'none' },
  'a key in flight': { kinds: ['409_conflict'], subject: 'in_flight', effect: 'unknown' },
  'a key completed': { kinds: ['409_conflict'], subject: 'completed', effect: 'unknown' },
  'a key of another request': { kinds: ['409_conflict'], subject: 'mismatch', effect: 'none' },
  'a conflict without a code': { kinds: ['409_conflict'], effect: 'none' },
  'stale evidence': { kinds: ['412_precondition'], subject: 'evidence', effect: 'none' },
  'a rate limit of 7 seconds': { kinds: ['429'], effect: 'none', retryAfterSeconds: 7 },
  'a failure of its own': { kinds: ['5xx'], effect: 'unknown' },
  'never sent': { kinds: ['never_sent'], effect: 'none' },
  'dropped after it was sent': { kinds: ['timeout', 'unknown'], effect: 'unknown' },
} as const satisfies Record<string, Expected>;

export type Fault = keyof typeof answers | 'a result' | 'no answer until it is released';

/** An upstream with one tool that does as it was staged. */
export interface Stage {
  readonly upstream: Upstream;
  readonly tool: string;
  /** Whether the tool has begun. */
  readonly hasBegun: () => boolean;
  /** Lets a late answer come. */
  readonly release: () => void;
}

export interface UpstreamHarness {
  /** Faults that this technology cannot express, and why. */
  readonly cannot: Readonly<Partial<Record<Fault | 'a late answer', string>>>;
  stage(t: TestContext, fault: Fault): Promise<Stage>;
}

export function provesUpstream(name: string, harness: UpstreamHarness): void {
  describe(`${name} keeps the contract of upstreams`, () => {
    for (const [fault, expected] of Object.entries(answers) as [keyof typeof answers, Expected][])
      test(`${fault} is ${expected.kinds.join(' or ')}`, { skip: harness.cannot[fault] ?? false }, async (t) => {
        const failure = failureIn(await invoke(await harness.stage(t, fault)));
        assert.ok(expected.kinds.includes(failure.kind), `${failure.kind}: ${failure.message}`);
        if (expected.subject !== undefined) assert.equal(failure.subject, expected.subject);
        assert.equal(effectOf(failure), expected.effect);
        if (expected.retryAfterSeconds !== undefined)
          assert.equal(failure.retryAfterSeconds, expected.retryAfterSeconds);
        assert.ok(failure.message !== '' && failure.message.length <= 16_000);
        assert.doesNotMatch(safeText(failure.message, 2_000), /planted-secret/);
      });

    test('a result is returned', async (t) => {
      assert.equal((await invoke(await harness.stage(t, 'a result'))).kind, 'returned');
    });

    provesStopping(harness);

    test('an unknown tool, and arguments of any sort, get an answer', async (t) => {
      const { upstream, tool } = await harness.stage(t, 'a result');
      const { signal } = new AbortController();
      for (const name of ['nobody', 'nobody/knows', '', tool])
        for (const args of [null, 'text', 7, [], { a: { b: [] } }]) {
          const result = await upstream.invoke(attemptOf(name, args), signal);
          assert.ok(result.kind === 'returned' || result.failure.message !== '');
        }
    });
  });
}

function provesStopping(harness: UpstreamHarness): void {
  test('a call that is stopped before it begins is never sent', async (t) => {
    const stage = await harness.stage(t, 'a result');
    const failure = failureIn(await invoke(stage, AbortSignal.abort()));
    assert.deepEqual([failure.kind, effectOf(failure), stage.hasBegun()], ['cancelled', 'none', false]);
  });

  const stops: readonly (readonly [string, unknown, readonly ErrorKind[]])[] = [
    ['by its timeout', new TimedOut('the call timed out'), ['timeout', 'cancelled']],
    ['by its caller', new Error('the call was cancelled'), ['cancelled']],
  ];
  for (const [how, reason, kinds] of stops)
    test(`a write that is stopped ${how} may have happened`, async (t) => {
      const { stage, stop, end } = await begin(t, harness);
      stop.abort(reason);
      const failure = failureIn(await end);
      assert.ok(kinds.includes(failure.kind), failure.kind);
      assert.equal(effectOf(failure), 'unknown');
      stage.release();
    });

  test(
    'the answer to a write that came too late is heard once',
    { skip: harness.cannot['a late answer'] ?? false },
    async (t) => {
      const late: UpstreamResult[] = [];
      const { stage, stop, end } = await begin(t, harness, (result) => late.push(result));
      stop.abort(new TimedOut('the call timed out'));
      await end;
      stage.release();
      await eventually('the late answer', async () => late.length > 0);
      assert.deepEqual(
        late.map(({ kind }) => kind),
        ['returned'],
      );
    },
  );
}

async function begin(t: TestContext, harness: UpstreamHarness, late?: (result: UpstreamResult) => void) {
  const stage = await harness.stage(t, 'no answer until it is released');
  const stop = new AbortController();
  const end = stage.upstream.invoke(attemptOf(stage.tool), stop.signal, late);
  await eventually('the tool has begun', async () => stage.hasBegun());
  return { stage, stop, end };
}

const invoke = ({ upstream, tool }: Stage, signal = new AbortController().signal): Promise<UpstreamResult> =>
  upstream.invoke(attemptOf(tool), signal);

function failureIn(result: UpstreamResult): Failure {
  assert.equal(result.kind, 'failed', JSON.stringify(result));
  return (result as Extract<UpstreamResult, { kind: 'failed' }>).failure;
}

const effectOf = ({ effect, kind, subject }: Failure): Effect =>
  effect ?? classify(kind, (subject ?? undefined) as ErrorSubject | undefined, 'plain').effect;
