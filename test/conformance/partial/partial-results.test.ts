/** CONTRACT section 7: what failed stands beside what was done, and is never told as a success. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { partial } from '../../../src/index.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { aTool, effectClassNames } from '../../support/tools.ts';

const missing = (item: string | number) => ({ item, kind: '404_not_found', message: 'no such page' }) as const;

describe('a body that did some of its work', () => {
  test('[C7-partial-1] [S001-partial-1] [S001-partial-2] gives what was done, and one typed error for each item that failed', async (t) => {
    const fetch = aTool('fetch', () => partial({ pages: ['a', 'c'] }, [missing('b')]), { effect: 'pure' });
    const gateway = await openGateway(t, [fetch]);
    const reply = successOf(await gateway.call({ tool: 'fetch' }));
    assert.deepEqual(reply.result, { pages: ['a', 'c'] });
    assert.deepEqual(reply.errors, [{ class: 'ToolTerminal', code: 'NotFound', item: 'b', message: 'no such page' }]);
    assert.deepEqual(await gateway.reply(reply.call_id), reply);
  });

  test('[C7-partial-1] can say so with ctx.partial, which needs no import', async (t) => {
    const fetch = aTool('fetch', (_args, ctx) => ctx.partial(['a'], [missing('b')]), { effect: 'pure' });
    const gateway = await openGateway(t, [fetch]);
    assert.equal(successOf(await gateway.call({ tool: 'fetch' })).errors?.length, 1);
  });

  test('[C7-partial-2] an item of which nobody knows whether it was done says so', async (t) => {
    const errors = [{ item: 1, kind: 'timeout', message: 'no answer' }, missing(2)] as const;
    const send = aTool('send', () => partial({ sent: [0] }, errors));
    const gateway = await openGateway(t, [send]);
    const reply = successOf(await gateway.call({ tool: 'send' }));
    assert.deepEqual(
      reply.errors?.map(({ item, code, effect }) => [item, code, effect]),
      [
        [1, 'ExecutionTimeout', 'unknown'],
        [2, 'NotFound', undefined],
      ],
    );
  });

  test('[C7-partial-3] the record tells how many items failed', async (t) => {
    const send = aTool('send', () => partial(null, [missing(1)]));
    const gateway = await openGateway(t, [send]);
    const { call_id } = successOf(await gateway.call({ tool: 'send' }));
    const settled = (await gateway.records(call_id)).find(({ kind }) => kind === 'settled');
    assert.equal(JSON.parse(settled?.body ?? '{}').end.failed_items, 1);
  });
});

describe('a body that did none of its work', () => {
  for (const effect of effectClassNames)
    test(`[C7-partial-4] of a ${effect} tool whose items all failed the call has failed`, async (t) => {
      const send = aTool('send', () => partial({ sent: [] }, [missing(1), missing(2)], { of: 2 }), { effect });
      const gateway = await openGateway(t, [send]);
      const reply = errorOf(await gateway.call({ tool: 'send' }), 'action_error');
      assert.deepEqual([reply.code, reply.effect, reply.error_type], ['NotFound', 'none', 'AllItemsFailed']);
      assert.match(reply.error_message, /all 2 items failed: 1: no such page; 2: no such page/);
      assert.equal((await gateway.stored(reply.call_id)).state, 'FAILED');
    });

  test('[C7-partial-4] counts the items of the argument that lists them', async (t) => {
    const run = (args: Record<string, unknown>) =>
      partial(
        { sent: [] },
        (args['to'] as readonly string[]).map((item) => missing(item)),
      );
    const send = aTool('send', run, { partial: { items: 'args.to' } });
    const gateway = await openGateway(t, [send]);
    errorOf(await gateway.call({ tool: 'send', args: { to: ['x', 'y'] } }), 'action_error');
  });

  test('[C7-partial-4] of a read needs no number: a result with nothing in it is none', async (t) => {
    const read = aTool('read', () => partial({ pages: [] }, [missing('a')]), { effect: 'pure' });
    const gateway = await openGateway(t, [read]);
    errorOf(await gateway.call({ tool: 'read' }), 'action_error');
  });

  test('[C7-partial-5] of which one item may have been done is in doubt', async (t) => {
    const errors = [missing(1), { item: 2, kind: 'timeout', message: 'no answer' }] as const;
    const send = aTool('send', () => partial(null, errors, { of: 2 }));
    const gateway = await openGateway(t, [send]);
    const reply = errorOf(await gateway.call({ tool: 'send' }), 'action_error');
    assert.deepEqual([reply.code, reply.effect], ['ExecutionTimeout', 'unknown']);
    assert.equal((await gateway.stored(reply.call_id)).state, 'IN_DOUBT');
  });

  test('[C7-partial-6] a write that does not say how many items there were keeps its result', async (t) => {
    const remove = aTool('remove', () => partial({}, [missing(1)]));
    const gateway = await openGateway(t, [remove]);
    successOf(await gateway.call({ tool: 'remove' }));
  });
});

describe('an answer whose entries say what failed', () => {
  const answer = {
    results: [
      { id: 'a', status: 201 },
      { id: 'b', status: 404, error: 'gone' },
      { id: 'c', status: 503, error: 'busy' },
    ],
  };
  const declared = {
    entries: 'result.results',
    failed: (entry: { status: number }) => entry.status >= 400,
    item: (entry: { id: string }) => entry.id,
    kind: (entry: { status: number }) => entry.status,
    message: (entry: { error: string }) => entry.error,
  };

  test('[C7-partial-7] is a partial result, by what is declared about it', async (t) => {
    const bulk = aTool('bulk', () => answer, { partial: declared });
    const gateway = await openGateway(t, [bulk]);
    const reply = successOf(await gateway.call({ tool: 'bulk' }));
    assert.deepEqual(
      reply.errors?.map(({ item, code, message, effect }) => [item, code, message, effect]),
      [
        ['b', 'NotFound', 'gone', undefined],
        ['c', 'Provider5xx', 'busy', 'unknown'],
      ],
    );
  });

  const unreadable: readonly (readonly [string, object, unknown])[] = [
    ['without its list of entries', declared, { other: [] }],
    ['with a reader that throws', { ...declared, failed: () => assert.fail('a bug of the author') }, answer],
    ['with a reader that says neither yes nor no', { ...declared, failed: () => 1 }, answer],
  ];
  for (const [what, rule, output] of unreadable)
    test(`[C7-partial-8] [S001-partial-3] ${what} is told with an error, not as a success`, async (t) => {
      const gateway = await openGateway(t, [aTool('bulk', () => output, { partial: rule as never })]);
      const reply = successOf(await gateway.call({ tool: 'bulk' }));
      const [error] = reply.errors ?? [];
      assert.deepEqual([error?.item, error?.code, error?.effect], ['*', 'OutputMalformed', 'unknown']);
    });
});
