import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { assign, createMachine, setup } from 'xstate';
import type { CallId } from '../../../core/call/call.ts';
import type { Catalogue } from '../../../core/call/catalogue.ts';
import { invalidInput } from '../../../core/gates/invalid-input.ts';
import type { Json, JsonObject } from '../../../core/values/json.ts';
import type { Attempt } from '../../../ports/upstream.ts';
import { createFunctionUpstream } from '../function-upstream.ts';
import { mount, WorkflowDefinitionError, type MountedWorkflow } from './mount.ts';
import { tool } from '../tool.ts';

const milks = ['oat', 'soy', 'almond'];

const machine = setup({
  types: {
    context: {} as { total: number },
    events: {} as { type: 'take_order' } | { type: 'add_modifier' } | { type: 'pay' },
  },
  guards: { hasTotal: ({ context }) => context.total > 0 },
}).createMachine({
  id: 'coffee',
  initial: 'idle',
  context: { total: 0 },
  states: {
    idle: { on: { take_order: 'ordering' } },
    ordering: { on: { add_modifier: { actions: assign({}) }, pay: { target: 'paid', guard: 'hasTotal' } } },
    paid: { type: 'final' },
  },
});

const refund = tool({
  name: 'payments/refund',
  description: 'Gives money back.',
  input: z.object({ amount: z.number().positive() }),
  effect: 'keyed',
  dedupe_window_seconds: 60,
  timeout_seconds: 7,
  reports_within_seconds: 300,
  run: async () => ({ ok: true }),
});

const order = { input: z.object({ price: z.coerce.number() }), run: async () => ({}) };

function coffee(more: Partial<Parameters<typeof mount<typeof machine, Record<string, unknown>>>[1]> = {}) {
  return mount(machine, {
    actions: {
      take_order: { ...order, update: ({ inputs }) => ({ total: inputs.price }) },
      add_modifier: { input: { type: 'object', required: ['modifier'] }, run: async () => ({}) },
      pay: { tool: 'payments/refund', operation_key: (inputs: JsonObject) => String(inputs['amount']) },
    },
    inputValidators: {
      add_modifier: (inputs) =>
        milks.includes(inputs['modifier'] as string) || {
          field: 'modifier',
          reason: `modifier must be one of: ${milks.join(', ')}`,
        },
    },
    ...(more as object),
  });
}

const functions = () => createFunctionUpstream([refund]);

function bound(workflow: MountedWorkflow, upstream = functions()) {
  const found = workflow.bind(upstream.catalogue, { timeoutMs: 30_000, validate: upstream.validator.validate });
  assert.ok(found.ok, JSON.stringify(found));
  return found;
}

test('a mounted workflow is frozen and takes its name from the machine', () => {
  const workflow = coffee();
  assert.ok(Object.isFrozen(workflow));
  assert.deepEqual([workflow.name, workflow.version], ['coffee', '1']);
  assert.deepEqual(workflow.actions, ['take_order', 'add_modifier', 'pay']);
  assert.deepEqual(
    workflow.bodies.map(({ name }) => name),
    ['workflow:coffee/take_order', 'workflow:coffee/add_modifier'],
  );
});

test('a bound action takes over what its tool declares', () => {
  const { workflow } = bound(coffee());
  const pay = workflow.actions.get('pay');
  assert.ok(pay !== undefined);
  assert.deepEqual(
    [pay.invokes, pay.boundTool, pay.effectClass, pay.timeoutMs, pay.dedupeWindowMs, pay.input.kind, pay.overlap],
    ['payments/refund', 'payments/refund', 'keyed', 7_000, 60_000, 'validator', false],
  );
  assert.deepEqual([pay.reportsWithinMs, workflow.actions.get('take_order')?.reportsWithinMs], [300_000, null]);
  assert.equal(pay.operation, null);
  assert.equal(pay.operationOf({ amount: 3 }), 'payments/refund:3');
  assert.deepEqual(pay.inputSchema?.['required'], ['amount']);
  const order = workflow.actions.get('take_order');
  assert.deepEqual([order?.operation, order?.invokes], ['coffee/take_order', 'workflow:coffee/take_order']);
  assert.equal(workflow.catalogue.get('pay'), pay);
});

