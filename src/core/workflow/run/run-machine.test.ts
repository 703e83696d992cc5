import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assign, createMachine, raise, setup, type AnyStateMachine } from 'xstate';
import type { Json, JsonObject } from '../../values/json.ts';
import { canonicalText } from '../../values/canonical.ts';
import { compileMachine } from '../compile-machine.ts';
import type { Update } from './run-machine.ts';
import type { Machine, Moved, Snapshot } from '../workflow.ts';

interface Args {
  readonly context: JsonObject & { readonly n: number; readonly seen: readonly Json[] };
  readonly event: { readonly type: string; readonly inputs: JsonObject; readonly result: JsonObject };
}

function compile(machine: unknown, actions: Record<string, Update | null>, maxStateBytes = 8_192): Machine {
  const found = compileMachine(machine as AnyStateMachine, {
    name: 'x',
    actions: new Map(Object.entries(actions)),
    maxStateBytes,
  });
  assert.ok(found.ok, found.ok ? '' : found.problems.join('\n'));
  return found.machine;
}

function moved(result: Moved): Snapshot {
  assert.ok(result.kind === 'moved', JSON.stringify(result));
  return result.snapshot;
}

function failed(result: Moved): string {
  assert.ok(result.kind === 'failed', JSON.stringify(result));
  return `${result.errorType}: ${result.problem}`;
}

const see = (what: string) => assign({ seen: ({ context }: Args) => [...context.seen, what] } as never);

/** One action `go` with this assign, in one state. */
function assigning(actions: unknown, update: Update | null = null, context: object = { n: 1 }) {
  const config = {
    context,
    initial: 'a',
    states: { a: { on: { go: { actions, target: 'b' } } }, b: { on: { go: 'a' } } },
  };
  const machine = compile(createMachine(config as never), { go: update });
  const start = moved(machine.start(0));
  return { start, result: machine.apply(start, 'go', { i: 1 }, { r: 2 }, 0) };
}

test('a step runs the update after the guards and before the actions of its edge', () => {
  const config = {
    context: { seen: [] },
    initial: 'a',
    states: {
      a: {
        exit: see('exit'),
        on: { go: { guard: ({ context }: Args) => context.seen.length === 0, target: 'b', actions: see('edge') } },
      },
      b: { entry: see('entry'), always: { target: 'c', actions: see('always') } },
      c: { entry: [see('c'), raise({ type: 'done' })], on: { done: { actions: see('raised') } } },
    },
  };
  const update: Update = ({ context, inputs, result }) => ({
    seen: [...(context['seen'] as Json[]), 'update', inputs, result],
  });
  const machine = compile(createMachine(config as never), { go: update });
  const end = moved(machine.apply(moved(machine.start(0)), 'go', { i: 1 }, { r: 2 }, 0));
  assert.deepEqual(end.context['seen'], [
    'exit',
    'update',
    { i: 1 },
    { r: 2 },
    'edge',
    'entry',
    'always',
    'c',
    'raised',
  ]);
  assert.equal(end.value, 'c');
});

test('an update runs once when two regions take the step, and not for an event of that name that is raised', () => {
  const region = { initial: 'one', states: { one: { on: { go: 'two' } }, two: { on: { again: 'two' } } } };
  const config = { context: { n: 0 }, type: 'parallel', states: { z: region, a: region } };
  const machine = compile(createMachine(config as never), {
    go: ({ context }) => ({ n: (context['n'] as number) + 1 }),
    again: null,
  });
  const end = moved(machine.apply(moved(machine.start(0)), 'go', {}, {}, 0));
  assert.deepEqual([end.value, end.context], [{ a: 'two', z: 'two' }, { n: 1 }]);
  const raising = {
    context: { n: 0 },
    initial: 'a',
    states: { a: { on: { start: { target: 'b', actions: raise({ type: 'go' }) } } }, b: { on: { go: 'a' } } },
  };
  const other = compile(createMachine(raising as never), { start: null, go: () => assert.fail('no step') });
  assert.equal(moved(other.apply(moved(other.start(0)), 'start', {}, {}, 0)).value, 'a');
  const late = { initial: 'a', states: { a: { entry: raise({ type: 'go' }, { delay: 5 }), on: { go: 'b' } }, b: {} } };
  const third = compile(createMachine(late as never), { go: () => assert.fail('no step') });
  const waits = moved(third.start(0));
  assert.equal(moved(third.fire(waits, waits.timers[0] as never, 5)).value, 'b');
});

