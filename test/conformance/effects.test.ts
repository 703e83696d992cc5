/** CONTRACT sections 3, 5 and 6: `effect` says what is proven, by effect class and by how the attempt ended. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallState, Effect, EffectClass, ErrorKind } from '../../src/core/taxonomy.ts';
import { type ErrorReply, httpStatusOf, isRefusal, type Tool } from '../../src/index.ts';
import { errorOf } from '../support/check-reply.ts';
import { openGateway } from '../support/open-gateway.ts';
import { aTool, createHeldTool, effectClassNames } from '../support/tools.ts';

interface Ending {
  readonly name: string;
  readonly error: ErrorReply['error'];
  readonly code: ErrorReply['code'];
  readonly http: number;
  /** What comes next for a read. */
  readonly next: string;
  /** With `begun`, the client aborts as soon as the body has begun. */
  readonly make: (effect: EffectClass) => { readonly definition: Tool; readonly begun?: () => Promise<unknown> };
}

const throws = () => Promise.reject(new Error('it broke'));

/** Ways to end that leave open whether a write happened. */
const endings: readonly Ending[] = [
  {
    name: 'throws',
    next: 'choose_action',
    error: 'action_error',
    code: 'ExecutionFailed',
    http: 502,
    make: (effect) => ({ definition: aTool('act', throws, { effect }) }),
  },
  {
    name: 'answers in another shape than it declared',
    next: 'replan',
    error: 'action_error',
    code: 'OutputMalformed',
    http: 502,
    make: (effect) => ({ definition: aTool('act', () => ({ wrong: 1 }), { effect, output: { type: 'string' } }) }),
  },
  {
    name: 'answers what JSON cannot carry',
    next: 'replan',
    error: 'action_error',
    code: 'OutputMalformed',
    http: 502,
    make: (effect) => ({ definition: aTool('act', () => ({ amount: 1n }), { effect }) }),
  },
  {
    name: 'is out of time',
    next: 'choose_action',
    error: 'action_timeout',
    code: 'ExecutionTimeout',
    http: 504,
    make: (effect) => ({ definition: createHeldTool('act', { effect, timeout_seconds: 0.03 }).definition }),
  },
  {
    name: 'is cancelled by its client',
    next: 'choose_action',
    error: 'cancelled',
    code: 'ToolCancelled',
    http: 409,
    make: (effect) => createHeldTool('act', { effect }),
  },
];

describe('after an answer that proves nothing', () => {
  for (const ending of endings)
    for (const effect of effectClassNames) {
      const proven: readonly [Effect, CallState] = effect === 'pure' ? ['none', 'FAILED'] : ['unknown', 'IN_DOUBT'];
      test(`[C6-effect-1] a ${effect} tool that ${ending.name} has the effect ${proven[0]}`, async (t) => {
        const { definition, begun } = ending.make(effect);
        const gateway = await openGateway(t, [definition]);
        const client = new AbortController();
        const asked = gateway.call({ tool: 'act' }, { signal: client.signal });
        void begun?.().then(() => client.abort());
        const reply = errorOf(await asked, ending.error);
        assert.deepEqual([reply.code, reply.effect, httpStatusOf(reply)], [ending.code, proven[0], ending.http]);
        assert.equal(reply.resolution.type, proven[0] === 'unknown' ? 'reconcile' : ending.next);
        const stored = await gateway.stored(reply.call_id);
        assert.equal(stored.state, proven[1]);
        assert.deepEqual(await gateway.reply(reply.call_id), reply, 'the record says the same');
      });
    }
});

interface Stated {
  readonly kind: ErrorKind;
  readonly subject?: 'in_flight' | 'completed' | 'mismatch' | 'evidence' | 'request' | 'response';
  readonly code: ErrorReply['code'];
  readonly verdict: string;
  readonly http?: number;
  /** What the table says for a write; a read has no effect whatever happens. */
  readonly write: Effect;
}

