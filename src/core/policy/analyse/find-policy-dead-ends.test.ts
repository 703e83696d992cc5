/**
 * States in which policy leaves nothing to do: each path is walked with the real machine, each denial judged for real.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type AnyStateMachine, createMachine } from 'xstate';
import { timesDrawn } from '../../../../test/support/times-drawn.ts';
import { policyOf, ruleCall, writtenAgent } from '../../../../test/support/written-policy.ts';
import { mount } from '../../../adapters/upstream-function/workflow/mount.ts';
import type { AgentPolicy, WrittenAgent } from '../policy.ts';
import type { Snapshot, Workflow } from '../../workflow/workflow.ts';
import { readChart } from '../../workflow/analyse/chart.ts';
import { search } from '../../workflow/analyse/search.ts';
import { analysePolicy } from './analyse-policy.ts';
import { valueOf } from './find-policy-dead-ends.ts';
import type { PolicyFinding } from './policy-analysis.ts';

function bound(config: object, actions: readonly string[]): Workflow {
  const machine = createMachine({ id: 'shop', ...config }) as AnyStateMachine;
  const bodies = Object.fromEntries(actions.map((name) => [name, { run: async () => 1 }]));
  const made = mount(machine, { actions: bodies } as never).bind(new Map(), { timeoutMs: 1_000 });
  assert.ok(made.ok, JSON.stringify(made));
  return made.workflow;
}

const steps = ['order', 'pay', 'serve', 'cancel'];
const shop = {
  initial: 'idle',
  states: {
    idle: { on: { order: 'ordered' } },
    ordered: { on: { pay: 'paid', cancel: 'gone' } },
    paid: { on: { serve: 'served' } },
    served: { type: 'final' },
    gone: { type: 'final' },
  },
};

function deadEnds(workflow: Workflow, rules: readonly string[], more: Partial<WrittenAgent> = {}) {
  const policy = policyOf([writtenAgent(rules, more)]);
  const { findings } = analysePolicy(policy, { tools: null, workflows: new Map([['shop', workflow]]) });
  const agent = policy.agents.get('clerk') ?? assert.fail();
  return { agent, found: findings.filter(({ kind }) => kind === 'policy_dead_end') };
}

function judgeAt(agent: AgentPolicy, workflow: Workflow, snapshot: Snapshot, action: string) {
  const entry = workflow.actions.get(action) ?? assert.fail();
  const tool = { name: entry.policyName, effect: entry.effectClass, reach: entry.reach, annotations: {} };
  const state = { value: snapshot.value, context: snapshot.context };
  return agent.judge(
    ruleCall(tool.name, { tool, args: { x: 0, amount: 1 }, state, session: { id: 'ses_1', seq: 1, workflow: 'shop' } }),
  );
}

function moved(made: ReturnType<Workflow['machine']['start']>): Snapshot {
  assert.ok(made.kind === 'moved', JSON.stringify(made));
  return made.snapshot;
}

/** Goes the way of the counterexample, and sees that it ends where nothing is permitted. */
function walk(workflow: Workflow, agent: AgentPolicy, { counterexample }: PolicyFinding): void {
  assert.ok(counterexample.kind === 'path');
  const { machine } = workflow;
  let snapshot = moved(machine.start(0));
  for (const step of counterexample.steps) {
    const [timer] = snapshot.timers;
    if (step.startsWith('after ')) {
      snapshot = moved(machine.fire(snapshot, timer ?? assert.fail(step), timer?.dueAtMs ?? 0));
      continue;
    }
    assert.equal(machine.reach(snapshot, step).kind, 'yes', step);
    assert.notEqual(judgeAt(agent, workflow, snapshot, step).effect, 'deny', step);
    snapshot = moved(machine.apply(snapshot, step, {}, 1, 0));
  }
  assert.equal(snapshot.done, false);
  assert.deepEqual(
    counterexample.denied.map(({ action }) => action).toSorted(),
    [...machine.next(snapshot)].toSorted(),
  );
  for (const { action, ref } of counterexample.denied) {
    const judgement = judgeAt(agent, workflow, snapshot, action);
    assert.deepEqual([judgement.effect, judgement.ref], ['deny', ref], action);
  }
}

type Row = readonly [
  says: string,
  rules: readonly string[],
  ends: readonly (readonly [state: string, steps: readonly string[], severity: 'error' | 'warning'])[],
];

