import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyseWorkflow } from '../../core/workflow/analyse/analyse-workflow.ts';
import { compileYaml as compile, moved, readYaml as read } from '../../../test/support/yaml-workflow.ts';

const coffee = `
version: "1"
context: { total: 0, drinks: [], paid_at: null }
state: [total]
refusals: { sharpen_after: 2, stop_after: 9 }
action_timeout: 250ms
initial: idle
actions:
  order:
    input:
      type: object
      properties: { drink: { type: string }, price: { type: number } }
      required: [drink, price]
      additionalProperties: false
    validate:
      - { when: 'inputs.drink in ["oat", "soy"]', field: drink, reason: "drink must be one of: oat, soy" }
      - { when: context.total + inputs.price <= 100, reason: too much }
    result: '{"ordered": inputs.drink, "before": context.total}'
    update: { total: context.total + inputs.price, drinks: "context.drinks + [inputs.drink]" }
  look: {}
  pay: { tool: shop/pay, effect: keyed, dedupe_window: 1h, timeout: 5s, operation_key: inputs.order, overlap: false }
  cancel: {}
states:
  idle: { on: { order: ordering } }
  ordering:
    on:
      order: {}
      look: {}
      pay:
        - { target: paid, guard: context.total > 0 && inputs.amount >= context.total, assign: { paid_at: result.at } }
        - { target: idle, guard: inputs.amount < 0 }
      cancel: cancelled
    after: { 30m: cancelled }
  paid: { type: final }
  cancelled: { type: final, entry: { assign: { total: "0" } } }
`;

test('options are those of mount', async () => {
  const { options } = compile(coffee);
  const { actions, ...rest } = options;
  assert.deepEqual(rest, {
    name: 'w',
    version: '1',
    actionTimeoutSeconds: 0.25,
    state: ['total'],
    refusals: { sharpen_after: 2, stop_after: 9 },
  });
  assert.deepEqual(Object.keys(actions), ['order', 'look', 'pay', 'cancel']);
  const { operation_key, ...pay } = actions['pay'] ?? {};
  assert.deepEqual(pay, {
    tool: 'shop/pay',
    effect: 'keyed',
    dedupe_window_seconds: 3_600,
    timeout_seconds: 5,
    overlap: false,
  });
  assert.equal(operation_key?.({ order: 'o1' }), 'o1');
  assert.throws(() => operation_key?.({}), { name: 'ExpressionError' });
  const { run, validators = [], effect } = actions['order'] ?? {};
  assert.equal(effect, 'pure');
  assert.deepEqual(await run?.({ drink: 'oat' }, { context: { total: 3 } }), { ordered: 'oat', before: 3 });
  assert.deepEqual(await actions['cancel']?.run?.({}, { context: {} }), {});
  const complaints = validators.map((check) => check({ drink: 'moon', price: 200 }, { context: { total: 0 } }));
  assert.deepEqual(complaints, [{ field: 'drink', reason: 'drink must be one of: oat, soy' }, { reason: 'too much' }]);
  assert.deepEqual(
    validators.map((check) => check({ drink: 'oat', price: 1 }, { context: { total: 0 } })),
    [undefined, undefined],
  );
});

test('steps, updates, guards and timers do what is written', () => {
  const { machine } = compile(coffee);
  let at = moved(machine.start(0));
  assert.deepEqual([at.value, machine.next(at)], ['idle', ['order']]);
  at = moved(machine.apply(at, 'order', { drink: 'oat', price: 3 }, {}, 0));
  assert.deepEqual([at.value, at.context], ['ordering', { total: 3, drinks: ['oat'], paid_at: null }]);
  at = moved(machine.apply(at, 'order', { drink: 'soy', price: 1.5 }, {}, 0));
  assert.deepEqual([at.value, at.context['total']], ['ordering', 4.5]);
  assert.deepEqual(moved(machine.apply(at, 'look', {}, {}, 0)), at);
  assert.deepEqual(machine.reach(at, 'pay'), { kind: 'depends' });
  assert.deepEqual(machine.reachWith(at, 'pay', { amount: 4.5 }), { kind: 'yes' });
  assert.deepEqual(machine.reachWith(at, 'pay', { amount: 4 }), {
    kind: 'no',
    blockedBy: [
      { from: 'ordering', to: 'paid', guard: 'context.total > 0 && inputs.amount >= context.total' },
      { from: 'ordering', to: 'idle', guard: 'inputs.amount < 0' },
    ],
  });
  const paid = moved(machine.apply(at, 'pay', { amount: 5 }, { at: 'noon' }, 0));
  assert.deepEqual([paid.value, paid.done, paid.context['paid_at']], ['paid', true, 'noon']);
  const [timer] = at.timers;
  assert.equal(timer?.dueAtMs, 1_800_000);
  if (timer !== undefined)
    assert.deepEqual(moved(machine.fire(at, timer, 0)).context, { total: 0, drinks: ['oat', 'soy'], paid_at: null });
});

