/**
 * Random machines: what we say must be what XState does, and a state that was written down must be the state that was
 * left.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { and, assign, createMachine, not, or, raise, stateIn, transition, type AnyStateMachine } from 'xstate';
import { timesDrawn } from '../../../test/support/times-drawn.ts';
import { canonicalText } from '../values/canonical.ts';
import type { JsonObject } from '../values/json.ts';
import { compileMachine } from './compile-machine.ts';
import type { Machine, Snapshot } from './workflow.ts';

const events = ['e1', 'e2', 'e3'];
const actions = [...events, 'go'];
const allInputs = [0, 1, 2].map((n) => ({ n, to: '' }));

interface Context {
  n: number;
  trace: number;
}
interface Args {
  context: Context;
  event: { inputs: { n: number; to: string } };
}
type Pick = (below: number) => number;

function randomFrom(seed: number): Pick {
  let state = seed | 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((Math.imul(state ^ (state >>> 12), 0x297a2d39) >>> 8) & 0xffffff) % below;
  };
}

const leave = (k: number) =>
  assign({ trace: ({ context }: { context: Context }) => (context.trace * 31 + k) % 1_000_003 } as never);
const count = assign({ n: ({ context }: { context: Context }) => (context.n + 1) % 7 } as never);

function leaf(pick: Pick, ids: readonly string[], mayReadInputs: boolean): unknown {
  const k = pick(3);
  switch (mayReadInputs ? pick(8) : pick(2)) {
    case 0:
      return ({ context }: Args) => context.n % 3 === k;
    case 1:
      return stateIn(`#${ids[pick(ids.length)]}`);
    case 2:
      return ({ context }: Args) => {
        if (context.n === k) throw new Error('boom');
        return true;
      };
    case 3:
      return ({ event }: Args) => {
        if (event.inputs.n === k) throw new Error('boom');
        return true;
      };
    case 4:
      return ({ event }: Args) => {
        try {
          return event.inputs.n !== k;
        } catch {
          return false;
        }
      };
    default:
      return ({ event }: Args) => event.inputs.n === k;
  }
}

function guard(pick: Pick, ids: readonly string[], mayReadInputs: boolean): unknown {
  const one = () => leaf(pick, ids, mayReadInputs);
  return [one, one, () => and([one(), one()] as never), () => or([one(), one()] as never), () => not(one() as never)][
    pick(5)
  ]?.();
}

interface Shape {
  readonly id: string;
  readonly type: string;
  readonly children: Record<string, Shape>;
}

function shape(pick: Pick, id: string, depth: number): Shape {
  const type = depth === 0 ? ['compound', 'parallel'][pick(2)] : ['atomic', 'atomic', 'compound', 'parallel'][pick(4)];
  if (type === 'atomic' || type === undefined || depth >= 3) return { id, type: 'atomic', children: {} };
  // Not in the order of the alphabet: canonical text is.
  const names = ['c', 'a', 'b'].slice(0, 2 + pick(2));
  const children: Record<string, Shape> = {};
  for (const name of names) children[name] = shape(pick, `${id}_${name}`, depth + 1);
  if (type === 'compound' && pick(3) === 0) children['h'] = { id: `${id}_h`, type: 'history', children: {} };
  if (type === 'compound' && pick(4) === 0) children['f'] = { id: `${id}_f`, type: 'final', children: {} };
  return { id, type, children };
}

const idsOf = (one: Shape): readonly string[] => [one.id, ...Object.values(one.children).flatMap(idsOf)];

function randomMachine(seed: number): AnyStateMachine {
  const pick = randomFrom(seed);
  const root = shape(pick, 'm', 0);
  const ids = idsOf(root).slice(1);
  const target = () => `#${ids[pick(ids.length)]}`;
  const edge = () => {
    if (pick(8) === 0) return pick(2) === 0 ? {} : { guard: guard(pick, ids, true) };
    return {
      ...(pick(4) === 0 ? {} : { target: target() }),
      ...(pick(3) === 0 ? {} : { guard: guard(pick, ids, true) }),
      actions: [count, leave(pick(9)), ...(pick(6) === 0 ? [raise({ type: 'r' })] : [])],
      reenter: pick(3) === 0,
    };
  };
  const config = (one: Shape): object => {
    if (one.type === 'history') return { id: one.id, type: 'history', history: pick(2) === 0 ? 'deep' : 'shallow' };
    if (one.type === 'final') return { id: one.id, type: 'final', entry: leave(7) };
    const on = events.filter(() => pick(5) < 2).map((event) => [event, Array.from({ length: 1 + pick(2) }, edge)]);
    return {
      id: one.id,
      ...(one.type === 'atomic' ? {} : { type: one.type }),
      ...(one.type === 'compound' ? { initial: 'c' } : {}),
      ...(pick(3) === 0 ? { entry: leave(pick(9)) } : {}),
      ...(pick(3) === 0 ? { exit: leave(pick(9)) } : {}),
      ...(pick(10) === 0 ? { always: { target: target(), guard: guard(pick, ids, false), actions: count } } : {}),
      ...(pick(6) === 0 ? { after: { 10: { target: target(), actions: count } } } : {}),
      ...(pick(4) === 0 && one.type !== 'atomic' ? { onDone: { actions: leave(3) } } : {}),
      on: Object.fromEntries(on),
      states: Object.fromEntries(Object.entries(one.children).map(([name, child]) => [name, config(child)])),
    };
  };
  const base = config(root) as { on: object };
  // Every state can be reached, and every event is handled somewhere.
  const go = ids.map((id) => ({
    guard: ({ event }: Args) => event.inputs.to === id,
    target: `#${id}`,
    actions: count,
  }));
  const rest = events.map((event) => [event, (base.on as Record<string, unknown>)[event] ?? { actions: leave(5) }]);
  return createMachine({
    ...base,
    context: { n: 0, trace: 0 },
    options: { maxIterations: 1_000 },
    on: { ...Object.fromEntries(rest), go: [...go, {}], r: { actions: leave(8) } },
    exit: raise({ type: 'r' }),
  } as never) as AnyStateMachine;
}

interface Ours extends Machine {
  readonly written: JsonObject;
}

function compiled(machine: AnyStateMachine): Ours | null {
  const found = compileMachine(machine, { name: 'm', actions: new Map(actions.map((action) => [action, null])) });
  if (found.ok) return { ...found.machine, written: found.written };
  const unexpected = found.problems.filter((problem) => !/cannot begin|every edge of it is empty/.test(problem));
  assert.deepEqual(unexpected, []);
  return null;
}

/** The same state in the author's own machine, by XState's own means. */
function inXState(machine: AnyStateMachine, { value, context, history }: Snapshot) {
  const nodeOf = (path: string) => machine.getStateNodeById(`#m_${path.replaceAll('.', '_')}`);
  const historyValue = Object.fromEntries(
    Object.entries(history).map(([path, paths]) => [nodeOf(path).id, (paths as string[]).map(nodeOf)]),
  );
  return machine.resolveState({ value: inOrder(machine.root, value), context, historyValue } as never);
}

