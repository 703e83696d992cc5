/** The search is compared with XState itself, by brute force over random machines and all answers of their guards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { AnyMachineSnapshot } from 'xstate';
import { timesDrawn } from '../../../../test/support/times-drawn.ts';
import {
  activeIn,
  buildMachine,
  eventsAt,
  outcomesOf,
  randomShape,
  type Outcome,
  type RandomMachine,
} from '../../../../test/support/random-machine.ts';
import { analyseWorkflow } from './analyse-workflow.ts';
import { readChart, stateAt } from './chart.ts';
import { search } from './search.ts';

const limits = { maxConfigurations: 3_000, maxEdges: 60_000 };
const maxOutcomes = 40;
const maxPlaces = 60;

interface Truth {
  /** By active states and memory: where the machine rests. */
  readonly rests: ReadonlyMap<string, { readonly snapshot: AnyMachineSnapshot; readonly outcomes: readonly Outcome[] }>;
  readonly states: ReadonlySet<string>;
  readonly edges: ReadonlySet<number>;
}

function historyOf(snapshot: AnyMachineSnapshot): string {
  const entries = Object.entries(snapshot.historyValue as Record<string, readonly { path: readonly string[] }[]>);
  return entries
    .map(
      ([id, nodes]) =>
        `${id}:${nodes
          .map(({ path }) => path.join('.'))
          .sort()
          .join()}`,
    )
    .sort()
    .join(';');
}

/** Null when there is more of it than a test should look at. */
function bruteForce(random: RandomMachine): Truth | null {
  const rests = new Map<string, { snapshot: AnyMachineSnapshot; outcomes: Outcome[] }>();
  const edges = new Set<number>();
  random.seen.states.clear();
  const waiting: { snapshot: AnyMachineSnapshot; outcomes: Outcome[] }[] = [];
  const meet = (outcomes: readonly Outcome[]) => {
    for (const { snapshot, edges: taken } of outcomes) {
      for (const edge of taken) edges.add(edge);
      if (snapshot === null) continue;
      const key = `${activeIn(snapshot)} | ${historyOf(snapshot)}`;
      if (rests.has(key)) continue;
      const entry = { snapshot, outcomes: [] };
      rests.set(key, entry);
      waiting.push(entry);
    }
  };
  const begun = outcomesOf(random, null, '', maxOutcomes);
  if (begun === null) return null;
  meet(begun);
  for (const entry of waiting) {
    if (waiting.length > maxPlaces) return null;
    if (entry.snapshot.status === 'done') continue;
    for (const event of eventsAt(random, entry.snapshot)) {
      const outcomes = outcomesOf(random, entry.snapshot, event, maxOutcomes);
      if (outcomes === null) return null;
      entry.outcomes.push(...outcomes);
      meet(outcomes);
    }
  }
  return { rests, states: new Set(random.seen.states), edges };
}

function abstractRests(random: RandomMachine) {
  const chart = readChart(random.graph);
  const found = search(chart, limits);
  const resting = found.places.filter(({ rests }) => rests !== 'never');
  const textOf = (configuration: readonly number[]) =>
    configuration
      .map((state) => stateAt(chart, state).id)
      .sort()
      .join(' ');
  return { found, texts: new Set(resting.map(({ configuration }) => textOf(configuration))) };
}

/** The same machines for everybody, so that a change is judged by what it changed; a soak draws others. */
const soak = process.env['RANDOM_RUNS'];
const runs = soak === undefined ? { numRuns: timesDrawn(150, 50), seed: 7 } : { numRuns: Number(soak) };

test('with a guard of its own for every edge, the search meets exactly the configurations that XState rests in', () => {
  let compared = 0;
  fc.assert(
    fc.property(randomShape(false), (shape) => {
      const random = buildMachine(shape);
      const truth = bruteForce(random);
      const { found, texts } = abstractRests(random);
      // What an edge that stays does to the context is not drawn, nor is the order in which the machine holds its
      // regions: there the search expects more than this one machine does.
      if (truth === null || !found.complete || found.raced || found.places.some(({ calm }) => calm)) return;
      compared++;
      const concrete = new Set([...truth.rests.values()].map(({ snapshot }) => activeIn(snapshot)));
      assert.deepEqual([...texts].sort(), [...concrete].sort());
      const met = new Set(found.places.flatMap(({ configuration }) => configuration));
      const chart = readChart(random.graph);
      assert.deepEqual([...met].map((state) => stateAt(chart, state).id).sort(), [...truth.states].sort());
      const taken = new Set(
        found.places.flatMap(({ steps }) => steps.flatMap(({ edges }) => edges.map(({ index }) => index))),
      );
      assert.deepEqual([...taken].sort(), [...truth.edges].sort());
    }),
    runs,
  );
  assert.ok(compared > runs.numRuns / 2, `only ${compared} machines were small enough`);
});

