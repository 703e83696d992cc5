/** What seeds 000 and 001 state and no other test shows as such. In real gateways, on real stores. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { defaultLimits } from '../../../src/core/limits.ts';
import { defaultPlaybook } from '../../../src/core/recovery/playbook.ts';
import { isSuccess, type Reply } from '../../../src/index.ts';
import { ignoredErrors } from '../../house/ignored-errors.ts';
import { readTree } from '../../house/read-tree.ts';
import { errorOf } from '../../support/check-reply.ts';
import { aPolicy, anAgent } from '../../support/a-policy.ts';
import { aLimit } from '../../support/limits/written-quotas.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { openWorkflow } from '../../support/open-workflow.ts';
import { bookingTools, noBookings } from '../../support/reversals/bookings.ts';
import { coffee } from '../../support/workflows.ts';
import { aTool } from '../../support/tools.ts';

describe('an agent that knows nothing of a workflow', () => {
  test('[S000-recovery-3] [S000-recovery-1] gets to its end by picking from what each reply lists', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const session = await bar.open();
    const inputs: Readonly<Record<string, object>> = { take_order: { drink: 'x' }, add_modifier: { modifier: 'soy' } };
    const take = async (action: string): Promise<Exclude<Reply, { pending: true }>> => {
      const reply = await bar.ask(action, inputs[action] ?? {}, { session });
      assert.ok(!('pending' in reply), JSON.stringify(reply));
      return reply;
    };
    let reply = await take('brew_tea');
    assert.ok('error' in reply, 'it begins with a mistake');
    const taken: string[] = [];
    for (let steps = 0; reply.valid_next_actions.length > 0; steps++) {
      assert.ok(steps < 20, `it does not end: ${taken.join(', ')}`);
      // The last one that is not a way back out.
      const next = reply.valid_next_actions.findLast((name) => name !== 'cancel') ?? 'cancel';
      taken.push(next);
      reply = await take(next);
    }
    assert.ok(isSuccess(reply) && reply.done === true, JSON.stringify(reply));
    assert.deepEqual(taken, ['take_order', 'pay', 'fulfill']);
  });
});

describe('seed 001, without a state machine', () => {
  test('[S001-class-5] [S001-default-2] a lasting failure of a tool reaches the model typed, and is sent once', async (t) => {
    let runs = 0;
    const act = aTool('act', (_, ctx) => {
      runs += 1;
      return ctx.fail('ToolTerminal', 'NotFound', 'there is no such order');
    });
    const failed = errorOf(await (await openGateway(t, [act])).call({ tool: 'act' }), 'action_error');
    assert.deepEqual([failed.class, failed.code, runs], ['ToolTerminal', 'NotFound', 1]);
    assert.equal(failed.error_message, 'there is no such order');
    assert.deepEqual(failed.valid_next_actions, ['act'], 'the model decides what is next');
  });

  test('[S001-default-3] what cannot be recovered ends with a sentence, and with what is known and to be done', async (t) => {
    const act = aTool('act', (_, ctx) => ctx.fail({ kind: 'unknown', message: 'the machine is on fire' }));
    const failed = errorOf(await (await openGateway(t, [act])).call({ tool: 'act' }), 'action_error');
    assert.equal(failed.message, "action 'act' failed: the machine is on fire");
    assert.deepEqual([failed.effect, failed.outcome?.kind], ['unknown', 'escalated']);
    assert.ok(['escalated', 'reconcile'].includes(failed.resolution.type), failed.resolution.type);
  });
});

describe('seed 001, schedules', () => {
  test('[S001-schedule-2] a tool is retried by its own rule, or by the default playbook where a resend is safe', async (t) => {
    const runs = { own: 0, none: 0 };
    const fails = (name: 'own' | 'none', retry: object) =>
      aTool(
        name,
        (_, ctx) => {
          runs[name] += 1;
          return ctx.fail({ kind: '5xx', message: 'not now' });
        },
        { effect: 'pure', ...retry },
      );
    const own = { retry: { retryable: true, max_attempts: 4, backoff: 'fixed', base_ms: 1, jitter: 0 } };
    const gateway = await openGateway(t, [fails('own', own), fails('none', { retry: { retryable: false } })]);
    for (const tool of ['own', 'none']) errorOf(await gateway.call({ tool }), 'action_error');
    assert.deepEqual(runs, { own: 5, none: 1 });
    const { action } = defaultPlaybook.server_error_5xx.plain;
    assert.deepEqual(action, { kind: 'retry_with_backoff', max_attempts: 2, backoff_ms: [500, 2_000] });
  });

  test('[S001-schedule-3] a store that is away is asked again after 2, 4 and 6 s', () =>
    assert.deepEqual(defaultLimits.storeRetryMs, [2_000, 4_000, 6_000]));
});

test('[S001-swallow-1] no error is swallowed: each catch of the sources uses it, or says why not', () => {
  assert.deepEqual(ignoredErrors(readTree()), []);
  const silent = new Map([['src/core/x.ts', 'try {\n  act();\n} catch {}\n']]);
  assert.equal(ignoredErrors(silent).length, 1);
});

describe('seed 003, the tool that reverses', () => {
  const cancel = { tool: 'cancel', args: { id: 'a' } };
  const permitting = (t: TestContext, patterns: readonly string[]) => {
    const ledger = noBookings();
    const rules = patterns.map((pattern) => ['permit', pattern] as const);
    return { ledger, opening: openGateway(t, bookingTools(ledger), { policy: aPolicy([anAgent('local', rules)]) }) };
  };

  test('[S003-reversal-4] is called only by redeeming a token, unless a rule permits it by its exact name', async (t) => {
    const some = permitting(t, ['**']);
    const denied = errorOf(await (await some.opening).call(cancel), 'denied');
    assert.deepEqual([denied.code, some.ledger.done], ['POLICY_DENY', []]);
    const exact = permitting(t, ['cancel', '**']);
    assert.ok(isSuccess(await (await exact.opening).call(cancel)));
    assert.deepEqual(exact.ledger.done, ['cancel a']);
  });
});

describe('the contract, where no other test shows it as such', () => {
  test('[C1-look-3] a session that is not there, or belongs to another agent, lists no actions', async (t) => {
    const bar = await openWorkflow(t, [coffee()]);
    const own = await bar.open();
    for (const [session, agent] of [
      ['ses_none', 'local'],
      [own, 'eve'],
    ] as const) {
      const reply = errorOf(await bar.ask('take_order', { drink: 'x' }, { session }, { agent }), 'session_error');
      assert.deepEqual([reply.valid_next_actions, reply.effect], [[], 'none']);
    }
  });

  test('[C6-rate-1] a call takes one rate token, however often it is sent', async (t) => {
    let sends = 0;
    const retry = { retryable: true, max_attempts: 2, backoff: 'fixed', base_ms: 1, jitter: 0 } as const;
    const act = aTool(
      'act',
      (_, ctx) => {
        sends += 1;
        return sends % 3 === 0 ? 'done' : ctx.fail({ kind: '5xx', message: 'not yet' });
      },
      { effect: 'pure', retry },
    );
    const policy = aPolicy([anAgent('local', [['permit', '**']], { limits: [aLimit('act', '2/day')] })]);
    const gateway = await openGateway(t, [act], { policy });
    for (let n = 0; n < 2; n++) assert.ok(isSuccess(await gateway.call({ tool: 'act' })), `${sends} sends`);
    assert.equal(sends, 6);
    assert.equal(errorOf(await gateway.call({ tool: 'act' }), 'denied').code, 'RATE_EXCEEDED');
  });

  test('[C9-denied-1] a denial of our own is rule_block without a ticket, one of the upstream goes to a person', async (t) => {
    const act = aTool('act', (_, ctx) => ctx.fail({ kind: '403_forbidden', message: 'not for you' }));
    const policy = aPolicy([anAgent('local', [['permit', 'act']])]);
    const gateway = await openGateway(t, [act, aTool('other', () => 1)], { policy });
    const own = errorOf(await gateway.call({ tool: 'other' }), 'denied');
    assert.equal(own.resolution.type, 'rule_block');
    const kindsOf = async (id: string | null) => (await gateway.records(id as never)).map(({ kind }) => kind);
    assert.ok(!(await kindsOf(own.call_id)).includes('ticket_opened'));
    const theirs = errorOf(await gateway.call({ tool: 'act' }), 'action_error');
    assert.deepEqual([theirs.verdict, theirs.outcome?.kind], ['policy_denied', 'escalated']);
    assert.ok((await kindsOf(theirs.call_id)).includes('ticket_opened'));
  });
});
