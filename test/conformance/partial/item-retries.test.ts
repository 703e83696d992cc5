/** CONTRACT sections 6 and 7: failed items are sent again by themselves, and what is done is never sent again. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { partial, type Reply } from '../../../src/index.ts';
import type { EffectClass, ErrorKind } from '../../../src/core/taxonomy.ts';
import { successOf, errorOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway, type OpenOptions } from '../../support/open-gateway.ts';
import { withReader } from '../../support/read-journal.ts';
import { aTool } from '../../support/tools.ts';

const soon = { max_attempts: 3, backoff: 'fixed', base_ms: 1, jitter: 0 } as const;

/** By item: how each send of it ends; what is not named succeeds. */
type Script = Readonly<Record<string, readonly ErrorKind[]>>;

interface Opened {
  readonly effect?: EffectClass;
  readonly form?: 'each' | 'succeeded' | 'map';
  readonly more?: object;
  readonly retry?: object;
  readonly options?: OpenOptions;
  /** Ends a send as a whole, by its number. */
  readonly whole?: (send: number, items: readonly string[]) => unknown;
}

function openSender(t: TestContext, script: Script, opened: Opened = {}) {
  const { effect = 'plain', form = 'succeeded', more = {}, retry = soon, options = {}, whole } = opened;
  const sent: { readonly items: readonly string[]; readonly key: string }[] = [];
  const done: string[] = [];
  const times = new Map<string, number>();
  const send = aTool(
    'send',
    async (args, ctx) => {
      const items = args['to'] as readonly string[];
      sent.push({ items, key: ctx.idempotency_key });
      const ended = await whole?.(sent.length, items);
      if (ended === 'lost') return ctx.fail({ kind: 'never_sent', message: 'not connected', effect: 'none' });
      const errors = items.flatMap((item) => {
        const nth = times.get(item) ?? 0;
        times.set(item, nth + 1);
        const kind = script[item]?.[nth];
        if (kind === undefined) done.push(item);
        return kind === undefined ? [] : [{ item, kind, message: `${item} failed` }];
      });
      const failed = new Set(errors.map(({ item }) => item));
      const entry = (item: string) => ({ item, n: sent.length });
      const entries = {
        each: items.map((item) => (failed.has(item) ? null : entry(item))),
        succeeded: items.filter((item) => !failed.has(item)).map(entry),
        map: Object.fromEntries(items.filter((item) => !failed.has(item)).map((item) => [item, entry(item)])),
      };
      const result = { results: entries[form] };
      return errors.length === 0 ? result : partial(result, errors);
    },
    {
      effect,
      retry: retry as typeof soon,
      partial: { items: 'args.to', results: 'result.results', retry: true, ...more },
    },
  );
  return openGateway(t, [send], options).then((gateway) => ({
    gateway,
    sent,
    done,
    items: () => sent.map(({ items }) => items.join('')),
    call: (to: readonly string[]) => gateway.call({ tool: 'send', args: { to } }),
  }));
}

const itemsOf = (reply: Reply) => {
  const { result } = successOf(reply);
  return (result as { results: readonly ({ item: string } | null)[] }).results.map((entry) => entry?.item ?? null);
};

