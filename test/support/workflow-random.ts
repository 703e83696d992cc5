/**
 * Random workflows with bodies, from a seed: hierarchical, parallel, with histories, ends, guards on context and on
 * inputs, edges that are taken by themselves, raised events, assignments and updates. Whatever a guard wants of the
 * inputs, one of `allInputs` has it.
 */
import { assign, createMachine, raise } from 'xstate';
import { mount, type MountedWorkflow } from '../../src/index.ts';
import { createRandom, type Random } from '../simulation/random.ts';

interface Context {
  readonly n: number;
}

interface GuardArguments {
  readonly context: Context;
  readonly event: { readonly inputs: { readonly n: number } };
}

export const actions: readonly string[] = ['a', 'b', 'c', 'd'];
export const allInputs: readonly { readonly n: number }[] = [0, 1, 2].map((n) => ({ n }));

interface Node {
  readonly id: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly children: readonly (readonly [string, Node])[];
}

function draw(id: string, depth: number, random: Random): Node {
  const type =
    depth === 0
      ? random.pick(['compound', 'compound', 'parallel'] as const)
      : random.pick(['atomic', 'atomic', 'atomic', 'compound', 'parallel'] as const);
  if (type === 'atomic' || depth >= 3) return { id, type: 'atomic', children: [] };
  const names = ['x', 'y', 'z'].slice(0, random.between(2, 3));
  const children: [string, Node][] = names.map((name) => [name, draw(`${id}_${name}`, depth + 1, random)]);
  if (type === 'compound' && random.chance(0.3)) children.push(['h', { id: `${id}_h`, type: 'history', children: [] }]);
  if (type === 'compound' && random.chance(0.4)) children.push(['f', { id: `${id}_f`, type: 'final', children: [] }]);
  return { id, type, children };
}

/** A guard that looks at the context looks there first: if that says no, the inputs are never asked for. */
function guardFrom(random: Random): object {
  const [k, j] = [random.between(0, 2), random.between(0, 2)];
  switch (random.between(0, 4)) {
    case 0:
      return { guard: ({ context }: GuardArguments) => context.n % 3 !== k };
    case 1:
      return { guard: ({ event }: GuardArguments) => event.inputs.n === j };
    case 2:
      return { guard: ({ context, event }: GuardArguments) => context.n % 3 !== k && event.inputs.n === j };
    default:
      return {};
  }
}

const countUp = assign({ n: ({ context }: { context: Context }) => (context.n + 1) % 7 } as never);

export function randomWorkflow(seed: number): MountedWorkflow {
  const random = createRandom(seed, 'machine');
  const root = draw('m', 0, random);
  const flat = (node: Node): readonly Node[] => [node, ...node.children.flatMap(([, child]) => flat(child))];
  const ids = flat(root)
    .slice(1)
    .map(({ id }) => id);
  const target = () => `#${random.pick(ids)}`;
  // Some have few edges, and lead into dead ends.
  const density = random.pick([0.12, 0.3, 0.45]);
  let raises = false;
  const raised = () => {
    raises = true;
    return raise({ type: 'r' } as never);
  };
  const edge = () => ({
    ...(random.chance(0.8) ? { target: target() } : {}),
    ...guardFrom(random),
    actions: [countUp, ...(random.chance(0.15) ? [raised()] : [])],
    ...(random.chance(0.3) ? { reenter: true } : {}),
  });
  const config = ({ id, type, children }: Node): object => {
    if (type === 'history') return { id, type, history: random.pick(['deep', 'shallow']) };
    if (type === 'final') return { id, type };
    const handled = actions.filter(() => random.chance(density));
    return {
      id,
      ...(type === 'atomic' ? {} : { type: type === 'parallel' ? type : undefined }),
      ...(type === 'compound' ? { initial: 'x' } : {}),
      ...(random.chance(0.2) ? { entry: countUp } : {}),
      ...(random.chance(0.12)
        ? { always: { target: target(), guard: ({ context }: GuardArguments) => context.n === 6, actions: countUp } }
        : {}),
      ...(random.chance(0.3) && children.length > 0 ? { onDone: { target: target() } } : {}),
      on: Object.fromEntries(handled.map((name) => [name, Array.from({ length: random.between(1, 2) }, edge)])),
      ...(children.length > 0
        ? { states: Object.fromEntries(children.map(([name, child]) => [name, config(child)])) }
        : {}),
    };
  };
  const base = config(root) as { on: Record<string, unknown> };
  // Each action is handled somewhere, and so is the event that is raised.
  const missing = actions.filter((name) => base.on[name] === undefined && random.chance(density / 2));
  const added = Object.fromEntries(missing.map((name) => [name, edge()]));
  const on = { ...base.on, ...added, ...(raises ? { r: { actions: countUp } } : {}) };
  const machine = createMachine({ ...base, context: { n: 0 }, on } as never);
  return mount(machine as never, { name: `random-${seed}`, actions: bodies(random) } as never);
}

const input = {
  type: 'object',
  properties: { n: { type: 'integer', minimum: 0, maximum: 2 }, fails: { type: 'boolean' } },
  required: ['n'],
} as const;

/** A body that is told to fails, and has done nothing. */
function bodies(random: Random): object {
  const body = () => ({
    input,
    atomic: true,
    run: async ({ fails }: { fails?: boolean }) => {
      if (fails === true) throw new RangeError('as it was told');
      return { ok: true };
    },
    ...(random.chance(0.3) ? { update: ({ context }: { context: Context }) => ({ n: (context.n + 2) % 7 }) } : {}),
  });
  return Object.fromEntries(actions.map((name) => [name, body()]));
}