test('with guards that edges share, whatever XState gets to is met, and whatever is proven is true', () => {
  const proofs = new Map<string, number>();
  fc.assert(
    fc.property(randomShape(true), (shape) => {
      const random = buildMachine(shape);
      const truth = bruteForce(random);
      const { found, texts } = abstractRests(random);
      if (truth === null || !found.complete) return;
      for (const { snapshot } of truth.rests.values()) assert.ok(texts.has(activeIn(snapshot)), activeIn(snapshot));
      for (const { code, where, proven, counterexample } of analyseWorkflow(random.graph, limits).findings) {
        if (!proven) continue;
        proofs.set(code, (proofs.get(code) ?? 0) + 1);
        if (code === 'unreachable_state' || code === 'unreachable_final') assert.ok(!truth.states.has(where), where);
        if (code === 'unreachable_action') {
          assert.ok(
            [...truth.edges].every((edge) => random.graph.edges[edge]?.action !== where),
            where,
          );
        }
        if (code === 'restless') assert.deepEqual(replay(random, counterexample), [null]);
        if (code === 'dead_end' || code === 'livelock') {
          const ends = replay(random, counterexample);
          if (code === 'dead_end') assert.equal(ends.length, 1);
          for (const end of ends) checkStuck(random, truth, end, code);
        }
      }
    }),
    { ...runs, numRuns: runs.numRuns * 2 },
  );
  for (const code of ['unreachable_state', 'unreachable_action', 'dead_end', 'dead_edge', 'livelock', 'restless']) {
    assert.ok((proofs.get(code) ?? 0) > 0, `${code} was never proven, so never tested`);
  }
});

/** Follows a path in whose steps no guard has a say; only where the last one comes to rest may still depend on some. */
function replay(random: RandomMachine, path: readonly string[]): readonly (AnyMachineSnapshot | null)[] {
  const events = path.map((step) => {
    const delayed = /^after (\d+) s in (.*)$/.exec(step);
    return delayed === null ? step : `xstate.after.${delayed[1]}000.${delayed[2]?.split('.').at(-1)}`;
  });
  let ends: readonly (AnyMachineSnapshot | null)[] = [null];
  for (const event of ['', ...events]) {
    assert.equal(ends.length, 1, `what comes before ${event} in ${path.join()} is not certain`);
    const outcomes = outcomesOf(random, ends[0] ?? null, event, maxOutcomes) ?? [];
    const found = new Map(outcomes.map(({ snapshot }) => [snapshot === null ? '' : activeIn(snapshot), snapshot]));
    ends = [...found.values()];
  }
  return ends;
}

function checkStuck(random: RandomMachine, truth: Truth, end: AnyMachineSnapshot | null, code: string): void {
  // A machine that does not come to rest does not end either.
  if (end === null) return assert.notEqual(code, 'dead_end');
  const keyOf = (snapshot: AnyMachineSnapshot) => `${activeIn(snapshot)} | ${historyOf(snapshot)}`;
  const seen = new Set([keyOf(end)]);
  for (const key of seen) {
    const { snapshot, outcomes = [] } = truth.rests.get(key) ?? {};
    assert.notEqual(snapshot?.status, 'done', `${key} is an end`);
    for (const outcome of outcomes) if (outcome.snapshot !== null) seen.add(keyOf(outcome.snapshot));
    if (code !== 'dead_end') continue;
    const isAction = (edge: number) => random.graph.edges[edge]?.kind === 'action';
    assert.ok(
      outcomes.every(({ edges }) => ![...edges].some(isAction)),
      `${key} has an action`,
    );
    assert.equal(new Set(outcomes.map((outcome) => outcome.snapshot && activeIn(outcome.snapshot))).size <= 1, true);
  }
}