describe('failed items', () => {
  for (const form of ['each', 'succeeded'] as const)
    test(`[C7-items-1] are sent again alone, and the results are one list in order (${form})`, async (t) => {
      const { call, items, done } = await openSender(
        t,
        { b: ['429'], d: ['429', '5xx', '429'] },
        { form, effect: 'pure' },
      );
      const reply = await call(['a', 'b', 'c', 'd', 'e']);
      assert.deepEqual(itemsOf(reply), ['a', 'b', 'c', 'd', 'e']);
      assert.deepEqual(items(), ['abcde', 'bd', 'd', 'd']);
      assert.deepEqual([successOf(reply).errors, successOf(reply).attempts], [undefined, 4]);
      assert.deepEqual(done.toSorted(), ['a', 'b', 'c', 'd', 'e']);
    });

  test('[C7-items-1] are put into a map by their names', async (t) => {
    const { call } = await openSender(t, { b: ['429'] }, { form: 'map' });
    const { result } = successOf(await call(['a', 'b']));
    assert.deepEqual(Object.keys((result as { results: object }).results).toSorted(), ['a', 'b']);
  });

  test('[C7-items-2] are sent again as often as the tool says, then they are told', async (t) => {
    const { call, items } = await openSender(t, { b: ['429', '429', '429', '429', '429'] });
    const reply = successOf(await call(['a', 'b']));
    assert.deepEqual(items(), ['ab', 'b', 'b', 'b']);
    assert.deepEqual(itemsOf(reply), ['a']);
    assert.deepEqual(
      reply.errors?.map(({ item, code }) => [item, code]),
      [['b', 'RateLimited']],
    );
  });

  test('[C7-items-3] that no resend can help are not sent again, and are told with the others', async (t) => {
    const { call, items } = await openSender(t, { b: ['404_not_found'], c: ['429'] });
    const reply = successOf(await call(['a', 'b', 'c']));
    assert.deepEqual(items(), ['abc', 'c']);
    assert.deepEqual(itemsOf(reply), ['a', 'c']);
    assert.deepEqual(
      reply.errors?.map(({ item }) => item),
      ['b'],
    );
  });

  for (const effect of ['plain', 'probeable', 'keyed'] as const)
    test(`[C7-items-4] of which nobody knows whether they were done are not sent again by a ${effect} tool`, async (t) => {
      const { call, items } = await openSender(t, { b: ['timeout'], c: ['5xx'], d: ['429'] }, { effect });
      const reply = successOf(await call(['a', 'b', 'c', 'd']));
      assert.deepEqual(items(), ['abcd', 'd']);
      assert.deepEqual(
        reply.errors?.map(({ item, effect: known }) => [item, known]),
        [
          ['b', 'unknown'],
          ['c', 'unknown'],
        ],
      );
    });

  test('[C7-items-4] of a read are, and of a tool whose upstream knows each item by its key', async (t) => {
    const read = await openSender(t, { b: ['timeout'] }, { effect: 'pure' });
    await read.call(['a', 'b']);
    assert.deepEqual(read.items(), ['ab', 'b']);
    const keyed = await openSender(t, { b: ['timeout'] }, { effect: 'keyed', more: { keys: 'item' } });
    await keyed.call(['a', 'b']);
    assert.deepEqual(keyed.items(), ['ab', 'b']);
    assert.equal(new Set(keyed.sent.map(({ key }) => key)).size, 1);
  });

  test('[C7-items-5] are another request to the upstream, with a key of their own that stays the same', async (t) => {
    const whole = (send: number) => (send === 2 ? 'lost' : null);
    const { call, sent } = await openSender(t, { b: ['429'] }, { effect: 'keyed', whole });
    const { call_id: id } = successOf(await call(['a', 'b']));
    assert.deepEqual(
      sent.map(({ key }) => key.replace(id, 'call')),
      ['call', 'call/items/1', 'call/items/1'],
    );
  });

  const untold: readonly (readonly [string, Script, object, readonly string[]])[] = [
    ['two items have the same name', { a: ['429'] }, {}, ['a', 'a', 'b']],
    ['an error names no item that was sent', {}, {}, ['a', 'b']],
    ['the result lists something else', { b: ['429'] }, { results: 'result.other' }, ['a', 'b']],
    ['it is not declared', { b: ['429'] }, { retry: false }, ['a', 'b']],
  ];
  for (const [why, script, more, to] of untold)
    test(`[C7-items-6] are not sent again if ${why}`, async (t) => {
      const strange = why.startsWith('an error')
        ? () => partial({ results: ['a', 'b'] }, [{ item: 'x', kind: '429', message: 'x' }])
        : null;
      if (strange === null) {
        const { call, items } = await openSender(t, script, { more });
        assert.ok(successOf(await call(to)).errors !== undefined);
        assert.equal(items().length, 1);
        return;
      }
      let runs = 0;
      const act = aTool('send', () => ((runs += 1), strange()), {
        retry: soon,
        partial: { items: 'args.to', results: 'result.results', retry: true },
      });
      const gateway = await openGateway(t, [act]);
      assert.equal(successOf(await gateway.call({ tool: 'send', args: { to } })).errors?.[0]?.item, 'x');
      assert.equal(runs, 1);
    });
});

