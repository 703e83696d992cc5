/** Stages of a workflow: their phases, retries, routes and resolutions, and the calls that they make. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mount, StageCallError, tool, ToolFailure } from '../../../src/index.ts';
import type { StageDefinition } from '../../../src/index.ts';
import { setup } from 'xstate';
import { eventually } from '../../support/eventually.ts';
import { openWorkflow, refusal, success } from '../../support/open-workflow.ts';

interface Context {
  n: number;
  card: string;
}

type Stage = StageDefinition<Record<string, unknown>, Context>;

/** `charge` is a stage; what else may happen has a state of its own. */
function aFlow(stage: Stage, on: object = {}, states: object = {}) {
  const machine = setup({ types: { context: {} as Context, events: {} as { type: 'charge' } | { type: 'look' } } });
  const made = machine.createMachine({
    id: 'flow',
    initial: 'open',
    context: { n: 0, card: 'old' },
    states: { open: { on: { charge: 'paid', look: 'open', ...on } }, paid: { type: 'final' }, ...states },
  } as never);
  return mount(made, { actions: { charge: { stage }, look: { effect: 'pure', run: async () => ({}) } } } as never);
}

/** A ledger that fails as often as it is told, and counts what it did. */
function aLedger() {
  const done: string[] = [];
  const failures: ((() => Error) | null)[] = [];
  const pay = tool({
    name: 'pay',
    effect: 'plain',
    input: { type: 'object' },
    timeout_seconds: 5,
    run: async (args: Record<string, unknown>) => {
      const fail = failures.shift() ?? null;
      if (fail !== null) throw fail();
      done.push(String(args['what'] ?? 'it'));
      return { receipt: done.length };
    },
  } as never);
  const refuse = () => new ToolFailure({ kind: '404_not_found', message: 'no card', effect: 'none' });
  const lost = () => new ToolFailure({ kind: 'timeout', message: 'lost', effect: 'unknown' });
  return { pay, done, failures, refuse, lost };
}

const open = async (t: Parameters<typeof openWorkflow>[0], flow: ReturnType<typeof aFlow>, ledger = aLedger()) => {
  const gateway = await openWorkflow(t, [flow], { tools: [ledger.pay] });
  const session = await gateway.open();
  const ask = (inputs: object = {}, more: object = {}) => gateway.ask('charge', inputs, { session, ...more });
  return { gateway, session, ask, ledger };
};

const contextIn = (view: { state?: unknown }) => (view.state as { context: Context }).context;
const valueIn = (view: { state?: unknown }) => (view.state as { value: string }).value;

