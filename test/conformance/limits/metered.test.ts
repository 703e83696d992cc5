/**
 * Budgets of metered tools, on a real store: what a call holds, and what each of its attempts is charged, however the
 * call ends. A provider costs 1 USD for a million tokens, and says in its answers what was used.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { WrittenBudget } from '../../../src/core/budget/budget.ts';
import type { CallId } from '../../../src/core/call/call.ts';
import { httpStatusOf } from '../../../src/index.ts';
import { entriesOf } from '../../../src/core/model/provider-tools.ts';
import type { Json } from '../../../src/core/values/json.ts';
import { type Attempt, type Failure, makeFailure, type UpstreamResult } from '../../../src/ports/upstream.ts';
import { evaluateCall } from '../../../src/shell/look/evaluate.ts';
import { takeOver } from '../../../src/shell/upkeep/recover.ts';
import { anAgent } from '../../support/a-policy.ts';
import { checkReply, errorOf, successOf } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { aBudget } from '../../support/limits/written-quotas.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { aProvider } from '../../support/models/a-provider.ts';
import { openApprovals } from '../../support/open-approvals.ts';
import { bodyOf } from '../../support/read-journal.ts';

const price = { currency: 'USD', inputMicros: 1_000_000, outputMicros: 1_000_000 };
const models = [
  { name: 'large', contextTokens: 100_000, maxOutputTokens: 1_000, price },
  { name: 'small', streaming: false, maxOutputTokens: 1_000, price },
];
const provider = aProvider({ declared: { models, aliases: { best: 'large' } } });

type Step = (attempt: Attempt, signal: AbortSignal) => UpstreamResult | Promise<UpstreamResult>;

const answers =
  (usage: Json): Step =>
  () => ({ kind: 'returned', output: { text: 'hello', usage }, errors: [] });
const fails =
  (more: Partial<Failure>, kind: Failure['kind'] = '5xx'): Step =>
  () => ({
    kind: 'failed',
    failure: makeFailure(kind, 'no', more),
  });
const never: Step = (_, signal) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'failed', failure: makeFailure('cancelled', 'stopped') }));
  });

const daily = (max: string, more: Parameters<typeof aBudget>[1] = {}) => aBudget(max, { cost: 'usage.cost', ...more });
const todayIn = (unit: string) => `agent/local/daily/${unit}/2026-05-18T00:00:00Z`;
const today = todayIn('USD');

/** What a request without a prompt holds: 500 tokens that a provider may add, and 1,000 that it may write. */
const held = 1_500;

async function open(t: TestContext, budgets: readonly WrittenBudget[], steps: readonly Step[], more = {}) {
  const clock = createManualClock();
  const agents = [anAgent('local', [['permit', '**']], { budgets, ...more })];
  const opened = await openApprovals(t, [], { agents, clock });
  const { shell } = opened;
  const left = [...steps];
  const entries = entriesOf(provider);
  Object.assign(shell, { catalogue: () => entries });
  Object.assign(shell.ports, {
    upstream: {
      invoke: async (attempt: Attempt, signal: AbortSignal) => {
        const step = left.shift();
        assert.ok(step !== undefined, 'it is not sent more often than the test says');
        return step(attempt, signal);
      },
    },
  });
  const account = async (unit = 'USD') => {
    const found = await shell.ports.store.account('default', todayIn(unit));
    return [found.settled, found.held];
  };
  const around = { tools: [...entries.keys()], folder: path.dirname(opened.file) };
  const call = async (raw: unknown) => checkReply(await opened.gateway.handle(raw), around);
  const ask = (args: object = {}) => call({ tool: 'echo/chat', args: { model: 'large', ...args } });
  /** Asks, and lets the clock run until the reply is there. */
  const askThrough = async (args: object = {}) => {
    const asked = ask(args);
    let isOver = false;
    void asked.finally(() => (isOver = true));
    await eventually('a reply', async () => {
      clock.forward(200);
      return isOver;
    });
    return asked;
  };
  const settledAs = async (call: string) => {
    const records = await shell.ports.store.recordsOf(call as CallId);
    return bodyOf(records, 'settled')['budgets'];
  };
  return { ...opened, call, shell, clock, ask, askThrough, account, settledAs, left };
}

