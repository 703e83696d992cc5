import assert from 'node:assert/strict';
import test from 'node:test';
import { isRefusal, isSuccess } from '../../../src/core/call/reply.ts';
import { connectHttp, connectInMemory, revisions, serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee, createTalk, strict } from '../../support/mcp-workflows.ts';

const order = { action: 'take_order', inputs: { drink: 'latte' } };

for (const revision of revisions) {
  test(`two clients of one gateway do not meet, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const ann = await connectInMemory(t, door, revision);
    const bob = await connectInMemory(t, door, revision);
    const [first, second] = await Promise.all([ann.step(order), bob.step(order)]);
    assert.ok(!first.isError && !second.isError);
    assert.notEqual(first.reply.session, second.reply.session);
    assert.equal((await ann.step({ action: 'pay' })).isError, false);
    assert.equal((await bob.step({ action: 'fulfill' })).isError, true, 'bob has not paid');
  });

  test(`calls at once share the connection's one session, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    const replies = await Promise.all([1, 2, 3, 4].map(() => client.step({ action: 'pay' })));
    assert.equal(new Set(replies.map(({ reply }) => reply.session)).size, 1);
  });

  test(`a session that is named wins over the connection's own, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const ann = await connectInMemory(t, door, revision);
    const bob = await connectInMemory(t, door, revision);
    const { session } = (await ann.step(order)).reply;
    const paid = await bob.step({ action: 'pay', session });
    assert.equal(paid.isError, false);
    assert.equal(paid.reply.session, session);
    const own = await bob.step({ action: 'pay' });
    assert.notEqual(own.reply.session, session);
    const byMeta = await bob.step({ action: 'fulfill' }, { meta: { 'recourse/session': session } });
    assert.equal(byMeta.isError, false);
  });

  test(`the same key is the same step, as an argument or in _meta, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    const first = await client.step({ ...order, key: 'k1' });
    const again = await client.step(order, { meta: { 'recourse/key': 'k1' } });
    assert.ok(isSuccess(first.reply) && isSuccess(again.reply));
    assert.equal(again.reply.replayed, true);
    assert.equal(again.reply.call_id, first.reply.call_id);
    const without = await client.step(order);
    assert.equal(without.isError, true, 'without a key it is another step');
  });

  test(`a step that expects another sequence is refused, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    const { reply } = await client.step({ ...order, expected_seq: 7 });
    assert.ok(isRefusal(reply) && reply.code === 'StaleSequence', JSON.stringify(reply));
  });

  test(`who misspells \`session\` does not reset or fork the connection's own, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    const { session } = (await client.step(order)).reply;
    for (const tool of ['reset_session', 'fork_session'])
      for (const given of [{ session_id: 'ses_other' }, 'ses_other', ['ses_other']]) {
        const { reply } = await client.call(tool, given);
        assert.ok(isRefusal(reply) && reply.error === 'validation_failed', JSON.stringify(reply));
      }
    assert.equal((await client.step({ action: 'pay', session })).isError, false, 'it stands where it stood');
  });

  test(`a session is put back to its beginning and keeps its name, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    const { session } = (await client.step(order)).reply;
    const reset = await client.call('reset_session', {});
    assert.equal(reset.isError, false, reset.text);
    assert.equal(reset.reply.session, session);
    const again = await client.step(order);
    assert.equal(again.isError, false);
    assert.equal(again.reply.session, session);
  });

  test(`a fork goes its own way from where the other stood, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    const { session } = (await client.step(order)).reply;
    await client.step({ action: 'pay' });
    const fork = await client.call('fork_session', { seq: 1 });
    assert.equal(fork.isError, false, fork.text);
    assert.notEqual(fork.reply.session, session);
    const cancelled = await client.step({ action: 'cancel', session: fork.reply.session });
    assert.equal(cancelled.isError, false, cancelled.text);
    assert.equal((await client.step({ action: 'fulfill' })).isError, false, 'the connection stays in its own session');
  });

  test(`an empty session is none: a step with it stays in that of its connection, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    const first = await client.step({ ...order, session: '' });
    const second = await client.step({ action: 'pay', session: '' });
    assert.ok(isSuccess(second.reply), second.text);
    assert.equal(second.reply.session, first.reply.session);
  });

  test(`what \`_meta\` says holds where the arguments leave it empty, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    await client.step(order);
    const { session: fork } = (await client.call('fork_session', {})).reply;
    const meta = { 'recourse/session': fork, 'recourse/key': 'k1' };
    for (const session of ['', null]) {
      const { reply, text } = await client.step({ action: 'pay', session, key: session }, { meta });
      assert.ok(isSuccess(reply), text);
      assert.deepEqual([reply.session, reply.replayed ?? false], [fork, session === null]);
    }
    const { reply, text } = await client.step({ action: 'cancel' });
    assert.ok(isSuccess(reply), `the connection's own session stands where it stood: ${text}`);
  });

  test(`who uses a tool wrongly hears what is next in the session that is meant, on record, in ${revision}`, async (t) => {
    const { door, service } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    const { session } = (await client.step(order)).reply;
    assert.ok(session !== null);
    const wrongly = [
      ['pay', { session }],
      ['pay', {}],
      ['reset_session', { session, x: 1 }],
      ['fork_session', { seq: -1 }],
    ] as const;
    for (const [name, args] of wrongly) {
      const { reply } = await client.call(name, args);
      assert.ok(isRefusal(reply) && reply.error === 'validation_failed', JSON.stringify(reply));
      assert.deepEqual([reply.requested, reply.session], [name, session]);
      assert.deepEqual(reply.valid_next_actions, ['add_modifier', 'pay', 'cancel']);
    }
    const history = await service.history(session, { tenant: 'default', agent: 'tester' }, 0, 20);
    assert.ok(!('error' in history));
    const refused = history.entries.filter(({ outcome }) => outcome === 'validation_failed');
    assert.deepEqual(
      refused.map(({ action }) => action),
      wrongly.map(([name]) => name),
    );
    const stranger = await client.call('reset_session', { session: 'ses_other', x: 1 });
    assert.equal(stranger.reply.session, null, 'what is not known is not replaced by the connection’s own');
  });

  test(`a first step with a key holds up nobody on its connection, in ${revision}`, async (t) => {
    const { workflow } = createTalk();
    const { door } = await openDoor(t, { workflow });
    const read: string[] = [];
    const { step } = await connectInMemory(t, door, revision, {
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', async () => {
          const { contents } = await client.readResource({ uri: 'recourse://state' });
          const [state] = contents;
          read.push(state !== undefined && 'text' in state ? state.text : '');
          return { action: 'accept', content: { milk: 'oat' } };
        }),
    });
    const { reply, text } = await step({ action: 'ask_milk', key: 'k1' });
    assert.ok(isSuccess(reply), text);
    assert.equal(JSON.parse(read[0] ?? '{}').session, reply.session);
    const again = await step({ action: 'ask_milk', key: 'k1' });
    assert.ok(isSuccess(again.reply) && again.reply.replayed === true && again.reply.call_id === reply.call_id);
  });

  test(`resetting and forking answer garbage with types, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const client = await connectInMemory(t, door, revision);
    for (const args of [{ session: 7 }, { session: 'ses_nobody' }, { session: '' }])
      for (const tool of ['reset_session', 'fork_session']) {
        const { reply } = await client.call(tool, args);
        assert.ok(isRefusal(reply), `${tool} ${JSON.stringify(args)}`);
      }
    for (const seq of [-1, 0.5, 'one', {}, 99]) {
      const { reply } = await client.call('fork_session', { seq });
      assert.ok(isRefusal(reply), `seq ${JSON.stringify(seq)}: ${JSON.stringify(reply)}`);
    }
  });
}

test('without connections every call without a session gets a new one, and is told to pass it on', async (t) => {
  const { door } = await openDoor(t, { workflow: coffee });
  const { url } = await serveHttp(t, door);
  const client = await connectHttp(t, url, '2026-07-28');
  const first = await client.step(order);
  const second = await client.step(order);
  assert.ok(!first.isError && !second.isError);
  assert.notEqual(first.reply.session, second.reply.session);
  assert.ok(first.text.includes(`Pass session ${first.reply.session}`), first.text);
  const paid = await client.step({ action: 'pay', session: first.reply.session });
  assert.equal(paid.isError, false);
  const reset = await client.call('reset_session', {});
  assert.ok(isRefusal(reset.reply) && reset.reply.error === 'validation_failed');
});

test('over HTTP in 2025-11-25 the MCP session remembers the workflow session', async (t) => {
  const { door } = await openDoor(t, { workflow: coffee });
  const { url } = await serveHttp(t, door);
  const client = await connectHttp(t, url, '2025-11-25');
  const other = await connectHttp(t, url, '2025-11-25');
  const { session } = (await client.step(order)).reply;
  assert.equal((await client.step({ action: 'pay' })).reply.session, session);
  assert.notEqual((await other.step(order)).reply.session, session);
});

for (const revision of revisions)
  test(`a client that lost its connection finds its session again by the key of its first step, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: coffee });
    const first = await connectInMemory(t, door, revision);
    const { session } = (await first.step({ ...order, key: 'k1' })).reply;
    await first.client.close();
    const second = await connectInMemory(t, door, revision);
    const again = await second.step({ ...order, key: 'k1' });
    assert.ok(isSuccess(again.reply) && again.reply.replayed === true);
    const paid = await second.step({ action: 'pay' });
    assert.equal(paid.isError, false, paid.text);
    assert.equal(paid.reply.session, session);
  });