describe('a stage', () => {
  test('[C6-stage-1] runs setup, act, assert, exit and next, and only setup writes to the context', async (t) => {
    const ran: string[] = [];
    const flow = aFlow({
      setup: ({ context, inputs }) => {
        ran.push('setup');
        assert.ok(Object.isFrozen(context) && Object.isFrozen(inputs));
        return { n: context.n + Number(inputs['by']) };
      },
      act: async ({ context, call }) => {
        ran.push('act');
        assert.equal(context.n, 2);
        assert.throws(() => ((context as Context).n = 7), TypeError);
        const { result } = await call('pay', { what: 'coffee' });
        return result as { receipt: number };
      },
      assert: ({ context }, acted) => {
        ran.push('assert');
        assert.throws(() => ((context as Context).n = 7), TypeError);
        return (acted as { receipt: number }).receipt === 1;
      },
      exit: (_ctx, acted) => {
        ran.push('exit');
        return { kept: acted };
      },
      next: (_ctx, end) => {
        ran.push(`next ${end.outcome}`);
        return null;
      },
    });
    const { gateway, session, ask, ledger } = await open(t, flow);
    const reply = success(await ask({ by: 2 }));
    assert.deepEqual(ran, ['setup', 'act', 'assert', 'exit', 'next succeeded']);
    assert.deepEqual([reply.result, reply.done, ledger.done], [{ kept: { receipt: 1 } }, true, ['coffee']]);
    assert.deepEqual(contextIn(await gateway.look(session)), { n: 2, card: 'old' });
  });

  test('[S001-stage-1] [C6-stage-2] its act sees a failed call as a typed error, and may go on', async (t) => {
    const seen: unknown[] = [];
    const flow = aFlow({
      act: async ({ call }) => {
        try {
          await call('pay');
        } catch (error) {
          assert.ok(error instanceof StageCallError);
          const { error: name, class: kind, code, verdict, effect } = error;
          seen.push({ name, kind, code, verdict, effect, tool: error.tool });
        }
        return (await call('pay')).result;
      },
    });
    const { ask, ledger } = await open(t, flow);
    ledger.failures.push(ledger.refuse);
    assert.deepEqual(success(await ask()).result, { receipt: 1 });
    const error = { name: 'action_error', kind: 'ToolTerminal', code: 'NotFound', verdict: 'invalid_request' };
    assert.deepEqual(seen, [{ ...error, effect: 'none', tool: 'pay' }]);
  });

  test('[S001-stage-2] [C6-stage-3] an attempt that fails its assertion is tried again from setup on', async (t) => {
    const ran: string[] = [];
    const flow = aFlow({
      setup: ({ attempt }) => {
        ran.push(`setup ${attempt}`);
        return { n: attempt };
      },
      act: async ({ call, context }) => (await call('pay', { what: `try ${context.n}` })).result,
      assert: (_ctx, acted) => (acted as { receipt: number }).receipt === 2 || 'not yet',
      retry: { max_attempts: 3, backoff: 'fixed', base: 1, jitter: 0 },
    });
    const { gateway, session, ask, ledger } = await open(t, flow);
    const reply = success(await ask());
    assert.deepEqual([ran, ledger.done, reply.result], [['setup 1', 'setup 2'], ['try 1', 'try 2'], { receipt: 2 }]);
    assert.equal(contextIn(await gateway.look(session)).n, 2);
  });

  test('[S001-stage-3] [C6-stage-4] what cannot be composed fails the attempt, and nothing is sent', async (t) => {
    const errors: string[] = [];
    const flow = aFlow({
      act: async ({ call, attempt }) => {
        if (attempt === 1) return call('pay', { amount: 1n as never });
        if (attempt === 2) throw new RangeError('no amount');
        return (await call('pay')).result;
      },
      retry: { max_attempts: 1, backoff: 'fixed', base: 1 },
      next: (_ctx, { error }) => {
        errors.push(error?.message ?? '');
        return null;
      },
    });
    const { ask, ledger } = await open(t, flow);
    const reply = refusal(await ask(), 'action_error');
    assert.deepEqual([reply.effect, reply.error_message, ledger.done], ['none', 'no amount', []]);
    assert.deepEqual(errors, ['no amount'], 'retries come first, then next');
  });

  test('[S001-retry-3] [C6-stage-5] next may enter act again, so often and no more', async (t) => {
    let acted = 0;
    const flow = aFlow({
      act: async ({ call, pass }) => {
        acted += 1;
        return (await call('pay', { what: `pass ${pass}` })).result;
      },
      assert: () => false,
      next: () => ({ again: true }),
    });
    const { ask, ledger } = await open(t, flow);
    const reply = refusal(await ask(), 'action_error');
    assert.deepEqual([acted, ledger.done.length, ledger.done.at(-1)], [10, 10, 'pass 10']);
    assert.deepEqual([reply.effect, reply.error_type], ['applied', 'AssertionFailed']);
  });

  test('[S001-stage-2] [C6-stage-6] next routes to a repair state, from where the step is taken again', async (t) => {
    const flow = aFlow(
      {
        act: async ({ call }) => (await call('pay')).result,
        events: ['needs_repair'],
        next: (_ctx, { error }) => (error?.code === 'NotFound' ? { event: 'needs_repair' } : null),
      },
      { 'charge.needs_repair': 'repairing' },
      { repairing: { on: { look: 'open' } } },
    );
    const { gateway, session, ask, ledger } = await open(t, flow);
    ledger.failures.push(ledger.refuse);
    const failed = refusal(await ask(), 'action_error');
    assert.deepEqual([valueIn(failed), failed.valid_next_actions, failed.seq], ['repairing', ['look'], 1]);
    success(await gateway.ask('look', {}, { session }));
    assert.equal(success(await ask()).done, true);
  });

  test('[C6-stage-6] a success may take an edge of its own, too', async (t) => {
    const flow = aFlow(
      { act: async () => ({ left: 1 }), events: ['more'], next: () => ({ event: 'more' }) },
      {
        'charge.more': {
          target: 'half',
          guard: ({ event }: never) => (event as { result: { left: number } }).result.left > 0,
        },
      },
      { half: { on: { look: 'open' } } },
    );
    const { ask } = await open(t, flow);
    const reply = success(await ask());
    assert.deepEqual([valueIn(reply), reply.result], ['half', { left: 1 }]);
  });

  test('[S001-stage-4] [C6-stage-7] skip goes past it by an edge of its own, and stays an error', async (t) => {
    const flow = aFlow(
      { act: async ({ call }) => (await call('pay')).result, unrecoverable: 'skip' },
      { 'charge.skipped': 'past' },
      { past: { type: 'final' } },
    );
    const { ask, ledger } = await open(t, flow);
    ledger.failures.push(ledger.refuse);
    const reply = refusal(await ask(), 'action_error');
    assert.deepEqual([reply.code, reply.effect, valueIn(reply), reply.done], ['NotFound', 'none', 'past', true]);
  });

  test('[S001-stage-4] [C6-stage-8] retry-later tries it again by itself; other actions go on meanwhile', async (t) => {
    const flow = aFlow({
      act: async ({ call }) => (await call('pay')).result,
      unrecoverable: { retry_later: 300 },
    });
    const { gateway, session, ask, ledger } = await open(t, flow);
    ledger.failures.push(ledger.refuse);
    const reply = refusal(await ask({ order: 7 }), 'action_error');
    assert.deepEqual(reply.resolution, { type: 'retry_after', retry_after_seconds: 1 });
    assert.deepEqual([valueIn(reply), reply.seq, reply.valid_next_actions], ['open', 1, ['charge', 'look']]);
    success(await gateway.ask('look', {}, { session }));
    await eventually('it was tried again', async () => valueIn(await gateway.look(session)) === 'paid');
    assert.deepEqual(ledger.done, ['it']);
  });

  test('[S001-stage-4] [C6-stage-9] abort-workflow closes the session', async (t) => {
    const flow = aFlow({ act: async ({ call }) => (await call('pay')).result, unrecoverable: 'abort-workflow' });
    const { gateway, session, ask, ledger } = await open(t, flow);
    ledger.failures.push(ledger.refuse);
    const reply = refusal(await ask(), 'action_error');
    assert.deepEqual([reply.valid_next_actions, reply.resolution.type], [[], 'replan']);
    assert.equal((await gateway.look(session)).status, 'closed');
    refusal(await ask(), 'session_error');
  });

  test('[C6-stage-10] a call in doubt puts it in doubt; settled, it goes on where it stood', async (t) => {
    const phases: string[] = [];
    const flow = aFlow({
      setup: () => void phases.push('setup'),
      act: async ({ call }) => {
        phases.push('act');
        const first = await call('pay', { what: 'first' });
        // Whatever its author makes of it, a stage does not go past a doubt.
        const second = await call('pay', { what: 'second' }).catch(() => null);
        const third = await call('pay', { what: 'third' });
        return [first.result, second?.result, third.result] as never;
      },
    });
    const { gateway, session, ask, ledger } = await open(t, flow);
    ledger.failures.push(null, ledger.lost);
    const reply = refusal(await ask({}, { key: 'once' }), 'action_error');
    assert.deepEqual([reply.effect, ledger.done], ['unknown', ['first']]);
    assert.deepEqual(await gateway.next(session), ['look'], 'its operation is fenced, others are not');
    success(await gateway.ask('look', {}, { session }));
    const tickets = await gateway.tickets.list();
    const nested = tickets.find((ticket) => ticket.tool === 'pay');
    assert.ok(nested !== undefined);
    await gateway.settle(nested.call_id ?? '', { happened: 'yes', by: 'ann', result: { receipt: 9 }, force: true });
    await eventually('the stage went on', async () => valueIn(await gateway.look(session)) === 'paid');
    assert.deepEqual(ledger.done, ['first', 'third'], 'each call was made once');
    assert.deepEqual(phases, ['setup', 'act', 'act']);
    const again = success(await ask({}, { key: 'once' }));
    assert.deepEqual([again.replayed, again.result], [true, [{ receipt: 1 }, { receipt: 9 }, { receipt: 2 }]]);
  });
});