const wrong: readonly (readonly [string, unknown, RegExp])[] = [
  ['throws', () => assert.fail('boom'), /^AssertionError: assign of edge 'go' of state 'a': boom/],
  [
    'throws a text',
    () => {
      throw 'boom';
    },
    /^NonError: .*boom/,
  ],
  ['makes a Map', () => ({ n: new Map() }), /^NotJson: .*'\/n' must be plain JSON, and is a Map/],
  ['makes a Date', () => ({ n: [new Date(0)] }), /'\/n\/0' must be plain JSON, and is a Date/],
  ['makes NaN', () => ({ n: Number.NaN }), /'\/n' must be plain JSON, and is NaN/],
  ['makes undefined', () => ({ n: undefined }), /'\/n' must be plain JSON, and is undefined/],
  ['makes a function', () => ({ n: () => 1 }), /'\/n' must be plain JSON, and is a function/],
  ['makes a bigint', () => ({ n: 1n }), /is a bigint/],
  ['makes a promise', async () => ({ n: 1 }), /is a Promise/],
  ['makes a list', () => [1], /it must be an object/],
  ['makes __proto__', () => JSON.parse('{"__proto__": 1}'), /__proto__/],
  ['changes the context', ({ context }: Args) => ((context as { n: number }).n = 2), /^TypeError: /],
  ['changes the inputs', ({ event }: Args) => ((event.inputs as { i: number }).i = 2), /^TypeError: /],
  ['asks for spawn', (args: { spawn: () => object }) => ({ n: args.spawn() }), /'spawn' does not exist in a workflow/],
  ['outgrows the state', () => ({ n: 'x'.repeat(9_000) }), /more than fits into the state/],
];

for (const [name, assignment, expected] of wrong) {
  test(`an assign or update that ${name} fails by its name, and nothing moves`, () => {
    const { start, result } = assigning(assign(assignment as never));
    assert.match(failed(result), expected);
    assert.deepEqual(start.context, { n: 1 });
    if (/spawn|inputs|context/.test(name)) return;
    const updated = assigning([], assignment as Update).result;
    assert.match(failed(updated), /: update of 'go': /);
  });
}

test('a cycle is refused, and a state that many small steps make too large', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  assert.match(failed(assigning(assign(cycle as never)).result), /a cycle/);
  const double = ({ context }: Args) => ({ seen: [context.seen, context.seen] });
  const config = {
    context: { seen: ['x'] },
    initial: 'a',
    states: { a: { on: { go: { actions: assign(double as never) } } } },
  };
  const machine = compile(createMachine(config as never), { go: null });
  let last = machine.start(0);
  for (let count = 0; count < 30 && last.kind === 'moved'; count++)
    last = machine.apply(last.snapshot, 'go', {}, {}, 0);
  assert.match(failed(last), /more than fits|the limit is 8192/);
});

test('what never rests ends, in a step as at the start', () => {
  const loop = { initial: 'a', states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'b' } } };
  const machine = compile(createMachine(loop as never), { go: null });
  assert.match(failed(machine.apply(moved(machine.start(0)), 'go', {}, {}, 0)), /^EndlessLoop: .*1000 microsteps/);
  const raising = {
    initial: 'a',
    states: { a: { on: { go: 'b' } }, b: { entry: raise({ type: 'x' }), on: { x: { target: 'b', reenter: true } } } },
  };
  const other = compile(createMachine(raising as never), { go: null });
  assert.match(failed(other.apply(moved(other.start(0)), 'go', {}, {}, 0)), /^EndlessLoop/);
});

test('a guard that changes its mind between judging and taking is a failure, not a silent no', () => {
  let asked = 0;
  const go = { guard: () => asked++ === 0, target: 'b' };
  const machine = compile(createMachine({ initial: 'a', states: { a: { on: { go } }, b: {} } } as never), { go: null });
  const start = moved(machine.start(0));
  assert.equal(machine.reachWith(start, 'go', {}).kind, 'yes');
  assert.match(failed(machine.apply(start, 'go', {}, {}, 0)), /^NotTaken/);
});

const waiting = setup({
  types: { context: {} as { n: number } },
  delays: { soon: ({ context }) => context.n * 10, later: 5_000 },
}).createMachine({
  context: { n: 3 },
  initial: 'a',
  states: {
    a: {
      after: { 1000: 'b', soon: { guard: () => false, target: 'b' } },
      on: { go: 'b', again: { target: 'a', reenter: true } },
    },
    b: { entry: raise({ type: 'tick' }, { delay: 'later' as never }), on: { tick: 'c', back: 'a', stop: 'c' } },
    c: { type: 'final' },
  },
} as never);

