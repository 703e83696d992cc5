import assert from 'node:assert/strict';
import { test } from 'node:test';
import { and, createMachine, not, or, stateIn, type AnyStateMachine } from 'xstate';
import type { JsonObject } from '../../values/json.ts';
import { compileMachine } from '../compile-machine.ts';
import type { Machine, Snapshot } from '../workflow.ts';

interface Args {
  readonly context: JsonObject & { readonly n: number };
  readonly event: { readonly inputs: Record<string, number>; readonly result: Record<string, number> };
}

function compile(config: unknown, ...actions: readonly string[]): readonly [Machine, Snapshot] {
  const machine = createMachine(config as never) as AnyStateMachine;
  const found = compileMachine(machine, { name: 'x', actions: new Map(actions.map((name) => [name, null])) });
  assert.ok(found.ok, found.ok ? '' : found.problems.join('\n'));
  const started = found.machine.start(0);
  assert.ok(started.kind === 'moved');
  return [found.machine, started.snapshot];
}

/** One action `go` with these edges, from a to b. */
const going = (go: unknown) =>
  compile({ context: { n: 1 }, initial: 'a', states: { a: { on: { go } }, b: { on: { go: 'a' } } } }, 'go');
const guarded = (guard: unknown) => going({ guard, target: 'b' });

const reads = ({ event }: Args) => event.inputs['n'] === 1;

function swallowing(otherwise: () => boolean) {
  return ({ event }: Args) => {
    try {
      return event.inputs['n'] === 1;
    } catch {
      return otherwise();
    }
  };
}

const touches: readonly (readonly [string, (args: Args) => unknown])[] = [
  ['reads a field', reads],
  ['asks for a field', ({ event }) => 'n' in event.inputs],
  ['lists the fields', ({ event }) => Object.keys(event.inputs).length > 0],
  ['spreads', ({ event }) => ({ ...event.inputs })['n'] === 1],
  ['writes as JSON', ({ event }) => JSON.stringify(event.inputs) !== '{}'],
  ['writes the event as JSON', ({ event }) => JSON.stringify(event).includes('1')],
  [
    'destructures',
    ({
      event: {
        inputs: { n },
      },
    }) => n === 1,
  ],
  ['copies', ({ event }) => structuredClone(event.inputs)['n'] === 1],
  ['copies the event', ({ event }) => structuredClone(event).inputs['n'] === 1],
  ['asks what it is', ({ event }) => Object.getPrototypeOf(event.inputs) !== null && event.inputs['n'] === 1],
  ['swallows the signal and says no', swallowing(() => false)],
  ['swallows the signal and says yes', swallowing(() => true)],
  ['swallows the signal and throws', swallowing(() => assert.fail('x'))],
];

for (const [name, guard] of touches) {
  test(`a guard that ${name} depends on the inputs`, () => {
    const [machine, start] = guarded(guard);
    assert.deepEqual(machine.reach(start, 'go'), { kind: 'depends' });
    assert.deepEqual(machine.next(start), ['go']);
    assert.equal(machine.reachWith(start, 'go', { n: 1 }).kind, 'yes');
    assert.equal(machine.reachWith(start, 'go', {}).kind, 'no');
  });
}

test('a guard that does not look into the inputs does not depend on them', () => {
  const [machine, start] = guarded(({ context, event }: Args) => context.n === 1 || event.inputs['n'] === 1);
  assert.equal(machine.reach(start, 'go').kind, 'yes');
});

const never = () => false;

const combined: readonly (readonly [string, unknown, string])[] = [
  ['a no before it decides', and([never, reads] as never), 'no'],
  ['a no after it decides', and([reads, never] as never), 'no'],
  ['or leaves it open', or([never, reads] as never), 'depends'],
  ['a yes after it may still break', or([reads, () => true] as never), 'depends'],
  ['not leaves it open', not(reads as never), 'depends'],
  ['not turns a no', not(never as never), 'yes'],
  ['an active state', stateIn('a'), 'yes'],
  ['a state that is not active', stateIn({ b: {} } as never), 'no'],
];

for (const [name, guard, kind] of combined) {
  test(`of guards that are put together: ${name}`, () => {
    const [machine, start] = guarded(guard);
    assert.equal(machine.reach(start, 'go').kind, kind);
  });
}