test('a guard that fails is broken by the name of its text, an assign that fails moves nothing', () => {
  const { machine } = compile(coffee);
  const at = moved(machine.apply(moved(machine.start(0)), 'order', { drink: 'oat', price: 3 }, {}, 0));
  const broken = machine.reachWith(at, 'pay', {});
  assert.equal(broken.kind, 'broken');
  assert.equal(broken.kind === 'broken' && broken.guard, 'context.total > 0 && inputs.amount >= context.total');
  const failed = machine.apply(at, 'pay', { amount: 5 }, {}, 0);
  assert.deepEqual([failed.kind, failed.kind === 'failed' && failed.errorType], ['failed', 'ExpressionError']);
});

test('a guard that does not come to the inputs is judged without them', () => {
  const { machine } = compile(`
context: { ready: false }
initial: a
actions: { go: {}, get_ready: { update: { ready: "true" } } }
states:
  a: { on: { go: { target: b, guard: context.ready && inputs.n > 1 }, get_ready: {} } }
  b: { type: final }
`);
  const at = moved(machine.start(0));
  assert.equal(machine.reach(at, 'go').kind, 'no');
  assert.equal(machine.reach(moved(machine.apply(at, 'get_ready', {}, {}, 0)), 'go').kind, 'depends');
});

test('a guard lets a signal of the inputs through unchanged, and asks for them only when it comes to them', () => {
  const { written } = read(`
context: { ready: false }
initial: a
actions: { go: {} }
states: { a: { on: { go: { target: a, guard: context.ready && inputs.n > 1 } } } }
`);
  const guard = written?.machine.implementations.guards['context.ready && inputs.n > 1'] as (args: object) => boolean;
  const signal = { private: true };
  const event = {
    get inputs(): never {
      throw signal;
    },
  };
  assert.equal(guard({ context: { ready: false }, event }), false);
  let thrown: unknown;
  try {
    guard({ context: { ready: true }, event });
  } catch (error) {
    thrown = error;
  }
  assert.equal(thrown, signal);
});

test('nested, parallel and history states, and targets from the root', () => {
  const { machine, graph } = compile(`
initial: work
on: { abort: stopped }
actions: { next: {}, pause: {}, resume: {}, left: {}, right: {}, abort: {} }
states:
  work:
    initial: one
    on: { pause: paused }
    states:
      one: { on: { next: two } }
      two: { on: { next: sides } }
      back: { type: history, history: deep, target: one }
  paused: { on: { resume: work.back } }
  sides:
    type: parallel
    on_done: stopped
    states:
      l: { initial: open, states: { open: { on: { left: shut } }, shut: { type: final } } }
      r: { initial: open, states: { open: { on: { right: shut } }, shut: { type: final } } }
  stopped: { type: final }
`);
  let at = moved(machine.start(0));
  for (const action of ['next', 'pause', 'resume']) at = moved(machine.apply(at, action, {}, {}, 0));
  assert.deepEqual(at.value, { work: 'two' });
  at = moved(machine.apply(at, 'next', {}, {}, 0));
  assert.deepEqual([at.value, machine.next(at)], [{ sides: { l: 'open', r: 'open' } }, ['left', 'right', 'abort']]);
  for (const action of ['left', 'right']) at = moved(machine.apply(at, action, {}, {}, 0));
  assert.equal(at.done, true);
  assert.ok(graph.edges.some(({ kind, to }) => kind === 'done' && to?.[0] === 'stopped'));
});

