import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMachine, raise, setup, type AnyStateMachine } from 'xstate';
import { canonicalText } from '../../values/canonical.ts';
import type { Json, JsonObject } from '../../values/json.ts';
import { compileMachine } from '../compile-machine.ts';
import type { Machine, Moved, Position, Snapshot } from '../workflow.ts';

interface Version {
  readonly machine: Machine;
  readonly written: Json;
}

function compile(machine: unknown, actions: readonly string[] = ['go'], maxStateBytes = 8_192): Version {
  const found = compileMachine(machine as AnyStateMachine, {
    name: 'x',
    actions: new Map(actions.map((action) => [action, null])),
    maxStateBytes,
  });
  assert.ok(found.ok, found.ok ? '' : found.problems.join('\n'));
  // As a manifest keeps it.
  return { machine: found.machine, written: JSON.parse(canonicalText(found.written)) as Json };
}

function moved(result: Moved): Snapshot {
  assert.ok(result.kind === 'moved', JSON.stringify(result));
  return result.snapshot;
}

const failed = (result: Moved): string => (result.kind === 'failed' ? `${result.errorType}: ${result.problem}` : '');

const timersOf = ({ timers }: Snapshot) =>
  Object.fromEntries(timers.map(({ id, dueAtMs }) => [id.replace('xstate.after.', ''), dueAtMs]));

/** Two states that can wait, and the delays of each; `go` leads from one to the other. */
const two = (a: readonly (number | string)[], b: readonly (number | string)[] = [], delays: object = {}) => {
  const after = (list: readonly (number | string)[], target: string) =>
    Object.fromEntries(list.map((delay) => [delay, target]));
  const states = { a: { after: after(a, 'b'), on: { go: 'b' } }, b: { after: after(b, 'a'), on: { go: 'a' } } };
  return compile(setup({ delays } as never).createMachine({ initial: 'a', context: { n: 2 }, states } as never));
};

/** Three regions: one that moves, one that stays, and one with a state inside a state; the root waits too. */
const deep = compile(
  createMachine({
    type: 'parallel',
    context: {},
    after: { 900: { actions: [raise({ type: 'go' })] } },
    states: {
      moves: { initial: 'x', states: { x: { after: { 100: 'y' }, on: { go: 'y' } }, y: { after: { 200: 'x' } } } },
      stays: { initial: 'x', states: { x: { after: { 300: 'y' } }, y: {} } },
      nested: {
        initial: 'outer',
        states: {
          outer: {
            after: { 400: 'gone' },
            initial: 'x',
            states: { x: { after: { 500: 'y' }, on: { go: 'y' } }, y: { after: { 600: 'x' } } },
          },
          gone: {},
        },
      },
    },
  } as never),
);
const standing: Json = { moves: 'x', stays: 'x', nested: { outer: 'x' } };