describe('a budget over usage', () => {
  test('[C4-metered-1] holds the most that the request can use, and charges what was used', async (t) => {
    let during: readonly number[] = [];
    const gateway = await open(
      t,
      [daily('5 USD')],
      [
        async (attempt, signal) => {
          during = await gateway.account();
          return answers({ in: 100, out: 23 })(attempt, signal);
        },
      ],
    );
    successOf(await gateway.ask());
    assert.deepEqual(
      [during, await gateway.account()],
      [
        [0, held],
        [123, 0],
      ],
    );
  });

  test('[C4-metered-1] a request that could use more than is left is refused before anything is sent', async (t) => {
    const gateway = await open(t, [daily('0.001 USD')], []);
    assert.equal(errorOf(await gateway.ask(), 'denied').code, 'BUDGET_EXCEEDED');
  });

  test('[C4-metered-1] what nothing bounds, and what has no price, is denied by name', async (t) => {
    const open1 = aProvider({ declared: { models: [], aliases: {} } });
    const gateway = await open(t, [daily('5 USD')], []);
    Object.assign(gateway.shell, { catalogue: () => entriesOf(open1) });
    const unbounded = errorOf(await gateway.ask(), 'denied');
    assert.equal(unbounded.code, 'POLICY_DENY');
    assert.match(unbounded.message, /its cost cannot be told \(nothing bounds what it can use\)/);
    const unpriced = errorOf(await gateway.ask({ max_tokens: 5 }), 'denied');
    assert.match(unpriced.message, /its cost cannot be told/);
  });

  test('[C4-metered-1] a tool that is not metered needs a reserve', async (t) => {
    const gateway = await open(t, [daily('5 USD')], []);
    const plain = [...entriesOf(provider)].map(([name, { metered: _, ...entry }]) => [name, entry] as const);
    Object.assign(gateway.shell, { catalogue: () => new Map(plain) });
    const denied = errorOf(await gateway.ask(), 'denied');
    assert.match(denied.message, /its cost cannot be told \(it is not metered, and the budget has no reserve\)/);
  });

  test('[C4-metered-1] a reserve is held in its place, and what was used beyond it is on record', async (t) => {
    const gateway = await open(t, [daily('5 USD', { reserve: '0.0001 USD' })], [answers({ in: 100, out: 23 })]);
    const { call_id: id } = successOf(await gateway.ask());
    assert.deepEqual(await gateway.account(), [123, 0]);
    assert.deepEqual(await gateway.settledAs(id), [{ account: today, held: 100, over: 23, spent: 123 }]);
  });

  test('[C4-metered-1] an answer that does not say what it used costs what was held, and the record says why', async (t) => {
    const gateway = await open(t, [daily('5 USD')], [answers(null)]);
    successOf(await gateway.ask());
    assert.deepEqual(await gateway.account(), [held, 0]);
  });
});

describe('an attempt that fails', () => {
  const ends: readonly (readonly [string, Step, number])[] = [
    ['and used nothing costs nothing', fails({ used: null }, '400_invalid'), 0],
    ['of which nobody knows what it used costs what it held', fails({}, '400_invalid'), held],
    ['and says what it used costs that', fails({ used: { cost: '0.000042 USD' } }, '400_invalid'), 42],
    [
      'and says so in words without a price costs what it held',
      fails({ used: { output_tokens: 1 } }, '400_invalid'),
      held,
    ],
    ['and was never sent costs nothing', fails({ subject: 'not_connected' }, 'never_sent'), 0],
    ['in the middle of its stream costs what it held', fails({ subject: 'stream_broken' }), held],
  ];
  for (const [what, step, spent] of ends)
    test(`[C9-metered-1] ${what}`, async (t) => {
      const gateway = await open(t, [daily('5 USD')], [step]);
      errorOf(await gateway.ask(), 'action_error');
      assert.deepEqual(await gateway.account(), [spent, 0]);
    });

  test('[C9-metered-1] because it was cancelled costs what it held', async (t) => {
    const gateway = await open(t, [daily('5 USD')], [never]);
    const asked = gateway.ask();
    await eventually('an attempt', async () => gateway.shell.live.running.size === 1 && gateway.left.length === 0);
    const [id] = gateway.shell.live.running.keys();
    gateway.shell.live.running.get(id as CallId)?.cancel('ToolCancelled');
    errorOf(await asked, 'cancelled');
    assert.deepEqual(await gateway.account(), [held, 0]);
  });

  test('[C9-metered-1] and is followed by a success adds what it held, which is over and on record', async (t) => {
    const steps = [
      fails({}, 'timeout'),
      fails({ used: null }),
      fails({ used: { cost: '0.000007 USD' } }),
      answers({ in: 100, out: 0 }),
    ];
    const gateway = await open(t, [daily('5 USD')], steps);
    const { call_id: id } = successOf(await gateway.askThrough());
    const spent = held + 7 + 100;
    assert.deepEqual(await gateway.account(), [spent, 0]);
    assert.deepEqual(await gateway.settledAs(id), [{ account: today, held, over: spent - held, spent }]);
  });

  test('[C9-metered-1] counts each time until the last one, of which nobody knows either', async (t) => {
    const gateway = await open(t, [daily('5 USD')], [fails({}), fails({}), fails({})]);
    errorOf(await gateway.askThrough(), 'action_error');
    assert.deepEqual(await gateway.account(), [3 * held, 0]);
  });

  test('[C9-metered-1] is one call of a budget that counts calls', async (t) => {
    const gateway = await open(t, [aBudget('9 calls')], [fails({}), answers({ in: 1, out: 1 })]);
    successOf(await gateway.askThrough());
    assert.deepEqual(await gateway.account('calls'), [1, 0]);
  });
});

