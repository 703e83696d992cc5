/** What is sent again after a failure, how often, and what the caller hears: on a real gateway and a real file. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { EffectClass, ErrorKind } from '../../../src/core/taxonomy.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway, type OpenOptions } from '../../support/open-gateway.ts';
import { createShiftedClock } from '../../support/shifted-clock.ts';
import { aTool } from '../../support/tools.ts';

type Scripted =
  | 'ok'
  | 'hang'
  | { readonly kind: ErrorKind; readonly subject?: string; readonly retry_after_seconds?: number };

const soon = { max_attempts: 3, backoff: 'fixed', base_ms: 1, jitter: 0 } as const;

/** A tool that ends each send as the script says; the last entry counts for all that follow. */
async function openScripted(
  t: TestContext,
  effect: EffectClass,
  script: readonly Scripted[],
  more: object = {},
  options: OpenOptions = {},
) {
  let sends = 0;
  const act = aTool(
    'act',
    (_args, { fail }) => {
      const next = script[Math.min(sends, script.length - 1)] ?? 'ok';
      sends += 1;
      if (next === 'ok') return { done: sends };
      if (next === 'hang') return new Promise(() => undefined);
      return fail({ message: 'as scripted', ...next } as never);
    },
    { effect, retry: soon, timeout_seconds: 0.05, ...more },
  );
  const gateway = await openGateway(t, [act], options);
  return { gateway, sends: () => sends, call: () => gateway.call({ tool: 'act' }) };
}

const kindsOf = async (gateway: Awaited<ReturnType<typeof openGateway>>, id: string) =>
  (await gateway.records(id)).map(({ kind }) => kind);

describe('a failure that may be sent again', () => {
  test('[C9-retry-1] [S001-class-4] [S001-retry-2] succeeds later, and the reply says how often it was sent', async (t) => {
    const { gateway, call } = await openScripted(t, 'pure', [{ kind: '5xx' }, 'hang', 'ok']);
    const reply = successOf(await call());
    assert.deepEqual([reply.result, reply.attempts], [{ done: 3 }, 3]);
    assert.deepEqual(await kindsOf(gateway, reply.call_id), [
      'prepared',
      'dispatched',
      'retry_planned',
      'attempt_finished',
      'failure_classified',
      'compensation_selected',
      'attempt_scheduled',
      'dispatched',
      'attempt_started',
      'retry_planned',
      'attempt_finished',
      'failure_classified',
      'verdict_changed',
      'compensation_selected',
      'attempt_scheduled',
      'dispatched',
      'attempt_started',
      'settled',
      'dispatch_settled',
    ]);
  });

  test('[C9-retry-2] a success at the first send has no records of recovery', async (t) => {
    const { gateway, call } = await openScripted(t, 'keyed', ['ok']);
    const reply = successOf(await call());
    assert.equal(reply.attempts, undefined);
    assert.deepEqual(await kindsOf(gateway, reply.call_id), ['prepared', 'dispatched', 'settled']);
  });

  test('[C9-retry-3] exhausted carries the first error, the last, and the number of sends', async (t) => {
    const script = [{ kind: '5xx' }, { kind: '5xx' }, { kind: '5xx' }, { kind: '5xx' }] as const;
    const { call } = await openScripted(t, 'pure', script);
    const { outcome, attempts, verdict, compensation } = errorOf(await call(), 'action_error');
    assert.ok(outcome?.kind === 'exhausted');
    assert.deepEqual([outcome.first_error.kind, outcome.final_error.kind, outcome.attempts], ['5xx', '5xx', 4]);
    assert.deepEqual([attempts, verdict, compensation?.kind], [4, 'server_error_5xx', 'retry_with_backoff']);
  });

  const hazards: readonly (readonly [string, EffectClass, readonly Scripted[], number, string])[] = [
    [
      'timeout then a completed key sends exactly twice',
      'keyed',
      ['hang', { kind: '409_conflict', subject: 'completed' }],
      2,
      'deprecated',
    ],
    ['timeout then 403 escalates at once', 'keyed', ['hang', { kind: '403_forbidden' }], 2, 'escalated'],
    ['an unknown failure is sent once', 'pure', [{ kind: 'unknown' }], 1, 'escalated'],
    ['a plain write that times out is sent once', 'plain', ['hang'], 1, 'exhausted'],
    [
      'a response that fails its schema after a write is in doubt',
      'plain',
      [{ kind: 'schema_validation', subject: 'response' }],
      1,
      'deprecated',
    ],
    ['a refused request is sent once', 'pure', [{ kind: '400_invalid' }], 1, 'deprecated'],
    ['a credential that is not accepted is sent once', 'pure', [{ kind: '401_unauthenticated' }], 1, 'escalated'],
    ['a thing that is not there is asked for once', 'pure', [{ kind: '404_not_found' }], 1, 'deprecated'],
    ['a key of another request escalates', 'keyed', [{ kind: '409_conflict', subject: 'mismatch' }], 1, 'escalated'],
  ];
  for (const [name, effect, script, sends, outcome] of hazards)
    test(`[C9-retry-4] ${name}`, async (t) => {
      const scripted = await openScripted(t, effect, script);
      const reply = await scripted.call();
      assert.ok('error' in reply && 'outcome' in reply, JSON.stringify(reply));
      assert.deepEqual([scripted.sends(), reply.outcome?.kind], [sends, outcome]);
    });

  test('[C9-retry-5] a write of unknown effect that is given up in mid-retry is in doubt, not failed', async (t) => {
    const { gateway, call } = await openScripted(t, 'keyed', ['hang', { kind: '403_forbidden' }]);
    const reply = errorOf(await call(), 'action_error');
    assert.deepEqual([reply.effect, (await gateway.stored(reply.call_id)).state], ['unknown', 'IN_DOUBT']);
  });

  test('[C9-retry-6] a cancellation ends the pause at once, and is no failure of the upstream', async (t) => {
    const pauses = { max_attempts: 1, backoff: 'fixed', base_ms: 3_600_000, jitter: 0 } as const;
    const { gateway } = await openScripted(t, 'pure', [{ kind: '5xx' }], { retry: pauses });
    const pending = await gateway.call({ tool: 'act', deadline_seconds: 7_200, wait_seconds: 0.01 });
    assert.ok('pending' in pending);
    await eventually('the pause', async () => (await gateway.stored(pending.call_id)).state === 'RETRY_WAIT');
    assert.equal(await gateway.cancel({ call: pending.call_id }), 'cancelled');
    assert.equal((await gateway.stored(pending.call_id)).state, 'CANCELLED');
  });

  test('[C9-retry-7] a pause that would pass the deadline is not begun', async (t) => {
    const scripted = await openScripted(t, 'pure', [{ kind: '429', retry_after_seconds: 60 }], {});
    const reply = errorOf(await scripted.gateway.call({ tool: 'act', deadline_seconds: 30 }), 'action_error');
    assert.deepEqual(
      [scripted.sends(), reply.code, reply.resolution],
      [1, 'RateLimited', { type: 'retry_after', retry_after_seconds: 60 }],
    );
  });
});

