/** CONTRACT section 1, gate 2: sessions belong to one agent of one tenant, outlive the process, and count successes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { httpStatusOf } from '../../src/index.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { openGateway } from '../support/open-gateway.ts';
import { aTool, createCountingTool, createHeldTool } from '../support/tools.ts';

const act = aTool('act', () => 'done');

describe('a session', () => {
  test('[C1-session-1] of an agent that names none is its standing one, found again after a restart', async (t) => {
    const gateway = await openGateway(t, [act]);
    const first = successOf(await gateway.call({ tool: 'act' }));
    assert.equal(successOf(await gateway.call({ tool: 'act' })).session, first.session);
    await gateway.close();
    const next = await openGateway(t, [act]);
    const after = successOf(await next.call({ tool: 'act' }));
    assert.deepEqual([after.session, after.seq], [first.session, 3]);
  });

  test('[C1-session-1] that stands is opened once, however many calls come first', async (t) => {
    const gateway = await openGateway(t, [act]);
    const replies = await Promise.all(Array.from({ length: 12 }, (_, n) => gateway.call({ tool: 'act', args: { n } })));
    assert.equal(new Set(replies.map(({ session }) => session)).size, 1);
    const sequence = replies.map((reply) => successOf(reply).seq).toSorted((a, b) => a - b);
    assert.deepEqual(
      sequence,
      Array.from({ length: 12 }, (_, at) => at + 1),
      'without gaps or doubles',
    );
  });

  test('[C1-session-2] is separate for each agent of each tenant', async (t) => {
    const gateway = await openGateway(t, [act]);
    const people = [{}, { agent: 'bob' }, { tenant: 'acme' }, { tenant: 'acme', agent: 'bob' }];
    const sessions = [];
    for (const who of people) {
      const reply = successOf(await gateway.call({ tool: 'act' }, who));
      assert.equal(reply.seq, 1);
      sessions.push(reply.session);
    }
    assert.equal(new Set(sessions).size, 4);
  });

  test('[C1-session-2] cannot be confused by names that look alike when they are put together', async (t) => {
    const gateway = await openGateway(t, [act]);
    const one = successOf(await gateway.call({ tool: 'act' }, { tenant: 'a', agent: 'b\u0000c' }));
    const two = successOf(await gateway.call({ tool: 'act' }, { tenant: 'a\u0000b', agent: 'c' }));
    assert.notEqual(one.session, two.session);
  });

  test('[C1-session-3] opened by its agent is one of its own, with a sequence of its own', async (t) => {
    const gateway = await openGateway(t, [act]);
    const session = await gateway.openSession();
    assert.match(session, /^ses_[0-9a-z]{26}$/);
    successOf(await gateway.call({ tool: 'act' }));
    const reply = successOf(await gateway.call({ tool: 'act', session }));
    assert.deepEqual([reply.session, reply.seq], [session, 1]);
    assert.notEqual(await gateway.openSession(), session);
  });

  test('[C1-session-4] of somebody else is as unknown as one that never was: the same words, 404, no actions', async (t) => {
    const gateway = await openGateway(t, [act]);
    const session = await gateway.openSession({ agent: 'ada' });
    const nobodys = session.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const told = async (handle: string, who: object) => {
      const reply = errorOf(await gateway.call({ tool: 'act', session: handle }, who), 'session_error');
      assert.deepEqual([reply.class, reply.code, httpStatusOf(reply)], ['Session', 'UnknownSession', 404]);
      assert.deepEqual([reply.valid_next_actions, reply.session, reply.effect], [[], null, 'none']);
      return JSON.stringify({ ...reply, call_id: '' }).replaceAll(handle, 'HANDLE');
    };
    const unknown = await told(nobodys, { agent: 'ada' });
    assert.equal(await told(session, { agent: 'eve' }), unknown);
    assert.equal(await told(session, { agent: 'ada', tenant: 'acme' }), unknown);
    successOf(await gateway.call({ tool: 'act', session }, { agent: 'ada' }));
  });

  test('[C1-session-4] does not give away the replies of its calls to others', async (t) => {
    const gateway = await openGateway(t, [act]);
    const reply = successOf(await gateway.call({ tool: 'act' }, { agent: 'ada' }));
    assert.deepEqual(await gateway.reply(reply.call_id, { agent: 'ada' }), reply);
    assert.equal(await gateway.reply(reply.call_id, { agent: 'eve' }), null);
    assert.equal(await gateway.reply(reply.call_id, { agent: 'ada', tenant: 'acme' }), null);
    assert.equal(await gateway.reply('call_unknown', { agent: 'ada' }), null);
  });

  test('[C1-session-5] lets calls run in parallel where there is no workflow', async (t) => {
    const slow = createHeldTool('slow');
    const gateway = await openGateway(t, [slow.definition]);
    const session = await gateway.openSession();
    const asked = [1, 2, 3].map((n) => gateway.call({ tool: 'slow', args: { n }, session }));
    await slow.begun(3);
    for (const run of slow.runs) run.finish(1);
    for (const reply of await Promise.all(asked)) successOf(reply);
  });
});

describe('expected_seq', () => {
  test('[C1-sequence-1] that is current passes, and counts what succeeded, not what was asked', async (t) => {
    const gateway = await openGateway(t, [act]);
    const session = await gateway.openSession();
    for (let seq = 0; seq < 3; seq++) {
      const reply = successOf(await gateway.call({ tool: 'act', session, expected_seq: seq }));
      assert.equal(reply.seq, seq + 1);
      errorOf(await gateway.call({ tool: 'nothing', session }), 'unknown_action');
    }
  });

  test('[C1-sequence-2] that is not current is StaleSequence with 409, and nothing runs', async (t) => {
    const counting = createCountingTool('count');
    const gateway = await openGateway(t, [counting.definition]);
    const session = await gateway.openSession();
    successOf(await gateway.call({ tool: 'count', session, expected_seq: 0 }));
    for (const expected of [0, 2]) {
      const reply = errorOf(await gateway.call({ tool: 'count', session, expected_seq: expected }), 'session_error');
      assert.deepEqual([reply.class, reply.code, reply.effect], ['Workflow', 'StaleSequence', 'none']);
      assert.equal(httpStatusOf(reply), 409);
      assert.equal(reply.resolution.type, 'replan');
      assert.match(reply.message, new RegExp(`expected_seq is ${expected}, but the session is at 1`));
      assert.deepEqual(reply.valid_next_actions, ['count']);
    }
    assert.equal(counting.runs(), 1);
  });
});