test('a broken guard is told by its name, unless XState would not have asked it', () => {
  const broken = {
    target: 'b',
    guard: function isRich() {
      throw new TypeError('no purse');
    },
  };
  const reachOf = (edges: unknown) => {
    const [machine, start] = going(edges);
    return machine.reach(start, 'go');
  };
  const blocked = { from: 'a', to: 'b', guard: 'isRich' };
  assert.deepEqual(reachOf(broken), { kind: 'broken', guard: 'isRich', problem: 'no purse', blockedBy: [blocked] });
  assert.equal(reachOf([{ target: 'b' }, broken]).kind, 'yes');
  assert.equal(reachOf([{ guard: reads, target: 'b' }, broken]).kind, 'depends');
  assert.deepEqual(reachOf([{ guard: () => false, target: 'b' }, broken]), {
    kind: 'broken',
    guard: 'isRich',
    problem: 'no purse',
    blockedBy: [{ from: 'a', to: 'b', guard: 'guard of go in a' }, blocked],
  });
});

const results: readonly ((args: Args) => boolean)[] = [
  ({ event }) => event.result['n'] === 1,
  ({ event }) => {
    try {
      return event.result['n'] !== 1;
    } catch {
      return true;
    }
  },
];

for (const [index, guard] of results.entries()) {
  test(`no guard can read the result, whether it swallows that or not (${index})`, () => {
    const [machine, start] = guarded(guard);
    for (const reach of [machine.reach(start, 'go'), machine.reachWith(start, 'go', {})]) {
      assert.match(reach.kind === 'broken' ? reach.problem : reach.kind, /cannot read event.result/);
    }
    const applied = machine.apply(start, 'go', {}, { n: 1 }, 0);
    assert.match(applied.kind === 'failed' ? applied.problem : applied.kind, /cannot read event.result/);
  });
}

const hostile = new Proxy({}, { get: () => assert.fail('no'), getPrototypeOf: () => assert.fail('no') });
const breaking: readonly (readonly [string, (args: Args) => unknown])[] = [
  ['answers with a promise', async () => true],
  ['changes the context', ({ context }) => ((context as { n: number }).n = 2) > 0],
  [
    'throws a proxy',
    () => {
      throw hostile;
    },
  ],
  [
    'throws nothing at all',
    () => {
      throw undefined;
    },
  ],
  ['asks for itself', (args) => (args as unknown as { self: object }).self],
];

for (const [name, guard] of breaking) {
  test(`a guard that ${name} is broken, and nothing moves`, () => {
    const [machine, start] = guarded(guard);
    assert.equal(machine.reach(start, 'go').kind, 'broken');
    assert.equal(machine.apply(start, 'go', {}, {}, 0).kind, 'failed');
    assert.deepEqual(start.context, { n: 1 });
  });
}

test('what blocks is listed from the innermost state outwards, and a forbidden edge hides its parents', () => {
  const [machine, start] = compile(
    {
      initial: 'a',
      on: { stay: { guard: () => false, target: '.c' }, hidden: { guard: () => false, target: '.c' }, go: '.c' },
      states: {
        a: {
          initial: 'b',
          on: {
            stay: {
              guard: function isLate() {
                return false;
              },
              target: 'c',
            },
          },
          states: { b: { on: { go: undefined, stay: { guard: () => false, actions: [] }, hidden: {} } } },
        },
        c: {},
      },
    },
    'stay',
    'hidden',
    'go',
  );
  assert.deepEqual(machine.reach(start, 'stay'), {
    kind: 'no',
    blockedBy: [
      { from: 'a.b', to: null, guard: 'guard of stay in a.b' },
      { from: 'a', to: 'c', guard: 'isLate' },
      { from: '', to: 'c', guard: 'guard of stay in x' },
    ],
  });
  assert.deepEqual(machine.reach(start, 'go'), { kind: 'no', blockedBy: [] });
  assert.deepEqual(machine.reach(start, 'hidden'), { kind: 'no', blockedBy: [] });
  assert.deepEqual(machine.reach(start, 'unheard of'), { kind: 'no', blockedBy: [] });
  assert.deepEqual(machine.next(start), []);
});

test('a snapshot of nobody is a no and a failure, never an exception', () => {
  const [machine, start] = guarded(() => true);
  for (const odd of [
    { ...start, value: 'elsewhere' },
    { ...start, value: 3 },
    { ...start, context: { m: new Map() } },
  ]) {
    assert.deepEqual(machine.next(odd as never), []);
    assert.equal(machine.reach(odd as never, 'go').kind, 'no');
    assert.equal(machine.apply(odd as never, 'go', {}, {}, 0).kind, 'failed');
  }
});