test('an action without code of its author is judged by the gate itself', () => {
  const one = mount(createMachine({ id: 'x', initial: 'a', states: { a: { on: { go: 'a' } } } }), {
    actions: { go: { input: { type: 'object' }, run: async () => 1, effect: 'pure' } },
    actionTimeoutSeconds: 3,
  });
  const go = bound(one).workflow.actions.get('go');
  assert.deepEqual([go?.input.kind, go?.overlap, go?.timeoutMs, go?.operation], ['schema', true, 3_000, 'x/go']);
});

test('an operation key that throws or says nothing fences the whole operation', () => {
  for (const operation_key of [() => '', () => 3 as never, () => assert.fail('no')]) {
    const one = mount(createMachine({ id: 'x', initial: 'a', states: { a: { on: { go: 'a' } } } }), {
      actions: { go: { run: async () => 1, operation_key } },
    });
    assert.equal(bound(one).workflow.actions.get('go')?.operationOf({}), 'x/go');
  }
});

test('a tool that does not exist is told by the name of the nearest', () => {
  const found = coffee().bind(new Map([['payments/refnd', {} as never]]) as Catalogue, { timeoutMs: 1 });
  assert.ok(!found.ok);
  assert.deepEqual(found.problems, [
    "workflow 'coffee', action 'pay': there is no tool 'payments/refund'; did you mean 'payments/refnd'?",
  ]);
});

test('the manifest changes with a guard, an update, a schema and a tool, and not with a description or a body', () => {
  const manifest = (workflow: MountedWorkflow, upstream = functions()) => bound(workflow, upstream).workflow.manifest;
  const same = manifest(coffee());
  const actions = (more: object) =>
    ({
      take_order: {
        ...order,
        update: ({ inputs }: never) => ({ total: (inputs as { price: number }).price }),
        ...more,
      },
      add_modifier: { run: async () => ({}) },
      pay: { tool: 'payments/refund' },
    }) as never;
  const plain = manifest(coffee({ actions: actions({}) }));
  assert.equal(manifest(coffee({ description: 'other' })), same);
  assert.equal(manifest(coffee({ actions: actions({ run: async () => 2, description: 'd' }) })), plain);
  assert.notEqual(manifest(coffee({ actions: actions({ update: () => ({ total: 1 }) }) })), plain);
  assert.notEqual(manifest(coffee({ actions: actions({ input: { type: 'object' } }) })), plain);
  const other = tool({ ...refund, timeout_seconds: 8, run: async () => 1 } as never);
  assert.notEqual(manifest(coffee(), createFunctionUpstream([other as never])), same);
  const guarded = mount(machine.provide({ guards: { hasTotal: () => true } }), { actions: actions({}) });
  assert.notEqual(manifest(guarded), plain);
  assert.equal(typeof (JSON.parse(same) as JsonObject)['machine'], 'object');
});

function attemptOf(name: string, args: Json): Attempt {
  return {
    callId: 'call_1' as CallId,
    attempt: 1,
    tool: name,
    args,
    session: null,
    tenant: 't',
    agent: 'a',
    deadlineAtMs: 0,
    timeoutMs: 1,
    workflowContext: { total: 3 },
    client: null,
    callTool: () => Promise.reject(new Error('no tools here')),
  };
}

for (const isolate of [undefined, true] as const) {
  test(`a body ${isolate ? 'in a worker ' : ''}sees the context, and its throw is harmless only if it is atomic`, async () => {
    const body = (atomic: boolean) => ({
      atomic,
      ...(isolate ? { isolate } : {}),
      run: async (inputs: JsonObject, ctx: { readonly context: unknown }) => {
        if (inputs['fails'] === true) throw new Error('no');
        return { context: ctx.context, frozen: Object.isFrozen(ctx.context) };
      },
    });
    const one = mount(
      createMachine({ id: 'x', initial: 'a', states: { a: { on: { careful: 'a', careless: 'a' } } } }),
      {
        actions: { careful: body(true), careless: body(false) } as never,
      },
    );
    const { upstream, close } = createFunctionUpstream(one.bodies);
    const ask = (action: string, args: Json) =>
      upstream.invoke(attemptOf(`workflow:x/${action}`, args), new AbortController().signal);
    const returned = await ask('careful', {});
    assert.deepEqual(returned.kind === 'returned' && returned.output, { context: { total: 3 }, frozen: true });
    const effects = [await ask('careful', { fails: true }), await ask('careless', { fails: true })];
    assert.deepEqual(
      effects.map((result) => result.kind === 'failed' && [result.failure.kind, result.failure.effect]),
      [
        ['threw', 'none'],
        ['threw', null],
      ],
    );
    await close();
  });
}

