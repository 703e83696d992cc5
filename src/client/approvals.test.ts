import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApprovalState } from '../core/approval/approval.ts';
import { denialOf, errorOf } from '../../test/support/scripted-client.ts';
import { type CallOptions, createClient } from './create-client.ts';
import {
  completionBlocked,
  createScriptedTransport,
  defer,
  deny,
  permit,
  retryAfter,
  type ScriptedAnswer,
} from './testing.ts';
import type { Answer, Transport } from './transport/transport.ts';

type States = Readonly<Record<string, readonly ApprovalState[]>>;

function asking(answers: readonly ScriptedAnswer[], approvals: States, own: CallOptions = { onDefer: 'wait' }) {
  const transport = createScriptedTransport({ refund: answers }, { approvals });
  const client = createClient({ transport });
  return { transport, client, call: () => client.call('refund', { amount: 1 }, own) };
}

describe('a call that a person must approve', () => {
  test('throws the denial with the id of the approval, and looks at nothing, unless it is told to wait', async () => {
    for (const own of [{}, { onDefer: 'throw' }] as const) {
      const { call, transport } = asking([defer({ approvalId: 'apr-7' })], {}, own);
      const denial = await denialOf(call());
      assert.deepEqual([denial.code, denial.approvalId, denial.effect], ['POLICY_DEFER', 'apr-7', 'none']);
      assert.deepEqual([transport.looks, transport.calls.length], [[], 1]);
    }
  });

  test('waits, asks again with the same key, and gives the value', async () => {
    const { call, transport } = asking([defer(), permit('done')], { 'apr-1': ['pending', 'pending', 'granted'] });
    assert.equal(await call(), 'done');
    const [first, second] = transport.calls.map(({ key }) => key);
    assert.equal(first, second);
    assert.deepEqual(transport.looks, ['apr-1', 'apr-1', 'apr-1']);
  });

  const ends: readonly (readonly [state: ApprovalState, asks: number])[] = [
    ['granted', 2],
    ['used', 2],
    ['denied', 2],
    ['void', 2],
    ['expired', 1],
    ['revoked', 1],
  ];
  for (const [state, asks] of ends)
    test(`that is ${state} is asked for ${asks === 2 ? 'again' : 'no more: it would open another approval'}`, async () => {
      const { call, transport } = asking([defer(), deny()], { 'apr-1': [state] });
      const denial = await denialOf(call());
      assert.deepEqual([denial.code, transport.calls.length], [asks === 2 ? 'POLICY_DENY' : 'POLICY_DEFER', asks]);
    });

  test('waits for the next approval where the rules have changed', async () => {
    const answers = [defer(), defer({ approvalId: 'apr-2' }), permit('done')];
    const { call, transport } = asking(answers, { 'apr-1': ['void'], 'apr-2': ['pending', 'granted'] });
    assert.equal(await call(), 'done');
    assert.deepEqual(transport.looks, ['apr-1', 'apr-2', 'apr-2']);
  });

  test('waits no longer than it was told, and then throws the denial', async () => {
    const own = { onDefer: 'wait', deferSeconds: 5 } as const;
    const { call, transport } = asking([defer()], { 'apr-1': ['pending'] }, own);
    const denial = await denialOf(call());
    assert.equal(denial.approvalId, 'apr-1');
    assert.ok(transport.looks.length >= 3 && transport.looks.length <= 7, String(transport.looks.length));
    assert.ok(transport.clock.seconds <= 5, String(transport.clock.seconds));
  });

  test('is given up when its signal is aborted, and says that the gateway may run it all the same', async () => {
    const stop = new AbortController();
    const { call, transport } = asking(
      [defer()],
      { 'apr-1': ['pending'] },
      { onDefer: 'wait', signal: stop.signal, key: 'k' },
    );
    const { approval } = transport;
    assert.ok(approval !== undefined);
    Object.assign(transport, {
      approval: async (...all: Parameters<typeof approval>) => {
        stop.abort();
        return approval(...all);
      },
    });
    const error = await errorOf(call());
    assert.deepEqual([error.error, error.effect, error.key, error.tool], ['aborted', 'unknown', 'k', 'refund']);
  });

  test('does not give up because one look was lost', async () => {
    const lost: Answer = { kind: 'lost', reason: 'the connection was lost' };
    const { call, transport } = asking([defer(), permit('done')], { 'apr-1': ['granted'] });
    const { approval } = transport;
    assert.ok(approval !== undefined);
    let left = 4;
    Object.assign(transport, {
      approval: (...all: Parameters<typeof approval>) => (left-- > 0 ? Promise.resolve(lost) : approval(...all)),
    });
    assert.equal(await call(), 'done');
  });

  test('options that mean nothing are errors', async () => {
    const { client } = asking([permit()], {});
    const wrong: readonly (readonly [options: object, says: RegExp])[] = [
      [{ onDefer: 'later' }, /'onDefer' must be 'throw' or 'wait'/],
      [{ deferSeconds: -1 }, /'deferSeconds' must be a number from 0/],
    ];
    for (const [own, says] of wrong) await assert.rejects(client.call('refund', {}, own as CallOptions), says);
    const transport: Transport = {
      send: async () => ({ kind: 'answered', body: null }),
      look: async () => ({ kind: 'answered', body: null }),
    };
    await assert.rejects(
      createClient({ transport }).approvals.read('apr-1'),
      /this transport cannot look at approvals/,
    );
    await assert.rejects(createClient({ transport }).complete(), /this transport cannot complete a session/);
  });
});

describe('an approval', () => {
  test('is read as it is, and waited for', async () => {
    const { client } = asking([], { 'apr-1': ['pending', 'pending', 'denied'] });
    assert.equal((await client.approvals.read('apr-1')).state, 'pending');
    assert.equal((await client.approvals.wait('apr-1')).state, 'denied');
  });

  test('that is still pending when the time is over is told as it is', async () => {
    const { client, transport } = asking([], { 'apr-1': ['pending'] });
    assert.equal((await client.approvals.wait('apr-1', { seconds: 3 })).state, 'pending');
    assert.ok(transport.clock.seconds <= 3);
  });
});

describe('complete', () => {
  test('gives the reply, waits where it should, and throws what stands against it', async () => {
    const complete = [
      retryAfter(2, { code: 'DAEMON_NOT_READY' }),
      completionBlocked(['apr-1', 'apr-2']),
      permit({ completed: true }),
    ];
    const transport = createScriptedTransport({}, { complete });
    const client = createClient({ transport });
    const denial = await denialOf(client.complete({ session: 'ses_1' }));
    assert.deepEqual([denial.code, denial.session, transport.clock.waits], ['COMPLETION_BLOCKED', 'ses_1', [2]]);
    assert.deepEqual(denial.resolution, { type: 'pending_approvals', approvalIds: ['apr-1', 'apr-2'] });
    assert.deepEqual((await client.complete()).result, { completed: true });
  });
});