describe('a process that dies', () => {
  test('[C6-metered-1] while a model answers: the call is not sent again, failed, and costs what it held', async (t) => {
    const gateway = await open(t, [daily('5 USD')], [never]);
    const asked = gateway.ask();
    await eventually('an attempt', async () => gateway.shell.live.running.size === 1 && gateway.left.length === 0);
    const [id] = gateway.shell.live.running.keys();
    const stored = (await gateway.shell.ports.store.call(id as CallId)) ?? assert.fail('it is on record');
    assert.equal(await takeOver(stored, gateway.shell), 'FAILED');
    assert.deepEqual(await gateway.account(), [held, 0]);
    gateway.shell.live.running.get(id as CallId)?.cancel('ToolCancelled');
    const reply = errorOf(await asked, 'action_error');
    assert.equal(reply.effect, 'none');
    assert.match(reply.error_message, /not sent again, for that would be paid twice/);
    assert.deepEqual(await gateway.account(), [held, 0]);
  });

  test('[C6-metered-1] in its second attempt: what the first one used is read from the record', async (t) => {
    const gateway = await open(t, [daily('5 USD')], [fails({}), never]);
    const asked = gateway.ask();
    await eventually('a second attempt', async () => {
      gateway.clock.forward(200);
      return gateway.left.length === 0;
    });
    const [id] = gateway.shell.live.running.keys();
    const stored = (await gateway.shell.ports.store.call(id as CallId)) ?? assert.fail('it is on record');
    assert.equal(await takeOver(stored, gateway.shell), 'FAILED');
    gateway.shell.live.running.get(id as CallId)?.cancel('ToolCancelled');
    errorOf(await asked, 'action_error');
    assert.deepEqual(await gateway.account(), [2 * held, 0]);
  });

  test('[C6-metered-1] after an attempt that missed its window: what was used before it is not forgotten', async (t) => {
    const gateway = await open(t, [daily('5 USD')], [fails({}), never]);
    const { store } = gateway.shell.ports;
    const commit = store.commit.bind(store);
    let claims = 0;
    Object.assign(store, {
      commit: async (transitions: Parameters<typeof commit>[0]) => {
        const result = await commit(transitions);
        const isClaim = transitions.some(({ records }) => records.some(({ kind }) => kind === 'dispatched'));
        // The store took too long for the second attempt, which is claimed again.
        if (isClaim && ++claims === 2) gateway.clock.forward(gateway.shell.limits.sendWindowMs);
        return result;
      },
    });
    const asked = gateway.ask();
    await eventually('an attempt after it', async () => {
      if (claims < 2) gateway.clock.forward(200);
      return gateway.left.length === 0;
    });
    const [id] = gateway.shell.live.running.keys();
    const stored = (await store.call(id as CallId)) ?? assert.fail('it is on record');
    assert.deepEqual([claims, stored.attempt], [3, 3]);
    assert.equal(await takeOver(stored, gateway.shell), 'FAILED');
    gateway.shell.live.running.get(id as CallId)?.cancel('ToolCancelled');
    errorOf(await asked, 'action_error');
    assert.deepEqual(await gateway.account(), [2 * held, 0]);
  });
});

describe('a model that cannot answer', () => {
  test('[C1-model-2] [C9-capability-1] [S001-class-3] is told from call to call: a session may switch, and each call is judged by itself', async (t) => {
    const gateway = await open(t, [], [answers({ in: 1, out: 1 }), answers({ in: 1, out: 1 })]);
    const { session } = successOf(await gateway.ask({ stream: true }));
    const within = { tool: 'echo/chat', session: session ?? '' };
    const refused = errorOf(await gateway.call({ ...within, args: { model: 'small', stream: true } }), 'action_error');
    assert.deepEqual([refused.class, refused.code, refused.effect], ['ProviderCapability', 'MissingStreaming', 'none']);
    assert.equal(httpStatusOf(refused), 422);
    assert.deepEqual(refused.resolution, { type: 'replan', reason: 'ask one of the models that can: large' });
    successOf(await gateway.call({ ...within, args: { model: 'best', stream: true } }));
  });

  test('[C1-model-2] is told beforehand by a dry run', async (t) => {
    const gateway = await open(t, [], []);
    const who = { tenant: 'default', agent: 'local' };
    const explained = await evaluateCall(
      { tool: 'echo/chat', args: { model: 'small', stream: true } },
      who,
      gateway.shell,
    );
    assert.match(JSON.stringify(explained), /"lacks":"MissingStreaming"/);
  });
});
