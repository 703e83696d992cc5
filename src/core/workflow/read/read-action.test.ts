import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assign, setup, type AnyStateMachine } from 'xstate';
import { compileMachine } from '../compile-machine.ts';

interface Spawning {
  readonly spawn: (what: string) => unknown;
  readonly context: { readonly spawn: number };
}

function problemsOf(assignment: unknown): readonly string[] {
  const machine = setup({ actions: { keep: assign(assignment as never) } }).createMachine({
    context: { n: 0, spawn: 1 },
    initial: 'a',
    states: { a: { on: { go: { actions: 'keep' } } } },
  } as never);
  const found = compileMachine(machine as unknown as AnyStateMachine, { name: 'x', actions: new Map([['go', null]]) });
  return found.ok ? [] : found.problems;
}

test('an assign that spawns an actor is refused before anything runs', () => {
  for (const assignment of [
    ({ spawn }: Spawning) => ({ n: spawn('x') }),
    { n: ({ context, spawn: begin }: Spawning) => [context, begin('x')] },
    {
      n({ spawn }: Spawning) {
        return spawn('x');
      },
    },
    function named({ spawn }: Spawning) {
      return { n: spawn('x') };
    },
  ]) {
    const problem = "edge 'go' of state 'a': its assign spawns an actor; make it an action that an agent takes";
    assert.deepEqual(problemsOf(assignment), [problem]);
  }
});

test('an assign that only has the word in it is possible', () => {
  const same = <Value>(value: Value): Value => value;
  for (const assignment of [
    { spawn: 2 },
    { spawn: ({ context }: Spawning) => context.spawn + 1 },
    ({ context: { spawn } }: Spawning) => ({ n: spawn }),
    () => same({ spawn: 2 }),
    { n: ({ context: spawn }: Spawning) => spawn.spawn },
  ]) {
    assert.deepEqual(problemsOf(assignment), []);
  }
});