test('timers are absolute, in order, cancelled when their state is left, and gone at the end', () => {
  const machine = compile(waiting, { go: null, again: null, back: null, stop: null });
  const start = moved(machine.start(100));
  assert.deepEqual(
    start.timers.map(({ id, dueAtMs }) => [id, dueAtMs]),
    [
      ['xstate.after.soon.workflow.a', 130],
      ['xstate.after.1000.workflow.a', 1_100],
    ],
  );
  const again = moved(machine.apply(start, 'again', {}, {}, 200));
  assert.deepEqual(
    again.timers.map(({ dueAtMs }) => dueAtMs),
    [230, 1_200],
  );
  const [soon, later] = again.timers;
  assert.ok(soon !== undefined && later !== undefined);
  const unmoved = moved(machine.fire(again, soon, 230));
  assert.deepEqual([unmoved.value, unmoved.timers.length], ['a', 1]);
  const fired = moved(machine.fire(unmoved, later, 1_200));
  assert.deepEqual([fired.value, fired.timers.map(({ id, dueAtMs }) => [id, dueAtMs])], ['b', [['raise.1', 6_200]]]);
  assert.deepEqual(moved(machine.apply(fired, 'stop', {}, {}, 1_300)).timers, []);
  const [tick] = fired.timers;
  assert.ok(tick !== undefined);
  assert.deepEqual(moved(machine.fire(fired, tick, 6_200)), {
    value: 'c',
    context: { n: 3 },
    done: true,
    history: {},
    timers: [],
  });
});

test('a timer that was cancelled or set anew in the meantime moves nothing', () => {
  const machine = compile(waiting, { go: null, again: null, back: null, stop: null });
  const start = moved(machine.start(100));
  const [first] = start.timers;
  assert.ok(first !== undefined);
  const again = moved(machine.apply(start, 'again', {}, {}, 200));
  assert.equal(moved(machine.fire(again, first, 300)), again);
  const gone = moved(machine.apply(start, 'go', {}, {}, 200));
  assert.equal(moved(machine.fire(gone, first, 300)), gone);
});

test('history is remembered as plain JSON, shallow and deep', () => {
  const child = { initial: 'x', states: { x: { on: { deeper: 'y' } }, y: {} } };
  const config = {
    initial: 'work',
    states: {
      work: {
        initial: 'one',
        states: {
          one: { on: { next: 'two' } },
          two: child,
          h: { type: 'history', history: 'deep' },
          s: { type: 'history' },
        },
        on: { pause: 'rest' },
      },
      rest: { on: { resume: 'work.h', restart: 'work.s' } },
    },
  };
  const machine = compile(createMachine(config as never), {
    next: null,
    deeper: null,
    pause: null,
    resume: null,
    restart: null,
  });
  let state = moved(machine.start(0));
  for (const action of ['next', 'deeper', 'pause']) state = moved(machine.apply(state, action, {}, {}, 0));
  assert.deepEqual(state.history, { 'work.h': ['work.two.y'], 'work.s': ['work.two'] });
  const stored = JSON.parse(canonicalText(state)) as Snapshot;
  assert.deepEqual(moved(machine.apply(stored, 'resume', {}, {}, 0)).value, { work: { two: 'y' } });
  assert.deepEqual(moved(machine.apply(stored, 'restart', {}, {}, 0)).value, { work: { two: 'x' } });
  assert.equal(machine.problemWith(stored), null);
  assert.match(machine.problemWith({ ...stored, history: { 'work.h': ['gone'] } }) ?? '', /remembers 'gone'/);
});

test('a snapshot of another version is told by what does not fit', () => {
  const machine = compile(waiting, { go: null, again: null, back: null, stop: null });
  const start = moved(machine.start(0));
  const odd: readonly (readonly [object, RegExp])[] = [
    [{ value: 'z' }, /its state "z" does not exist here/],
    [{ value: { a: {} } }, /does not exist here/],
    [{ value: 'c' }, /its state is final here/],
    [{ done: true }, /its state is not final here/],
    [{ context: [] }, /its context is not an object/],
    [{ timers: [{ id: 'x', event: { type: 'xstate.after.7.workflow.a' }, dueAtMs: 1 }] }, /which nothing handles here/],
  ];
  assert.equal(machine.problemWith(start), null);
  for (const [more, expected] of odd) assert.match(machine.problemWith({ ...start, ...more } as never) ?? '', expected);
});

test('a snapshot is frozen to its depths, and a context that is not ours is not changed', () => {
  const { result } = assigning(assign({ n: { deep: [1] } } as never));
  const snapshot = moved(result);
  const deep = snapshot.context['n'] as { deep: Json[] };
  assert.ok([snapshot, snapshot.context, deep, deep.deep].every((part) => Object.isFrozen(part)));
  const machine = compile(waiting, { go: null, again: null, back: null, stop: null });
  const stored = JSON.parse(canonicalText(moved(machine.start(0)))) as Snapshot;
  machine.next(stored);
  assert.equal(Object.isFrozen(stored.context), false);
});