const soon = (soon: unknown) => two(['soon'], [], { soon });
const carried: readonly {
  readonly what: string;
  readonly from: Version;
  readonly to: Version;
  readonly value: Json;
  readonly timers: Readonly<Record<string, number>>;
}[] = [
  {
    what: 'a state that it stood in already keeps its time, due or not',
    from: two([100, 9_000]),
    to: two([100, 9_000]),
    value: 'a',
    timers: { '100.workflow.a': 1_100, '9000.workflow.a': 10_000 },
  },
  {
    what: 'a delay that became another begins now',
    from: two([9_000]),
    to: two([8_000]),
    value: 'a',
    timers: { '8000.workflow.a': 13_000 },
  },
  { what: 'a delay that does not exist any more is gone', from: two([9_000]), to: two([]), value: 'a', timers: {} },
  {
    what: 'a delay that did not exist begins now, beside one that did',
    from: two([9_000]),
    to: two([9_000, 50]),
    value: 'a',
    timers: { '50.workflow.a': 5_050, '9000.workflow.a': 10_000 },
  },
  {
    what: 'a state that it enters begins now, and the one that it leaves is over',
    from: two([9_000], [700]),
    to: two([9_000], [700]),
    value: 'b',
    timers: { '700.workflow.b': 5_700 },
  },
  {
    what: 'a named delay keeps its time',
    from: soon(9_000),
    to: soon(9_000),
    value: 'a',
    timers: { 'soon.workflow.a': 10_000 },
  },
  {
    what: 'a name that means another delay begins now',
    from: soon(9_000),
    to: soon(9_001),
    value: 'a',
    timers: { 'soon.workflow.a': 14_001 },
  },
  {
    what: 'a delay with the same code keeps its time, whatever the context has become',
    from: soon(({ context }: { context: { n: number } }) => context.n * 1_000),
    to: soon(({ context }: { context: { n: number } }) => context.n * 1_000),
    value: 'a',
    timers: { 'soon.workflow.a': 3_000 },
  },
  {
    what: 'a delay with other code begins now, by the context that it was given',
    from: soon(({ context }: { context: { n: number } }) => context.n * 1_000),
    to: soon(({ context, event }: { context: { n: number }; event: { type: string } }) =>
      event.type === 'xstate.init' ? context.n * 1_000 + 0.5 : 0,
    ),
    value: 'a',
    timers: { 'soon.workflow.a': 12_001 },
  },
  {
    what: 'of regions, states inside states and the root each keeps or begins its own',
    from: deep,
    to: deep,
    value: { moves: 'y', stays: 'x', nested: { outer: 'y' } },
    timers: {
      '300.workflow.stays.x': 1_300,
      '400.workflow.nested.outer': 1_400,
      '900.workflow': 1_900,
      '200.workflow.moves.y': 5_200,
      '600.workflow.nested.outer.y': 5_600,
    },
  },
  {
    what: 'a state around it that is left takes the delays of those inside along',
    from: deep,
    to: deep,
    value: { moves: 'x', stays: 'y', nested: 'gone' },
    timers: { '100.workflow.moves.x': 1_100, '900.workflow': 1_900 },
  },
];

for (const { what, from, to, value, timers } of carried)
  test(`a session that is carried over: ${what}`, () => {
    const snapshot = moved(from.machine.start(1_000));
    const context: JsonObject = { n: 7 };
    const entered = moved(to.machine.enterAt({ snapshot, machine: from.written }, { value, context }, 5_000));
    assert.deepEqual([entered.value, entered.context, timersOf(entered)], [value, context, timers]);
    assert.deepEqual(
      entered.timers.map(({ id, dueAtMs }) => [id.replace('xstate.after.', ''), dueAtMs]),
      Object.entries(timers),
      'the first one is due first',
    );
    assert.ok([entered, entered.value, entered.context, entered.timers].every((part) => Object.isFrozen(part)));
    assert.equal(to.machine.problemWith(entered), null);
    // Every one of them is a timer that the machine takes as its own.
    for (const timer of entered.timers) assert.notEqual(moved(to.machine.fire(entered, timer, 9_999)), entered);
  });

test('where nothing is known of the machine before, every delay begins now, as at the start', () => {
  const { machine } = deep;
  const snapshot = moved(machine.start(1_000));
  const unknown: readonly Json[] = [null, 'x', {}, { root: { edges: [1, { kind: 'after' }], states: [7, ['x']] } }];
  for (const earlier of unknown) {
    const entered = moved(machine.enterAt({ snapshot, machine: earlier }, { value: standing, context: {} }, 5_000));
    assert.deepEqual(entered, moved(machine.start(5_000)));
  }
});

