import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { errorSamples } from '../../test/support/reply-samples.ts';
import { denialOf, errorOf, scripted } from '../../test/support/scripted-client.ts';
import { createClient, type ClientBounds } from './create-client.ts';
import {
  createScriptedTransport,
  defer,
  deny,
  fail,
  notAReply,
  notSent,
  permit,
  reply,
  retryAfter,
  type ScriptedAnswer,
  timeout,
  unknownEffect,
} from './testing.ts';

describe('a call', () => {
  test('gives the value of a success, or the whole reply', async () => {
    const { client } = scripted([permit({ refunded: 40 }), permit({ refunded: 41 })]);
    assert.deepEqual(await client.call('refund', {}), { refunded: 40 });
    const { result, call_id } = await client.send<{ refunded: number }>('refund', {});
    assert.deepEqual([result.refunded, call_id], [41, 'call_scripted_2']);
  });

  test('travels with what was said for all calls, unless it says otherwise itself', async () => {
    const transport = createScriptedTransport({ default: permit() });
    const client = createClient({ transport, session: 'ses_1', turn: 't1', waitSeconds: 5 });
    await client.call(
      'refund',
      { a: 1 },
      { session: 'ses_2', key: 'k1', expectedSeq: 3, evidenceRefs: ['call_1'], model: 'm', deadlineSeconds: 9 },
    );
    assert.deepEqual(transport.calls, [
      {
        tool: 'refund',
        args: { a: 1 },
        key: 'k1',
        session: 'ses_2',
        turn: 't1',
        expected_seq: 3,
        evidence_refs: ['call_1'],
        model: 'm',
        wait_seconds: 5,
        deadline_seconds: 9,
      },
    ]);
  });

  test('always has a key, and never the same as another', async () => {
    const { transport, client } = scripted([permit(), permit()]);
    await client.call('refund');
    await client.call('refund');
    const [first, second] = transport.calls.map(({ key }) => key);
    assert.match(first ?? '', /^[0-9a-f-]{36}$/);
    assert.notEqual(first, second);
  });

  test('that is misspelt is a mistake of the program', async () => {
    const { client } = scripted([]);
    await assert.rejects(client.call('refund', {}, { kye: 'k1' } as never), /no option 'kye'/);
    await assert.rejects(client.call('', {}), /name of a tool/);
    await assert.rejects(client.call('refund', {}, { waitSeconds: -1 }), /'waitSeconds' must be a number/);
    assert.throws(() => createClient({ transport: {} as never }), /'transport' must be one/);
    assert.throws(() => createClient({ transport: createScriptedTransport({}), maxWait: 3 } as never), /'maxWait'/);
  });

  test('tells a listener of the whole reply', async () => {
    const notices = [{ code: 'BUDGET_WARNING', human_message: 'low', resolution: { type: 'manual_audit' } }] as const;
    const transport = createScriptedTransport({ refund: permit('done', { notices }) });
    const seen: unknown[] = [];
    await createClient({ transport, onReply: (each) => seen.push(each.notices) }).call('refund');
    assert.deepEqual(seen, [notices]);
  });

  test('is not undone by a listener that throws: the process hears of that by itself', () => {
    const url = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
    const script = `
      const { createClient } = await import(${url('index.ts')});
      const { createScriptedTransport, permit } = await import(${url('testing.ts')});
      process.on('uncaughtException', (error) => console.log(error.message));
      const onReply = () => { throw new Error('a listener failed'); };
      console.log(await createClient({ transport: createScriptedTransport({ refund: permit('done') }), onReply }).call('refund'));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.deepEqual(stdout.trim().split('\n').sort(), ['a listener failed', 'done']);
  });
});

describe('a denial that says when to ask again', () => {
  test('is waited for, with the same key', async () => {
    const { transport, call } = scripted([retryAfter(2), retryAfter(3, { code: 'DAEMON_NOT_READY' }), permit('done')]);
    assert.equal(await call(), 'done');
    assert.deepEqual(transport.clock.waits, [2, 3]);
    assert.equal(new Set(transport.calls.map(({ key }) => key)).size, 1);
  });

  const bounded: readonly (readonly [string, ClientBounds, readonly number[], readonly number[]])[] = [
    ['three times', {}, [1, 1, 1, 1], [1, 1, 1]],
    ['for thirty seconds in all', {}, [20, 11], [20]],
    ['not at all if it is longer than that', {}, [31], []],
    ['exactly up to the bound', { maxWaitSeconds: 5 }, [2, 3, 1], [2, 3]],
    ['never, if so wished', { maxWaits: 0 }, [1], []],
    ['for no time as often as for some', { maxWaits: 2 }, [0, 0, 0], [0, 0]],
  ];
  for (const [what, bounds, seconds, waits] of bounded)
    test(`is waited for ${what}, then thrown as it is`, async () => {
      const { transport, call } = scripted(
        seconds.map((each) => retryAfter(each)),
        bounds,
      );
      const denial = await denialOf(call());
      assert.deepEqual(denial.resolution, { type: 'retry_after', retryAfterSeconds: seconds.at(-1) });
      assert.deepEqual(transport.clock.waits, waits);
      assert.equal(transport.calls.length, seconds.length);
    });

  test('whose time is no time is thrown', async () => {
    const strange = { ...errorSamples.denied, resolution: { type: 'retry_after', retry_after_seconds: -4 } } as const;
    const { transport, call } = scripted([reply(strange)]);
    await denialOf(call());
    assert.deepEqual(transport.clock.waits, []);
  });

  test('is not waited for any longer when the signal is aborted, and nothing ran', async () => {
    const transport = createScriptedTransport({ refund: [retryAfter(20)] }, { manualClock: true });
    const stop = new AbortController();
    const call = createClient({ transport }).call('refund', {}, { signal: stop.signal });
    await eventually('a wait', async () => transport.clock.waiting > 0);
    stop.abort(new Error('enough'));
    const error = await errorOf(call);
    assert.deepEqual([error.error, error.effect, String(error.cause)], ['aborted', 'none', 'Error: enough']);
    assert.equal(transport.calls.length, 1);
  });
});

describe('anything else is thrown at once and never tried again', () => {
  const others: readonly (readonly [string, ScriptedAnswer])[] = [
    ['a rule', deny()],
    ['an approval', defer()],
    ['a failure', fail()],
    ['a failure that says when to ask again', fail({ retryAfterSeconds: 1 })],
    ['a timeout', timeout()],
    ['a doubt', unknownEffect()],
    ['a call in flight', reply(errorSamples.action_in_flight)],
    ['what is no reply', notAReply()],
    ['a gateway that cannot be reached', notSent()],
  ];
  for (const [what, answer] of others)
    test(what, async () => {
      const { transport, call } = scripted([answer]);
      await assert.rejects(call());
      assert.deepEqual([transport.calls.length, transport.clock.waits.length], [1, 0]);
    });

  test('each of the other errors is a CallError with what its reply says', async () => {
    for (const [name, sample] of Object.entries(errorSamples)) {
      if (name === 'denied') continue;
      const error = await errorOf(scripted([reply(sample)]).call());
      const { error: said, class: kind, code, effect, callId, session, validNextActions } = error;
      assert.deepEqual(
        [said, kind, code, effect, callId, session, validNextActions, error.message],
        [
          name,
          sample.class,
          sample.code,
          sample.effect,
          sample.call_id,
          sample.session,
          sample.valid_next_actions,
          sample.message,
        ],
      );
      assert.deepEqual([error.reply, error.verdict], [sample, 'verdict' in sample ? sample.verdict : null]);
    }
  });
});
