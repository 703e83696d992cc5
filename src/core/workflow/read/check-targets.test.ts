import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMachine, type AnyStateMachine } from 'xstate';
import { compileMachine } from '../compile-machine.ts';

function compile(config: unknown, ...actions: readonly string[]) {
  const machine = createMachine(config as never) as AnyStateMachine;
  return compileMachine(machine, { name: 'x', actions: new Map(actions.map((name) => [name, null])) });
}

/** From `s` the action `go` leads to these targets; a second one enters everything, so that nothing is out of reach. */
const leading = (target: unknown) =>
  compile(
    {
      id: 'm',
      initial: 's',
      on: { any: ['.a', '.a.b', '.a.h', '.p', '.p.h', '.p.l.h', '.p.l.y', '.p.r.y'].map((each) => ({ target: each })) },
      states: {
        s: { on: { go: { target } } },
        a: { initial: 'c', states: { b: {}, c: {}, h: { type: 'history' } } },
        p: {
          type: 'parallel',
          states: {
            l: { initial: 'x', states: { x: {}, y: {}, h: { type: 'history' } } },
            r: { initial: 'x', states: { x: {}, y: {} } },
            h: { type: 'history' },
          },
        },
      },
    },
    'go',
    'any',
  );

for (const [target, first, second] of [
  [['a.b', 'a.c'], 'a.b', 'a.c'],
  [['a', 's'], 'a', 's'],
  [['a', 'a.b'], 'a', 'a.b'],
  [['p.l.y', 'p.r.y', 'a'], 'p.l.y', 'a'],
  [['p.l.x', 'p.l.y'], 'p.l.x', 'p.l.y'],
  [['p.h', 'p.l.y'], 'p.h', 'p.l.y'],
  [['a.h', 'a.b'], 'a.h', 'a.b'],
] as const) {
  test(`an edge to ${target.join(' and ')} is refused: both cannot be active`, () => {
    const found = leading(target);
    const problem = `edge 'go' of state 's': its targets '${first}' and '${second}' cannot be active together; name one, or one of each region`;
    assert.deepEqual(found.ok ? [] : found.problems, [problem]);
  });
}

for (const target of [['p.l.y', 'p.r.y'], ['p.l.h', 'p.r'], ['p.h'], ['a.h'], ['a', 'a']]) {
  test(`an edge to ${target.join(' and ')} is possible`, () => {
    const found = leading(target);
    assert.ok(found.ok, found.ok ? '' : found.problems.join('\n'));
    const start = found.machine.start(0);
    assert.ok(start.kind === 'moved');
    assert.equal(found.machine.apply(start.snapshot, 'go', {}, {}, 0).kind, 'moved');
  });
}

/** `back` leads from inside `p` to its own memory. */
const remembering = (memory: object, kind: object, from: object = {}) =>
  compile(
    {
      id: 'm',
      initial: 's',
      states: {
        s: { on: { go: 'p' } },
        p: { ...kind, states: { x: { on: { back: '#m.p.h' } }, y: {}, h: { type: 'history', ...memory } }, ...from },
      },
    },
    'go',
    'back',
  );

test('an edge to the memory of the state around it is refused where that would at first lead out of it', () => {
  const parallel = { type: 'parallel' };
  const compound = { initial: 'x', always: { target: '.y', guard: () => false } };
  const problem =
    "edge 'back' of state 'p.x': it leads from inside state 'p' to 'p.h', which at first leads out of there; give 'p.h' a target inside";
  for (const [memory, kind] of [
    [{}, parallel],
    [{ history: 'deep' }, parallel],
    [{ target: '#m.s' }, compound],
    [{ target: '#m.p' }, compound],
  ] as const) {
    const found = remembering(memory, kind);
    assert.deepEqual(found.ok ? [] : found.problems, [problem]);
  }
  for (const [memory, kind] of [
    [{ target: ['x', 'y'] }, parallel],
    [{}, compound],
    [{ target: 'y' }, compound],
  ] as const) {
    const found = remembering(memory, kind);
    assert.ok(found.ok, found.ok ? '' : found.problems.join('\n'));
    let now = found.machine.start(0);
    for (const action of ['go', 'back']) {
      assert.ok(now.kind === 'moved');
      now = found.machine.apply(now.snapshot, action, {}, {}, 0);
    }
    assert.ok(now.kind === 'moved');
    assert.equal(found.machine.problemWith(now.snapshot), null);
  }
});

test('a step that all the same ends in states which exclude each other fails by name, and is not kept', () => {
  const inner = { x: { on: { meet: '#memory' } }, h: { id: 'memory', type: 'history', history: 'deep' } };
  const found = compile(
    {
      type: 'parallel',
      states: {
        one: { on: { meet: '#other', leave: '#first' } },
        two: {
          initial: 'first',
          states: { first: { id: 'first', initial: 'x', states: inner }, other: { id: 'other' } },
        },
      },
    },
    'meet',
    'leave',
  );
  assert.ok(found.ok, found.ok ? '' : found.problems.join('\n'));
  const { machine } = found;
  const start = machine.start(0);
  assert.ok(start.kind === 'moved');
  const left = machine.apply(start.snapshot, 'leave', {}, {}, 0);
  assert.ok(left.kind === 'moved');
  const met = machine.apply(left.snapshot, 'meet', {}, {}, 0);
  assert.deepEqual(met, {
    kind: 'failed',
    errorType: 'ImpossibleState',
    problem: "its edges lead to states that cannot be active together: 'one', 'two.first.x', 'two.other'",
  });
});