describe('a pause outlives its process', () => {
  const pauses = { max_attempts: 1, backoff: 'fixed', base_ms: 160_000, jitter: 0 } as const;

  test('[C9-retry-8] it goes on at its time after a restart, and not before', async (t) => {
    const clock = createShiftedClock();
    const scripted = await openScripted(t, 'pure', [{ kind: '5xx' }, 'ok'], { retry: pauses }, { clock });
    const { gateway } = scripted;
    const pending = await gateway.call({ tool: 'act', key: 'k', wait_seconds: 0.01 });
    const isWaiting = async () => (await gateway.stored(pending.call_id)).state === 'RETRY_WAIT';
    assert.ok('pending' in pending);
    await eventually('the pause', isWaiting);
    await gateway.close();
    assert.ok(await isWaiting(), 'closing leaves it as it is');
    clock.pass(150_000);
    const again = await openScripted(t, 'pure', ['ok'], { retry: pauses }, { clock });
    const stored = await again.gateway.stored(pending.call_id);
    assert.deepEqual([stored.state, stored.attempt, again.sends()], ['RETRY_WAIT', 1, 0]);
    clock.pass(11_000);
    const reply = await again.gateway.call({ tool: 'act', key: 'k', wait_seconds: 30 });
    const { attempts, replayed, call_id: id } = successOf(reply);
    assert.deepEqual([attempts, replayed, id, again.sends()], [2, true, pending.call_id, 1]);
  });

  test('[C9-retry-9] past its deadline it does not', async (t) => {
    const clock = createShiftedClock();
    const { gateway } = await openScripted(t, 'pure', [{ kind: '5xx' }], { retry: pauses }, { clock });
    const pending = await gateway.call({ tool: 'act', key: 'k', wait_seconds: 0.01, deadline_seconds: 170 });
    assert.ok('pending' in pending);
    await eventually('the pause', async () => (await gateway.stored(pending.call_id)).state === 'RETRY_WAIT');
    await gateway.close();
    clock.pass(180_000);
    const again = await openScripted(t, 'pure', ['ok'], { retry: pauses }, { clock });
    await eventually('its end', async () => (await again.gateway.stored(pending.call_id)).state === 'FAILED');
    assert.equal(again.sends(), 0);
  });
});