function idsIn(node: AnyStateMachine['root']): readonly string[] {
  return [node.id, ...Object.values(node.states).flatMap((child) => idsIn(child as never))];
}

function inOrder(node: AnyStateMachine['root'], value: unknown): unknown {
  if (typeof value === 'string') return value;
  const given = value as Record<string, unknown>;
  const names = Object.keys(node.states).filter((name) => Object.hasOwn(given, name));
  return Object.fromEntries(names.map((name) => [name, inOrder(node.states[name] as never, given[name])]));
}

const steps = fc.array(fc.tuple(fc.nat(4), fc.nat(2), fc.nat(99)), { maxLength: 12 });
/** The same machines for everybody, so that a change is judged by what it changed; a soak draws others. */
const soak = process.env['RANDOM_RUNS'];
const runs = soak === undefined ? { numRuns: timesDrawn(150, 80), seed: 7 } : { numRuns: Number(soak) };

function walk(
  machine: AnyStateMachine,
  ours: Machine,
  path: readonly (readonly [number, number, number])[],
  between: (snapshot: Snapshot) => Snapshot,
  visit: (snapshot: Snapshot) => void,
): string {
  const ids = idsIn(machine.root).slice(1);
  let current = ours.start(0);
  for (const [action, n, to] of path) {
    if (current.kind === 'failed') break;
    const snapshot = between(current.snapshot);
    visit(snapshot);
    const timer = snapshot.timers[0];
    const name = actions[action];
    const inputs = { n, to: ids[to % ids.length] ?? '' };
    if (name === undefined && timer !== undefined) current = ours.fire(snapshot, timer, timer.dueAtMs);
    else if (name !== undefined && ours.reachWith(snapshot, name, inputs).kind === 'yes') {
      const moved = ours.apply(snapshot, name, inputs, { ok: true }, 1);
      same(machine, snapshot, { type: name, inputs, result: { ok: true } }, moved);
      current = moved;
    }
  }
  return canonicalText(current);
}