const rows: readonly Row[] = [
  ['the one action of a state is denied', ['deny shop/serve', 'permit shop/**'], [['paid', ['order', 'pay'], 'error']]],
  ['no rule is about it', ['permit shop/order', 'permit shop/pay'], [['paid', ['order', 'pay'], 'error']]],
  ['the beginning', ['permit shop/pay'], [['idle', [], 'error']]],
  [
    'a condition over the state that is false there',
    ["permit shop/serve if state.value == 'ordered'", 'deny shop/serve', 'permit **'],
    [['paid', ['order', 'pay'], 'error']],
  ],
  [
    'a condition that can never hold',
    ['permit shop/serve if args.x > 3 && args.x < 2', 'deny shop/serve', 'permit **'],
    [['paid', ['order', 'pay'], 'error']],
  ],
  [
    'a way there that only a condition permits',
    ['permit shop/pay if args.amount < 100', 'permit shop/order'],
    [['paid', ['order', 'pay'], 'warning']],
  ],
  ['not: another action is left', ['deny shop/pay', 'permit **'], []],
  ['not: a deferral is no denial', ['defer shop/serve', 'permit **'], []],
  ['not: what leads there is denied too', ['permit shop/order', 'permit shop/cancel'], []],
  ['not: a condition may permit it', ['permit shop/serve if args.x > 3', 'deny shop/serve', 'permit **'], []],
  [
    'not: a condition over the state permits it',
    ["permit ** if state.value == 'paid'", 'deny shop/serve', 'permit **'],
    [],
  ],
  ['not: the workflow is not for this agent at all', ['permit files/*'], []],
  ['not: final states', ['permit **'], []],
];

for (const [says, rules, expected] of rows)
  test(`a dead end: ${says}`, () => {
    const workflow = bound(shop, steps);
    const { agent, found } = deadEnds(workflow, rules);
    const told = found.map(({ severity, counterexample }) => {
      return counterexample.kind === 'path' ? [counterexample.state, counterexample.steps, severity] : [];
    });
    assert.deepEqual(told, expected);
    for (const finding of found) if (finding.severity === 'error') walk(workflow, agent, finding);
  });

test('a timer is a way on, and said to be the only one', () => {
  const waiting = {
    initial: 'a',
    states: { a: { on: { pay: 'b' }, after: { 1000: 'b' } }, b: { on: { serve: 'a' } } },
  };
  const workflow = bound(waiting, ['pay', 'serve']);
  const { found } = deadEnds(workflow, ['deny shop/pay', 'permit **']);
  assert.deepEqual(
    found.map(({ severity, message }) => [severity, message]),
    [['warning', 'clerk can only wait in a of shop: every action that is legal there is denied']],
  );
  const stuck = deadEnds(workflow, ['deny shop/serve', 'permit **']);
  assert.equal(stuck.found.length, 1);
  walk(workflow, stuck.agent, stuck.found[0] ?? assert.fail());
});

test('regions and states inside states: conditions see the value as the machine writes it', () => {
  const config = {
    initial: 'work',
    states: {
      work: {
        type: 'parallel',
        states: {
          left: { initial: 'one', states: { one: { on: { order: 'two' } }, two: {} } },
          right: { initial: 'one', states: { one: { on: { pay: 'two' } }, two: { on: { serve: '#shop.served' } } } },
        },
      },
      served: { type: 'final' },
    },
  };
  const workflow = bound(config, ['order', 'pay', 'serve']);
  // Serving is permitted only while the left side has not moved: order, then pay, and nothing is left.
  const { agent, found } = deadEnds(workflow, [
    "permit shop/serve if state.value.work.left == 'one'",
    "deny shop/serve if state.value.work == {'left': 'two', 'right': 'two'}",
    'permit shop/order',
    'permit shop/pay',
  ]);
  assert.equal(found.length, 1);
  assert.equal(found[0]?.severity, 'error');
  walk(workflow, agent, found[0] ?? assert.fail());
});

test('the value of a place is written as the machine writes it', () => {
  const leaf = { on: { pay: '#shop.end' } };
  const configs: readonly object[] = [
    { initial: 'a', states: { a: leaf, end: { type: 'final' } } },
    {
      initial: 'a',
      states: { a: { initial: 'b', states: { b: { initial: 'c', states: { c: leaf } } } }, end: { type: 'final' } },
    },
    {
      initial: 'p',
      states: {
        p: { type: 'parallel', states: { one: leaf, two: {}, three: { initial: 'x', states: { x: {} } } } },
        end: { type: 'final' },
      },
    },
    { initial: 'p', states: { p: { type: 'parallel', states: { only: leaf } }, end: { type: 'final' } } },
  ];
  for (const config of configs) {
    const { machine, graph } = bound(config, ['pay']);
    const chart = readChart(graph);
    const [first] = search(chart, { maxConfigurations: 100, maxEdges: 100 }).places;
    assert.deepEqual(valueOf(chart, first?.configuration ?? []), moved(machine.start(0)).value);
  }
});