describe('a call of which some items are done', () => {
  test('[C7-items-7] ends as a partial result if the send of the others fails for good', async (t) => {
    const whole = (send: number) => (send > 1 ? 'lost' : null);
    const { gateway, call, items, done } = await openSender(t, { b: ['429'] }, { whole });
    const reply = successOf(await call(['a', 'b']));
    assert.deepEqual(itemsOf(reply), ['a']);
    assert.deepEqual(
      reply.errors?.map(({ item, code }) => [item, code]),
      [['b', 'ResourceBusy']],
    );
    assert.deepEqual([items(), done], [['ab', 'b', 'b', 'b', 'b'], ['a']]);
    assert.equal((await gateway.stored(reply.call_id)).state, 'SUCCEEDED');
    assert.deepEqual(await gateway.reply(reply.call_id), reply);
  });

  for (const scope of ['call', 'session', 'turn'] as const)
    test(`[C7-items-8] keeps what is done if its ${scope} is cancelled before the others are sent again`, async (t) => {
      const { gateway, items } = await openSender(t, { b: ['429'] }, { retry: { ...soon, base_ms: 3_600_000 } });
      const session = await gateway.openSession();
      const asked = gateway.call({
        tool: 'send',
        args: { to: ['a', 'b'] },
        session,
        turn: 't',
        deadline_seconds: 7_200,
      });
      const id = await eventually('the wait', async () => {
        const filter = { session, state: 'RETRY_WAIT', limit: 1 } as const;
        const [waiting] = await withReader(gateway.file, (reader) => reader.listCalls(filter));
        return waiting?.id ?? null;
      });
      const target = { call: { call: id }, session: { session }, turn: { session, turn: 't' } }[scope];
      assert.equal(await gateway.cancel(target as never), 'cancelled');
      const reply = successOf(await asked);
      assert.deepEqual(itemsOf(reply), ['a']);
      const code = { call: 'ToolCancelled', session: 'SessionCancelled', turn: 'TurnCancelled' }[scope];
      assert.deepEqual(
        reply.errors?.map(({ item, class: sort, code: given }) => [item, sort, given]),
        [['b', 'Cancellation', code]],
      );
      assert.deepEqual(items(), ['ab']);
      assert.equal((await gateway.stored(id)).state, 'SUCCEEDED');
    });

  test('[C7-items-9] is in doubt if nobody knows what became of the others, and a no leaves what is done', async (t) => {
    const whole = (send: number) => (send > 1 ? new Promise(() => undefined) : null);
    const { gateway, call } = await openSender(
      t,
      { b: ['429'] },
      { whole, options: { limits: { defaultTimeoutMs: 50 } } },
    );
    const doubt = errorOf(await call(['a', 'b']), 'action_timeout');
    assert.equal(doubt.effect, 'unknown');
    const settled = await gateway.settle(doubt.call_id, { happened: 'no', by: 'ana', force: true });
    assert.equal(settled, 'settled');
    const reply = successOf((await gateway.reply(doubt.call_id)) as Reply);
    assert.deepEqual(itemsOf(reply), ['a']);
    assert.deepEqual(
      reply.errors?.map(({ item }) => item),
      ['b'],
    );
  });
});