const wrong: readonly (readonly [what: string, text: string, problem: string])[] = [
  [
    'a guard over the result',
    'guard: result.ok',
    'this expression is wrong: there is no variable result here; there are context, inputs',
  ],
  [
    'a guard over no field of the context',
    'guard: context.totl > 1',
    'this expression is wrong: there is no field totl; did you mean total?',
  ],
  [
    'a guard over no input of the action',
    'guard: inputs.amonut > 1',
    'this expression is wrong: there is no field amonut; did you mean amount?',
  ],
  [
    'a guard that gives a number',
    'guard: inputs.amount + 1',
    'this expression is wrong: it must give a true or false, and gives a value of type double',
  ],
];

for (const [what, guard, problem] of wrong) {
  test(`${what} is refused`, () => {
    const schema = '{ type: object, properties: { amount: { type: number } }, additionalProperties: false }';
    const { written, problems } = read(`
context: { total: 1 }
initial: a
actions: { go: { input: ${schema} } }
states: { a: { on: { go: { target: a, ${guard} } } } }
`);
    assert.equal(written, null);
    assert.deepEqual(
      problems.map((each) => each.replace(/^\S+ /, '')),
      [problem],
    );
  });
}

test('what its parts say of each other must fit', () => {
  const { problems } = read(`
context: { total: 1 }
state: [totl]
actions:
  go: { input: { type: nonsense } }
  idle: {}
  both: { tool: shop/x, result: "1", effect: keyed, atomic: true }
states:
  a: { initial: b, on: { go: elsewhere, both: .b }, after: { 60s: a, 1m: a } }
  h: { type: history, on: { go: a } }
  p: { type: parallel }
  e: { on_done: a, entry: { assign: { total: inputs.n } } }
`);
  assert.deepEqual(problems, [
    "3:9 the context has no field 'totl'",
    '5:16 this schema cannot be used: /type must be equal to one of the allowed values',
    "6:3 no state has an edge for the action 'idle'",
    '7:25 an action with a tool gets its result from it',
    '7:38 effect: keyed and dedupe_window belong together',
    '7:53 an action with a tool cannot say what its failures have done',
    "9:3 'initial' is missing beside these states",
    "9:8 'initial' has no meaning in a state without states",
    "9:30 there is no state 'elsewhere'",
    "9:47 there is no state '.b'",
    "9:70 '1m' stands here twice",
    "10:23 'on' has no meaning in a history state",
    '11:6 a parallel state without states',
    "12:8 'on_done' has no meaning in a state without states",
    '12:46 this expression is wrong: there is no variable inputs here; there is context',
  ]);
});

test('states of which none has a usable name are told by their names alone', () => {
  const { problems } = read(`
initial: in progress
actions: { go: {} }
states: { in progress: { on: { go: all done } }, all done: { type: final } }
`);
  assert.deepEqual(problems, [
    '2:10 "in progress" is not usable here',
    "4:11 'in progress' is not usable as a name here",
    "4:50 'all done' is not usable as a name here",
  ]);
});

test('for proofs a guard asks what its expression says', () => {
  const { graph } = compile(`
context: { open: false, left: 3 }
initial: idle
actions: { sell: {}, wait: {} }
states:
  idle:
    on:
      sell:
        - { target: sold, guard: context.open }
        - { target: queued, guard: context.left > 0 }
        - { target: idle, guard: "true" }
      wait: { target: sold, guard: "!context.open" }
  sold: { type: final }
  queued: { type: final }
`);
  const asks = graph.edges.map((edge) => edge.asks);
  assert.deepEqual(asks, ['context.open', 'context.left > 0', 'true', '!context.open']);
  assert.deepEqual(analyseWorkflow(graph).findings, []);
});

test('another expression makes another machine', () => {
  const writtenWith = (from: string, to: string) => compile(coffee.replace(from, to)).written;
  const before = writtenWith('', '');
  assert.deepEqual(writtenWith('', ''), before);
  assert.notDeepEqual(writtenWith('inputs.amount < 0', 'inputs.amount < -1'), before);
  assert.notDeepEqual(writtenWith('result.at', 'result.when'), before);
  assert.notDeepEqual(writtenWith('total: "0"', 'total: "1"'), before);
});