test('a guard on the way makes it a possibility', () => {
  const ordered = { on: { pay: { target: 'paid', guard: () => true }, cancel: 'gone' } };
  const config = { ...shop, states: { ...shop.states, ordered } };
  const { found } = deadEnds(bound(config, steps), ['deny shop/serve', 'permit **']);
  assert.ok(found.some(({ severity, message }) => severity === 'warning' && message.endsWith('if it gets there')));
});

test('a workflow that was not searched to its end is said to be so', () => {
  const policy = policyOf([writtenAgent(['permit **'])]);
  const workflows = new Map([['shop', bound(shop, steps)]]);
  const { undecided } = analysePolicy(policy, { tools: null, workflows }, { maxConfigurations: 2 });
  assert.ok(undecided.some((each) => each.startsWith('workflow shop was not searched to its end')));
});

const stateNames = ['s0', 's1', 's2', 's3', 's4'];
const actionNames = ['a', 'b', 'c'];
const drawn = fc.record({
  targets: fc.array(fc.option(fc.nat(4), { freq: 2 }), { minLength: 15, maxLength: 15 }),
  finals: fc.subarray(stateNames.slice(1), { maxLength: 2 }),
  rules: fc.array(
    fc
      .tuple(
        fc.constantFrom('permit', 'defer', 'deny'),
        fc.constantFrom('shop/a', 'shop/b', 'shop/c', 'shop/*'),
        fc.constantFrom('', ...stateNames.map((name) => ` if state.value == '${name}'`), " if tool.effect == 'pure'"),
      )
      .map(([effect, match, when]) => `${effect} ${match}${when}`),
    { minLength: 1, maxLength: 5 },
  ),
});

test('random workflows and rules: exactly the dead ends that walking everywhere finds', () => {
  let stuck = 0;
  fc.assert(
    fc.property(drawn, ({ targets, finals, rules }) => {
      const edgesFrom = (name: string) =>
        actionNames.flatMap((action, index) => {
          const target = targets[stateNames.indexOf(name) * actionNames.length + index] ?? null;
          return target === null || finals.includes(name) ? [] : [[action, `s${target}`] as const];
        });
      // A state that nothing leads to is refused when a workflow is mounted.
      const reached = new Set(['s0']);
      for (const name of reached) for (const [, target] of edgesFrom(name)) reached.add(target);
      const states = Object.fromEntries(
        [...reached].map((name) => [
          name,
          finals.includes(name) ? { type: 'final' } : { on: Object.fromEntries(edgesFrom(name)) },
        ]),
      );
      const used = actionNames.filter((action) =>
        [...reached].some((name) => edgesFrom(name).some(([a]) => a === action)),
      );
      if (used.length === 0) return;
      const workflow = bound({ initial: 's0', states }, used);
      const { agent, found } = deadEnds(workflow, rules);
      const expected = walkEverywhere(workflow, agent);
      stuck += expected.length;
      const told = found.map(({ counterexample }) => (counterexample.kind === 'path' ? counterexample.state : ''));
      assert.deepEqual(told.toSorted(), expected.toSorted(), JSON.stringify(rules));
      for (const finding of found) {
        assert.equal(finding.severity, 'error');
        walk(workflow, agent, finding);
      }
    }),
    { numRuns: timesDrawn(200, 130), seed: 5 },
  );
  assert.ok(stuck > 40, `only ${stuck} dead ends were met`);
});

/** By brute force, with the real machine and the real policy. Empty if the agent may do nothing anywhere. */
function walkEverywhere(workflow: Workflow, agent: AgentPolicy): readonly string[] {
  const reached = (permitted: (snapshot: Snapshot, action: string) => boolean) => {
    const known = new Map<string, Snapshot>();
    const waiting = [moved(workflow.machine.start(0))];
    for (const snapshot of waiting) {
      if (known.has(String(snapshot.value))) continue;
      known.set(String(snapshot.value), snapshot);
      for (const action of workflow.machine.next(snapshot))
        if (permitted(snapshot, action)) waiting.push(moved(workflow.machine.apply(snapshot, action, {}, 1, 0)));
    }
    return [...known.values()];
  };
  const permits = (snapshot: Snapshot, action: string) => judgeAt(agent, workflow, snapshot, action).effect !== 'deny';
  const isForIt = reached(() => true).some((at) => [...workflow.actions.keys()].some((each) => permits(at, each)));
  if (!isForIt) return [];
  return reached(permits).flatMap((snapshot) => {
    const next = workflow.machine.next(snapshot);
    return next.length > 0 && next.every((action) => !permits(snapshot, action)) ? [String(snapshot.value)] : [];
  });
}