function same(machine: AnyStateMachine, before: Snapshot, event: object, moved: ReturnType<Machine['apply']>): void {
  let theirs: { value: unknown; context: unknown; status: string; historyValue: Record<string, { id: string }[]> };
  try {
    theirs = transition(machine, inXState(machine, before) as never, event as never)[0] as never;
  } catch {
    assert.equal(moved.kind, 'failed');
    return;
  }
  assert.equal(moved.kind, 'moved', JSON.stringify(moved));
  if (moved.kind !== 'moved') return;
  assert.deepEqual(JSON.parse(JSON.stringify(moved.snapshot.value)), JSON.parse(JSON.stringify(theirs.value)));
  assert.deepEqual({ ...moved.snapshot.context }, theirs.context);
  const remembered = Object.entries(theirs.historyValue).map(([id, nodes]) => [
    id,
    nodes.map((node) => node.id).sort(),
  ]);
  const paths = (list: unknown) => (list as string[]).map((path) => `m_${path.replaceAll('.', '_')}`).sort();
  const ours = Object.entries(moved.snapshot.history).map(([id, list]) => [paths([id])[0], paths(list)]);
  assert.deepEqual(Object.fromEntries(ours), Object.fromEntries(remembered));
  assert.equal(moved.snapshot.done, theirs.status === 'done');
}

function agree(machine: AnyStateMachine, ours: Ours, snapshot: Snapshot): void {
  const theirs = inXState(machine, snapshot);
  assert.equal(ours.problemWith(snapshot), null);
  // Carried over to what it is already, it stays as it is; by somebody who knows nothing, it is entered anew.
  assert.deepEqual(ours.enterAt({ snapshot, machine: ours.written }, snapshot, 5), { kind: 'moved', snapshot });
  const anew = ours.enterAt({ snapshot, machine: null }, snapshot, 5);
  const nodes = snapshot.done ? [] : theirs._nodes;
  const delayed = nodes.flatMap(({ after, path }) => after.map(({ delay }) => ['workflow', ...path, delay].join('.')));
  assert.ok(anew.kind === 'moved' && anew.snapshot.timers.every(({ dueAtMs }) => dueAtMs === 15));
  assert.deepEqual(
    anew.snapshot.timers.map(({ id }) => id.replace(/^xstate.after.10.(.*)$/, '$1.10')).toSorted(),
    delayed.toSorted(),
  );
  for (const action of snapshot.done ? [] : actions) {
    const verdicts = allInputs.map((inputs) => {
      const verdict = ours.reachWith(snapshot, action, inputs).kind;
      let can: string;
      try {
        can = theirs.can({ type: action, inputs } as never) ? 'yes' : 'no';
      } catch {
        can = 'broken';
      }
      assert.equal(verdict, can, `${action} with ${JSON.stringify(inputs)}`);
      return verdict;
    });
    const { kind } = ours.reach(snapshot, action);
    if (verdicts.includes('yes')) assert.ok(kind === 'yes' || kind === 'depends', `${action} is ${kind}`);
    if (kind === 'yes') assert.ok(verdicts.every((verdict) => verdict === 'yes'));
    assert.equal(ours.next(snapshot).includes(action), kind === 'yes' || kind === 'depends');
  }
}

test('what is reachable is what XState can do, and a step is what XState does', () => {
  let visited = 0;
  fc.assert(
    fc.property(fc.integer(), steps, (seed, path) => {
      const machine = randomMachine(seed);
      const ours = compiled(machine);
      if (ours === null) return;
      walk(
        machine,
        ours,
        path,
        (snapshot) => snapshot,
        (snapshot) => {
          visited += 1;
          agree(machine, ours, snapshot);
        },
      );
    }),
    runs,
  );
  assert.ok(visited > 300, `only ${visited} states were looked at`);
});

test('a snapshot that was written down and read again goes on in the same way', () => {
  fc.assert(
    fc.property(fc.integer(), steps, (seed, path) => {
      const machine = randomMachine(seed);
      const ours = compiled(machine);
      if (ours === null) return;
      const written = (snapshot: Snapshot) => JSON.parse(canonicalText(snapshot)) as Snapshot;
      const ignore = () => undefined;
      const kept = walk(machine, ours, path, (snapshot) => snapshot, ignore);
      assert.equal(walk(machine, ours, path, written, ignore), kept);
    }),
    runs,
  );
});
