import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { errorSamples } from '../../../test/support/reply-samples.ts';
import { denialOf, errorOf, scripted } from '../../../test/support/scripted-client.ts';
import { createClient, type ClientBounds } from '../create-client.ts';
import {
  createScriptedTransport,
  deny,
  lost,
  notAReply,
  notSent,
  pending,
  permit,
  reply,
  retryAfter,
  type ScriptedAnswer,
  unknownEffect,
} from '../testing.ts';

describe('a lost answer', () => {
  test('is asked for again, twice, with the same key', async () => {
    const { transport, call } = scripted([lost(), lost(), permit('done')]);
    assert.equal(await call(), 'done');
    assert.equal(new Set(transport.calls.map(({ key }) => key)).size, 1);
    assert.deepEqual(transport.clock.waits, [0.2, 1]);
  });

  const ends: readonly (readonly [string, readonly ScriptedAnswer[], ClientBounds, string, string])[] = [
    ['three times', [lost(), lost(), lost()], {}, 'no_reply', 'unknown'],
    ['and not asked for again, if so wished', [lost()], { maxResends: 0 }, 'no_reply', 'unknown'],
    ['and then nobody listens: the first may have run', [lost(), notSent(), notSent()], {}, 'no_reply', 'unknown'],
    ['and then something else answers', [lost(), notAReply()], {}, 'no_reply', 'unknown'],
    ['and then the door lets nobody in', [lost(), notAReply(turnedAway())], {}, 'turned_away', 'unknown'],
  ];
  for (const [what, answers, bounds, error, effect] of ends)
    test(`that is lost ${what}`, async () => {
      const { transport, call } = scripted(answers, bounds);
      const thrown = await errorOf(call());
      assert.deepEqual([thrown.error, thrown.effect, thrown.code, thrown.reply], [error, effect, thrown.code, null]);
      assert.equal(thrown.key, transport.calls[0]?.key);
      assert.equal(transport.calls.length, answers.length);
    });

  const blind: readonly (readonly [string, ScriptedAnswer])[] = [
    ['it is starting', retryAfter(100, { code: 'DAEMON_NOT_READY' })],
    ['another call is in flight', reply(errorSamples.action_in_flight)],
    ['its store is away', reply({ ...errorSamples.session_error, code: 'StoreUnavailable' })],
  ];
  for (const [what, answer] of blind)
    test(`leaves the effect unknown when the gateway only says that ${what}`, async () => {
      const thrown = await errorOf(scripted([lost(), answer]).call());
      assert.deepEqual([thrown.error, thrown.effect], ['no_reply', 'unknown']);
      assert.notEqual(thrown.reply, null);
    });

  test('still counts after a wait', async () => {
    const starting = retryAfter(1, { code: 'DAEMON_NOT_READY' });
    const { call } = scripted([lost(), starting, starting, starting, starting]);
    assert.equal((await errorOf(call())).effect, 'unknown');
  });

  test('is nothing against a denial that looked at the key', async () => {
    assert.equal((await denialOf(scripted([lost(), deny()]).call())).code, 'POLICY_DENY');
  });

  test('is not asked for again when the signal is aborted', async () => {
    const transport = createScriptedTransport({ refund: [lost()] }, { manualClock: true });
    const stop = new AbortController();
    const call = createClient({ transport }).call('refund', {}, { signal: stop.signal });
    await eventually('a wait', async () => transport.clock.waiting > 0);
    stop.abort();
    const error = await errorOf(call);
    assert.deepEqual([error.error, error.effect, transport.calls.length], ['aborted', 'unknown', 1]);
  });
});

describe('what was certainly not sent', () => {
  test('has no effect', async () => {
    const error = await errorOf(scripted([notSent()]).call());
    assert.deepEqual([error.error, error.effect], ['not_sent', 'none']);
  });

  test('nor has what the door turned away', async () => {
    const error = await errorOf(scripted([notAReply(turnedAway())]).call());
    assert.deepEqual([error.error, error.code, error.effect], ['turned_away', 'Unauthenticated', 'none']);
  });

  test('nor what was aborted before it was sent', async () => {
    const { client, transport } = scripted([permit()]);
    const error = await errorOf(client.call('refund', {}, { signal: AbortSignal.abort() }));
    assert.deepEqual([error.error, error.effect, transport.calls.length], ['aborted', 'none', 0]);
  });
});

describe('a pending call', () => {
  test('is asked about until it has ended', async () => {
    const { transport, call } = scripted([pending(pending(permit('done'), 3), 2)]);
    assert.equal(await call(), 'done');
    assert.deepEqual([transport.clock.waits, transport.calls.length], [[2, 3], 1]);
  });

  test('ends as whatever it ends as', async () => {
    assert.equal((await denialOf(scripted([pending(deny())]).call())).code, 'POLICY_DENY');
    assert.equal((await errorOf(scripted([pending(unknownEffect())]).call())).effect, 'unknown');
  });

  test('that does not end in time is told with its id, and its effect is not known', async () => {
    const { call } = scripted([pending(pending(permit(), 3), 3)], { maxPollSeconds: 5 });
    const error = await errorOf(call());
    assert.deepEqual([error.error, error.effect, error.callId], ['still_pending', 'unknown', 'call_scripted_1']);
    assert.deepEqual(error.resolution, { type: 'reconcile', callId: 'call_scripted_1' });
  });

  test('whose answers are lost is asked about again, within the same bound', async () => {
    const { transport, call } = scripted([pending(lost(), 1)]);
    const error = await errorOf(call());
    assert.deepEqual([error.error, error.effect, error.callId], ['no_reply', 'unknown', 'call_scripted_1']);
    assert.deepEqual(transport.clock.waits, [1, 1, 1]);
  });

  const about = { ...errorSamples.denied, call_id: 'call_other' };
  const starting = { type: 'retry_after', retry_after_seconds: 2 } as const;

  test('is asked about again when the gateway is starting: that is no outcome', async () => {
    const notReady = reply({ ...about, code: 'DAEMON_NOT_READY', resolution: starting });
    const { transport, call } = scripted([pending([notReady, lost(), notReady, permit('done')])]);
    assert.equal(await call(), 'done');
    assert.deepEqual(transport.clock.waits, [1, 2, 2, 2]);
  });

  test('is in doubt when the gateway refuses to be asked', async () => {
    const error = await errorOf(scripted([pending(reply(about))]).call());
    assert.deepEqual([error.error, error.effect, error.callId], ['no_reply', 'unknown', 'call_scripted_1']);
  });

  test('can be looked at by its id', async () => {
    const { client, call } = scripted([pending(permit('done'))]);
    await call();
    const found = await client.reply('call_scripted_1');
    assert.ok('result' in found && found.result === 'done');
  });
});

function turnedAway() {
  return { type: 'urn:recourse:code:Unauthenticated', title: 'No key', status: 401, code: 'Unauthenticated' };
}