test('a session that is gone is forgotten: the next call opens another', async (t) => {
  const { door, service, shell } = await openDoor(t, { workflow: coffee, limits: { maxSessions: 1 } });
  const client = await connectInMemory(t, door, '2025-11-25');
  const { session } = (await client.step(order)).reply;
  // Another client takes the only place.
  const other = await service.open('coffee', { tenant: 'default', agent: 'other' });
  assert.ok(!('error' in other), JSON.stringify(other));
  const refused = await client.step({ action: 'pay' });
  assert.ok(isRefusal(refused.reply), refused.text);
  const next = await client.step(order);
  assert.equal(next.isError, false, next.text);
  assert.notEqual(next.reply.session, session);
  assert.equal(shell.limits.maxSessions, 1);
});

for (const revision of revisions)
  test(`a session that was stopped goes on after a reset, on the same connection, in ${revision}`, async (t) => {
    const { door } = await openDoor(t, { workflow: strict });
    const client = await connectInMemory(t, door, revision);
    const refused = [];
    for (let time = 0; time < 3; time++) refused.push((await client.step({ action: 'second' })).reply);
    assert.ok(
      refused.some((reply) => isRefusal(reply) && reply.code === 'RefusalLimit'),
      JSON.stringify(refused),
    );
    const reset = await client.call('reset_session');
    assert.equal(reset.isError, false, reset.text);
    const next = await client.step({ action: 'first' });
    assert.equal(next.isError, false, next.text);
    assert.equal(next.reply.session, refused[0]?.session);
  });