test('a delay that has fired and led nowhere does not run again until its state is entered anew', () => {
  const config = (more: object) => ({
    initial: 'a',
    context: {},
    states: { a: { after: { 100: { guard: () => false, target: 'b' }, ...more }, on: { go: 'b' } }, b: {} },
  });
  const first = compile(createMachine(config({}) as never));
  const second = compile(createMachine(config({ 300: 'b' }) as never));
  const start = moved(first.machine.start(0));
  const fired = moved(first.machine.fire(start, start.timers[0] as never, 100));
  assert.deepEqual([fired.value, fired.timers], ['a', []]);
  const once = moved(second.machine.enterAt({ snapshot: fired, machine: first.written }, fired, 1_000));
  assert.deepEqual(timersOf(once), { '300.workflow.a': 1_300 });
  const twice = moved(second.machine.enterAt({ snapshot: once, machine: second.written }, once, 1_200));
  assert.deepEqual(twice, once);
});

test('what an action raised with a delay belongs to no state: it goes on waiting, if anything handles it', () => {
  const config = (on: object) => ({
    initial: 'a',
    context: {},
    states: { a: { entry: raise({ type: 'tick' }, { delay: 100 }), after: { 50: 'b' }, on: { go: 'b' } }, b: { on } },
  });
  const first = compile(createMachine(config({ tick: 'a' }) as never));
  const snapshot = moved(first.machine.start(0));
  const earlier = { snapshot, machine: first.written };
  assert.deepEqual(timersOf(moved(first.machine.enterAt(earlier, { value: 'b', context: {} }, 10))), {
    'raise.1': 100,
  });
  // Put back where it was, it is not entered again: `entry` raises nothing.
  const there = moved(first.machine.enterAt(earlier, { value: 'a', context: {} }, 10));
  assert.deepEqual(timersOf(there), { '50.workflow.a': 50, 'raise.1': 100 });
  const deaf = compile(
    createMachine({ initial: 'a', context: {}, states: { a: { on: { go: 'b' } }, b: {} } } as never),
  );
  assert.match(
    failed(deaf.machine.enterAt(earlier, { value: 'b', context: {} }, 10)),
    /waits for 'tick', which nothing/,
  );
});

test('a session that has ended waits for nothing, although its root would', () => {
  const config = (after: object) => ({
    initial: 'a',
    context: {},
    after,
    states: { a: { on: { go: 'b' } }, b: { type: 'final' } },
  });
  const first = compile(createMachine(config({}) as never));
  const second = compile(createMachine(config({ 100: '.a' }) as never));
  const snapshot = moved(first.machine.apply(moved(first.machine.start(0)), 'go', {}, {}, 1));
  assert.deepEqual(moved(second.machine.enterAt({ snapshot, machine: first.written }, snapshot, 10)).timers, []);
});

test('what cannot be entered is told by its name, and never thrown', () => {
  const from = two([100]);
  const snapshot = moved(from.machine.start(0));
  const enter = (to: Version, position: object, earlier: object = snapshot) =>
    failed(to.machine.enterAt({ snapshot: earlier as Snapshot, machine: from.written }, position as Position, 10));
  const here = { value: 'a', context: {} };
  assert.match(enter(from, { ...here, value: 'z' }), /^UnknownState: its state "z" does not exist here/);
  assert.match(enter(from, { ...here, context: [] }), /its context is not an object/);
  assert.match(enter(from, here, { ...snapshot, timers: 'none' }), /its timers are not a list/);
  assert.match(enter(from, here, { ...snapshot, timers: [null] }), /one of its timers has no event/);
  assert.match(enter(from, here, { ...snapshot, done: true }), /its state is not final here/);
  assert.match(enter(from, { ...here, context: { n: 'x'.repeat(9_000) } }), /more than fits into the state/);
  assert.match(enter(from, { ...here, context: { n: 'ä'.repeat(8_000) } }), /^StateTooLarge: .*the limit is 8192/);
  const broken = two(['soon'], [], {
    soon: ({ context }: { context: { n?: number } }) => context.n ?? assert.fail('no'),
  });
  assert.match(enter(broken, here), /^AssertionError: delay of after soon of state 'a', delay 'soon': no/);
  const many = two(
    [],
    Array.from({ length: 257 }, (_, index) => index),
  );
  assert.match(enter(many, { ...here, value: 'b' }), /^TooManyTimers: 257 timers wait/);
});