test('a refusal of a validator reaches the agent in its own words', async () => {
  const { validate } = bound(coffee());
  const validated = await validate('add_modifier', { modifier: 'moon' }, { total: 0 });
  assert.ok(!validated.ok);
  const { reason, details } = invalidInput('add_modifier', validated.errors);
  assert.equal(reason, 'modifier must be one of: oat, soy, almond');
  assert.deepEqual(details, { field: 'modifier', got: 'moon' });
});

test('an author hears of every problem at once', () => {
  const wrong = () =>
    mount(createMachine({ id: 'odd name', initial: 'a', states: { a: { on: { go: 'b' } }, b: {}, lost: {} } }), {
      version: 3 as never,
      actoins: 1,
      state: 'some',
      refusals: { stop: 3 },
      inputValidators: { nope: () => undefined, go: 3 },
      migrations: { 1: 'no' },
      max_state_bytes: 7,
      actionTimeoutSeconds: -1,
      debug_messages: 'yes',
      actions: {
        go: { run: () => 1, effect: 'odd', tme: 1, update: 3, atomic: 'yes' },
        sit: { tool: 'x', run: async () => 1 },
        stay: {},
        "it's": { run: async () => 1 },
      },
    } as never);
  assert.throws(wrong, (error) => {
    assert.ok(error instanceof WorkflowDefinitionError);
    assert.equal(error.message.split('\n').length, error.problems.length + 1);
    const parts = [
      'its name',
      'actoins',
      'its version',
      'its state',
      "'stop'",
      "no action 'nope'",
      "inputValidators of 'go'",
      'its migrations',
      'max_state_bytes',
      'actionTimeoutSeconds',
      'debug_messages',
      "'tme'",
      'its effect is unknown',
      'not an async function',
      'its update is not a function',
      'its atomic is neither',
      "'sit': it is bound to a tool and has 'run'",
      "'stay': it has neither run nor tool",
      '"it\'s"',
      "action 'sit': no state has an edge",
      "state 'lost': no path from where the workflow begins leads to it",
    ];
    for (const part of parts) {
      const wanted = part === '"it\'s"' ? "action 'it's': its name is not usable" : part;
      assert.ok(
        error.problems.some((problem) => problem.includes(wanted)),
        `${wanted}\n${error.message}`,
      );
    }
    return true;
  });
});

test('hostile options are refused like any other', () => {
  const hostile = new Proxy({}, { get: () => assert.fail('no'), ownKeys: () => assert.fail('no') });
  for (const [first, second] of [
    [machine, hostile],
    [hostile, { name: 'x', actions: {} }],
    [null, null],
    [machine, { actions: hostile }],
  ]) {
    assert.throws(() => mount(first as never, second as never), WorkflowDefinitionError);
  }
});

test('what is no machine is told as that, and an unknown key is offered no key that is refused', () => {
  const problemsOf = (given: unknown): readonly string[] => {
    try {
      mount(given as never, { name: 'm', actions: {} } as never);
      return [];
    } catch (error) {
      return error instanceof WorkflowDefinitionError ? error.problems : [String(error)];
    }
  };
  for (const nothing of [null, undefined, 5]) {
    assert.deepEqual(
      problemsOf(nothing).map((problem) => problem.split(';')[0]),
      ['this is not an XState machine'],
    );
  }
  const [misspelt, strange] = problemsOf(createMachine({ invok: {}, onError: 'a' } as never));
  for (const problem of [misspelt, strange])
    assert.match(problem ?? '', /^the root: unknown key '\w+'; known are id, /);
  assert.doesNotMatch(`${misspelt} ${strange}`, /\b(invoke|output|input|route)\b/);
});