const stated: readonly Stated[] = [
  { kind: 'timeout', code: 'ExecutionTimeout', verdict: 'transient_timeout', write: 'unknown' },
  { kind: 'never_sent', code: 'ResourceBusy', verdict: 'transient_timeout', http: 503, write: 'none' },
  { kind: '5xx', code: 'Provider5xx', verdict: 'server_error_5xx', write: 'unknown' },
  { kind: '429', code: 'RateLimited', verdict: 'rate_limited', write: 'none' },
  { kind: '400_invalid', code: 'InputInvalid', verdict: 'invalid_request', write: 'none' },
  { kind: '401_unauthenticated', code: 'Forbidden', verdict: 'auth_expired', write: 'none' },
  { kind: '403_forbidden', code: 'Forbidden', verdict: 'policy_denied', write: 'none' },
  { kind: '404_not_found', code: 'NotFound', verdict: 'invalid_request', write: 'none' },
  {
    kind: '409_conflict',
    subject: 'in_flight',
    code: 'ExecutionFailed',
    verdict: 'idempotency_conflict',
    write: 'unknown',
  },
  {
    kind: '409_conflict',
    subject: 'completed',
    code: 'ExecutionFailed',
    verdict: 'idempotency_conflict',
    write: 'unknown',
  },
  {
    kind: '409_conflict',
    subject: 'mismatch',
    code: 'ExecutionFailed',
    verdict: 'idempotency_conflict',
    write: 'none',
  },
  {
    kind: '412_precondition',
    subject: 'evidence',
    code: 'StaleEvidence',
    verdict: 'evidence_stale',
    http: 409,
    write: 'none',
  },
  { kind: 'schema_validation', subject: 'request', code: 'InputInvalid', verdict: 'schema_mismatch', write: 'none' },
  {
    kind: 'schema_validation',
    subject: 'response',
    code: 'OutputMalformed',
    verdict: 'schema_mismatch',
    write: 'unknown',
  },
  { kind: 'cancelled', code: 'ToolCancelled', verdict: 'cancelled', write: 'unknown' },
  { kind: 'threw', code: 'ExecutionFailed', verdict: 'server_error_5xx', write: 'unknown' },
  { kind: 'unknown', code: 'ExecutionFailed', verdict: 'server_error_5xx', write: 'unknown' },
];

describe('after a failure that the tool states by its kind', () => {
  test('[C5-kinds-1] class, code, verdict and effect are those of the table, for every kind and effect class', async (t) => {
    const tools = effectClassNames.map((effect) =>
      aTool(
        effect,
        ({ at }, { fail }) => {
          const { kind, subject } = stated[Number(at)] as Stated;
          return fail({ kind, message: 'as stated', ...(subject === undefined ? {} : { subject }) });
        },
        { effect, retry: { retryable: false } },
      ),
    );
    const gateway = await openGateway(t, tools);
    for (const [at, { kind, subject, code, verdict, write, http = 502 }] of stated.entries())
      for (const effect of effectClassNames) {
        const what = `${kind} ${subject ?? ''} of a ${effect} tool`;
        // What an upstream forbids is fenced for the rest of its session.
        const session = await gateway.openSession();
        const reply = errorOf(await gateway.call({ tool: effect, args: { at }, session }), 'action_error');
        const proven = effect === 'pure' ? 'none' : write;
        assert.deepEqual(
          [reply.code, reply.verdict, reply.effect, httpStatusOf(reply)],
          [code, verdict, proven, http],
          what,
        );
        const { state } = await gateway.stored(reply.call_id);
        assert.equal(state, proven === 'none' ? 'FAILED' : 'IN_DOUBT', what);
      }
  });

  test('[C6-effect-2] a body that proves the effect is believed, in both directions', async (t) => {
    const act = aTool('act', ({ effect }, { fail }) => fail({ kind: '5xx', message: 'no', effect: effect as Effect }));
    const gateway = await openGateway(t, [act]);
    const none = errorOf(await gateway.call({ tool: 'act', args: { effect: 'none' } }), 'action_error');
    assert.deepEqual([none.effect, (await gateway.stored(none.call_id)).state], ['none', 'FAILED']);
    const applied = errorOf(await gateway.call({ tool: 'act', args: { effect: 'applied' } }), 'action_error');
    assert.deepEqual([applied.effect, (await gateway.stored(applied.call_id)).state], ['applied', 'SUCCEEDED']);
  });

  test('[C3-error-2] an error is never dressed as a success, and a success never as an error', async (t) => {
    const odd = aTool('odd', ({ result }) => result, { effect: 'pure' });
    const gateway = await openGateway(t, [odd]);
    for (const result of [{ error: 'action_error', code: 'x' }, { pending: true }, null, 'error', [], 0, false]) {
      const reply = await gateway.call({ tool: 'odd', args: { result } });
      assert.ok('action' in reply && !isRefusal(reply));
      assert.deepEqual(reply.result, result);
    }
  });

  test('[C6-effect-3] a refused call has no effect and never reached its tool', async (t) => {
    let runs = 0;
    const act = aTool('act', () => (runs += 1), { input: { type: 'object', required: ['a'] } });
    const gateway = await openGateway(t, [act]);
    for (const value of [{ tool: 'act' }, { tool: 'other' }, { tool: 'act', args: { a: 1 }, session: 'ses_none' }, 7]) {
      const reply = await gateway.handle(value);
      assert.ok(isRefusal(reply) && reply.effect === 'none');
      assert.equal((await gateway.stored(reply.call_id)).state, 'DENIED');
    }
    assert.equal(runs, 0);
  });
});
