/** CONTRACT sections 2, 3, 7 and 8: what the replies look like that can be reached without a workflow or a policy. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodeIds } from '../../src/adapters/system-node/ids.ts';
import { httpStatusOf, isPending, partial, ToolFailure } from '../../src/index.ts';
import { errorOf, pendingOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { openGateway } from '../support/open-gateway.ts';
import { aTool, createHeldTool } from '../support/tools.ts';

const echo = aTool('echo', (args) => args, { effect: 'pure' });
const order = aTool('take_order', () => ({ order: 17 }));
const pay = aTool('pay', () => ({ paid: true }));

describe('a success', () => {
  test('[C2-success-1] has exactly the members of section 2', async (t) => {
    const gateway = await openGateway(t, [order, pay]);
    const reply = successOf(await gateway.call({ tool: 'take_order', args: { drink: 'tea' } }));
    const { call_id: callId, session, ...rest } = reply;
    assert.deepEqual(rest, {
      action: 'take_order',
      result: { order: 17 },
      state: null,
      valid_next_actions: ['take_order', 'pay'],
      seq: 1,
    });
    assert.match(callId, /^call_/);
    assert.match(session ?? '', /^ses_/);
    assert.equal(httpStatusOf(reply), 200);
  });

  test('[C2-next-1] next actions are the tools in the order of their declaration, whatever their names', async (t) => {
    const gateway = await openGateway(t, [pay, echo, order]);
    const names = ['pay', 'echo', 'take_order'];
    assert.deepEqual(successOf(await gateway.call({ tool: 'echo' })).valid_next_actions, names);
    assert.deepEqual(errorOf(await gateway.call({ tool: 'nothing' }), 'unknown_action').valid_next_actions, names);
  });

  test('[C2-next-4] of many tools the nearest 32 are next, and the reply says how many there are', async (t) => {
    const many = Array.from({ length: 403 }, (_, at) => aTool(`shop/typical_action_${at}`, () => ({ at })));
    const gateway = await openGateway(t, [...many, aTool('bank/pay_invoice', () => ({ paid: true }))]);
    const success = successOf(await gateway.call({ tool: 'shop/typical_action_77' }));
    assert.equal(success.valid_next_actions.length, 32);
    assert.equal(success.valid_next_actions[0], 'shop/typical_action_77');
    assert.equal(success.next_total, 404);
    assert.ok(JSON.stringify(success).length < 1_500, JSON.stringify(success));

    const unknown = errorOf(await gateway.call({ tool: 'bank/pay_invoices' } as never), 'unknown_action');
    assert.equal(unknown.valid_next_actions[0], 'bank/pay_invoice');
    assert.equal(unknown.valid_next_actions.length, 32);
    assert.equal(unknown.next_total, 404);
    assert.deepEqual(unknown.known_actions, unknown.valid_next_actions);
    assert.equal(unknown.known_total, 404);
    assert.deepEqual(unknown.resolution, { type: 'choose_action', actions: ['bank/pay_invoice'] });
    const far = errorOf(await gateway.call({ tool: 'zzz' } as never), 'unknown_action');
    assert.ok(JSON.stringify(far).length < 2_500, JSON.stringify(far));

    // Without its server a name is nearest to the tool that has it.
    const bare = errorOf(await gateway.call({ tool: 'pay_invoice' } as never), 'unknown_action');
    assert.equal(bare.did_you_mean, 'bank/pay_invoice');
    const unread = errorOf(await gateway.handle({ tool: 'bank/pay_invoice', wait: 1 }), 'validation_failed');
    assert.equal(unread.valid_next_actions.length, 32);
    assert.equal(unread.next_total, 404);
  });

  test('[C2-success-2] seq counts the successes of the session and nothing else', async (t) => {
    const broken = aTool('broken', () => Promise.reject(new Error('no')), { effect: 'pure' });
    const gateway = await openGateway(t, [echo, broken]);
    assert.equal(successOf(await gateway.call({ tool: 'echo' })).seq, 1);
    errorOf(await gateway.call({ tool: 'broken' }), 'action_error');
    errorOf(await gateway.call({ tool: 'nothing' }), 'unknown_action');
    assert.equal(successOf(await gateway.call({ tool: 'echo' })).seq, 2);
  });

  test('[C2-success-3] a typical reply takes less than 1.5 KB', async (t) => {
    const tools = Array.from({ length: 12 }, (_, at) => aTool(`typical_action_${at}`, () => ({ id: at, done: true })));
    const gateway = await openGateway(t, tools);
    const replies = [
      await gateway.call({ tool: 'typical_action_3', args: { name: 'somebody' } }),
      await gateway.call({ tool: 'typical_action_99' }),
      await gateway.handle({ tool: 'typical_action_3', args: {}, wait: 1 }),
    ];
    for (const reply of replies) assert.ok(JSON.stringify(reply).length < 1_500, JSON.stringify(reply));
  });

  test('[C7-partial-1] of a part comes with one typed error for each failed item', async (t) => {
    const send = aTool('send', () =>
      partial({ sent: [1] }, [
        { item: 'b@example.org', kind: '404_not_found', message: 'no such mailbox' },
        { item: 3, kind: '429', message: 'later' },
      ]),
    );
    const gateway = await openGateway(t, [send]);
    const reply = successOf(await gateway.call({ tool: 'send' }));
    assert.deepEqual(reply.result, { sent: [1] });
    assert.deepEqual(reply.errors, [
      { class: 'ToolTerminal', code: 'NotFound', item: 'b@example.org', message: 'no such mailbox' },
      { class: 'ProviderTransient', code: 'RateLimited', item: 3, message: 'later' },
    ]);
    assert.equal((await gateway.stored(reply.call_id)).state, 'SUCCEEDED');
  });
});

describe('a call that outlives the wait of its caller', () => {
  test('[C2-pending-1] is pending with the members of section 2, and can be asked for until it has its reply', async (t) => {
    const slow = createHeldTool('slow');
    const gateway = await openGateway(t, [slow.definition]);
    const first = pendingOf(await gateway.call({ tool: 'slow', wait_seconds: 0.01 }));
    const { call_id: callId, session, ...rest } = first;
    assert.deepEqual(rest, { pending: true, requested: 'slow', retry_after_seconds: 1 });
    assert.match(session ?? '', /^ses_/);
    assert.equal(httpStatusOf(first), 202);
    assert.deepEqual(pendingOf(await gateway.reply(callId)), first);
    (await slow.begun()).finish('done');
    const ended = await eventually('the reply', async () => {
      const reply = await gateway.reply(callId);
      return reply !== null && !isPending(reply) && reply;
    });
    assert.equal(successOf(ended).result, 'done');
    assert.equal(successOf(ended).call_id, callId);
  });
});

describe('everything else', () => {
  test('[C3-unknown-1] unknown_action names what is known and what was probably meant', async (t) => {
    const gateway = await openGateway(t, [order, pay]);
    const reply = errorOf(await gateway.call({ tool: 'tako_order' }), 'unknown_action');
    assert.deepEqual(
      { ...reply, call_id: '', session: '' },
      {
        error: 'unknown_action',
        requested: 'tako_order',
        class: 'Workflow',
        code: 'UnknownAction',
        message: "action 'tako_order' is not known. Did you mean 'take_order'?",
        effect: 'none',
        resolution: { type: 'choose_action', actions: ['take_order'] },
        valid_next_actions: ['take_order', 'pay'],
        call_id: '',
        session: '',
        known_actions: ['take_order', 'pay'],
        did_you_mean: 'take_order',
      },
    );
    assert.equal(httpStatusOf(reply), 404);
    const far = errorOf(await gateway.call({ tool: 'launch_missiles' }), 'unknown_action');
    assert.deepEqual(
      [far.did_you_mean, far.resolution],
      [null, { type: 'choose_action', actions: ['take_order', 'pay'] }],
    );
  });

  test('[C3-error-1] [S000-error-1] action_error passes name and message of what was thrown', async (t) => {
    const edit = aTool(
      'edit_file',
      () => {
        throw Object.assign(new Error('must read the file before editing it'), { name: 'ValueError' });
      },
      { effect: 'pure' },
    );
    const gateway = await openGateway(t, [edit]);
    const reply = errorOf(await gateway.call({ tool: 'edit_file' }), 'action_error');
    assert.equal(reply.error_type, 'ValueError');
    assert.equal(reply.error_message, 'must read the file before editing it');
    assert.equal(reply.verdict, 'server_error_5xx');
    assert.deepEqual([reply.class, reply.code], ['ToolTerminal', 'ExecutionFailed']);
    assert.deepEqual([reply.compensation, reply.outcome], [null, null]);
    assert.equal(httpStatusOf(reply), 502);
  });

  test('[C3-timeout-1] action_timeout says how long it waited, in the words of seed 000', async (t) => {
    const report = createHeldTool('fetch_report', { effect: 'pure', timeout_seconds: 0.05 });
    const gateway = await openGateway(t, [report.definition]);
    const reply = errorOf(await gateway.call({ tool: 'fetch_report' }), 'action_timeout');
    assert.equal(reply.message, "action 'fetch_report' exceeded its 0.05s timeout.");
    assert.equal(reply.timeout_seconds, 0.05);
    assert.deepEqual([reply.class, reply.code], ['ToolTransient', 'ExecutionTimeout']);
    assert.equal(httpStatusOf(reply), 504);
  });

  test('[C3-retry-1] a failure that says when to come back is answered with retry_after, rounded up', async (t) => {
    const busy = aTool('busy', (_, { fail }) => fail({ kind: '429', message: 'slow down', retry_after_seconds: 2.2 }));
    const gateway = await openGateway(t, [busy]);
    const reply = errorOf(await gateway.call({ tool: 'busy' }), 'action_error');
    assert.deepEqual(reply.resolution, { type: 'retry_after', retry_after_seconds: 3 });
    assert.deepEqual(
      [reply.class, reply.code, reply.verdict, reply.effect],
      ['ProviderTransient', 'RateLimited', 'rate_limited', 'none'],
    );
  });

  test('[C4-ready-1] [C2-next-2] [S002-ready-1] a gateway that closes denies with DAEMON_NOT_READY and lists no actions', async (t) => {
    const slow = createHeldTool('slow');
    const gateway = await openGateway(t, [slow.definition, pay]);
    const running = gateway.call({ tool: 'slow' });
    const run = await slow.begun();
    const closing = gateway.close();
    const reply = errorOf(await gateway.call({ tool: 'pay' }), 'denied');
    assert.equal(reply.code, 'DAEMON_NOT_READY');
    assert.equal(reply.human_message, 'denied: daemon is closed, ask again once it is open');
    assert.equal(reply.resolution.type, 'retry_after');
    assert.deepEqual(reply.valid_next_actions, []);
    assert.equal(httpStatusOf(reply), 503);
    run.finish('in time');
    assert.equal(successOf(await running).result, 'in time', 'what runs may end while the gateway drains');
    await closing;
    assert.equal(errorOf(await gateway.call({ tool: 'pay' }), 'denied').code, 'DAEMON_NOT_READY');
  });

  test('[C3-busy-1] beyond max_in_flight a call is refused as Busy, and none slips through together', async (t) => {
    const slow = createHeldTool('slow');
    const gateway = await openGateway(t, [slow.definition], { limits: { maxInFlight: 2 } });
    const asked = Array.from({ length: 6 }, (_, n) => gateway.call({ tool: 'slow', args: { n } }));
    await slow.begun(2);
    const refused = errorOf(await gateway.call({ tool: 'slow', args: { n: 99 } }), 'session_error');
    assert.deepEqual([refused.class, refused.code, httpStatusOf(refused)], ['Workflow', 'Busy', 503]);
    assert.equal(refused.resolution.type, 'retry_after');
    for (const run of slow.runs) run.finish(1);
    const ended = await Promise.all(asked);
    assert.equal(ended.filter((reply) => 'action' in reply).length, 2);
    assert.equal(slow.runs.length, 2);
  });

  test('[C3-internal-1] a bug of ours is internal_error, with an id under which the operator finds the cause', async (t) => {
    let broken = false;
    const random = (prefix: string) => {
      if (broken && prefix === 'txn_') throw new Error('the random source is empty');
      return nodeIds.random(prefix);
    };
    const gateway = await openGateway(t, [pay], { ids: { ...nodeIds, random } });
    await gateway.call({ tool: 'pay' });
    broken = true;
    const reply = errorOf(await gateway.call({ tool: 'nothing' }), 'internal_error');
    broken = false;
    assert.deepEqual(
      [reply.class, reply.code, reply.effect, httpStatusOf(reply)],
      ['Internal', 'Unexpected', 'none', 500],
    );
    const notice = gateway.notices.find(({ kind }) => kind === 'unexpected');
    assert.ok(notice?.kind === 'unexpected' && notice.correlationId === reply.correlation_id);
    assert.match(notice.cause, /the random source is empty/);
    assert.doesNotMatch(JSON.stringify(reply), /random source/);
    successOf(await gateway.call({ tool: 'pay' }));
  });
});

describe('who sees what', () => {
  test('[C8-model-1] secrets in an error text do not reach the agent, and no stack or cause does', async (t) => {
    const leak = aTool('leak', () => {
      throw new ToolFailure({
        kind: '5xx',
        message: 'POST https://bot:hunter2secret@example.org failed, Authorization: Bearer abcdefghijklmnop',
        cause: new Error('the innermost cause'),
      });
    });
    const gateway = await openGateway(t, [leak]);
    const reply = errorOf(await gateway.call({ tool: 'leak' }), 'action_error');
    assert.doesNotMatch(JSON.stringify(reply), /hunter2secret|abcdefghijklmnop|innermost/);
    assert.match(
      reply.error_message,
      /^POST https:\/\/bot:\[redacted\]@example\.org failed, Authorization: Bearer \[redacted\]$/,
    );
  });

  test('[C8-audit-1] the journal keeps the whole chain of causes', async (t) => {
    const fail = aTool('fail', () => {
      throw new Error('outside', { cause: new Error('inside') });
    });
    const gateway = await openGateway(t, [fail]);
    const reply = await gateway.call({ tool: 'fail' });
    const records = await gateway.records(reply.call_id);
    const cause = records.flatMap(({ payloads }) => payloads).find(({ part }) => part === 'cause');
    assert.match(cause?.text ?? '', /Error: outside[\s\S]+caused by: Error: inside/);
  });
});
