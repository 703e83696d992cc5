/**
 * Many worlds with a stage, each from one seed: processes die at any act, tools fail in every way, and the calls of the
 * stage have one effect each. Bugs that are planted are found.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '../../../src/ports/upstream.ts';
import { createBudget, firstSeed, onlySeed } from '../budget.ts';
import { runStageSeed } from './run-stage-seed.ts';

const replay = (seed: number) => `RECOURSE_SEED=${seed} node --test test/simulation/stage/stage-seeds.test.ts`;

test('a seed with a stage is replayed', { skip: onlySeed === null && 'no RECOURSE_SEED' }, async (context) => {
  const report = await runStageSeed(onlySeed ?? 0);
  context.diagnostic(JSON.stringify(report));
  assert.equal(report.broken, null);
});

test('the calls of a stage have one effect each in every world', { timeout: 24 * 3_600_000 }, async (context) => {
  const goesOn = createBudget(0.2, 5_000);
  let [seeds, attempts, again] = [0, 0, 0];
  for (let seed = firstSeed; goesOn(seeds); seed++) {
    const report = await runStageSeed(seed);
    seeds += 1;
    attempts += report.attempts;
    if (report.attempts > 1) again += 1;
    assert.equal(report.broken, null, `seed ${seed}: ${report.broken}; ${replay(seed)}`);
  }
  context.diagnostic(`${seeds} worlds, ${attempts} attempts of stages, ${again} worlds in which one was sent again`);
});

const plantedSeeds = 300;

/** Each run of act names its calls anew: what was done before a crash is done again after it. */
function actsTwice() {
  let runs = 0;
  return (attempt: Attempt): Attempt => {
    runs += 1;
    const run = runs;
    return { ...attempt, callTool: (tool, args, name) => attempt.callTool(tool, args, `${name ?? ''}-${run}`) };
  };
}

/** Nothing is on record: each run begins with its first attempt. */
const forgets =
  () =>
  (attempt: Attempt): Attempt => {
    const { stage } = attempt;
    if (stage === undefined) return attempt;
    return { ...attempt, stage: { ...stage, last: async () => null, record: async () => true } };
  };

const planted = [
  ['a stage that runs act twice after a crash', actsTwice, true],
  ['a stage that forgets its phases, and keeps the names of its calls', forgets, false],
] as const;

for (const [name, tamper, isFound] of planted)
  test(`${name} ${isFound ? 'is found' : 'does nothing twice all the same'}`, async (context) => {
    for (let seed = 1; seed <= (isFound ? plantedSeeds : 20); seed++) {
      const { broken } = await runStageSeed(seed, tamper());
      if (broken === null) continue;
      assert.ok(isFound || !broken.startsWith('1:'), `seed ${seed}: ${broken}`);
      context.diagnostic(`seed ${seed}: ${broken}`);
      return;
    }
    assert.ok(!isFound, `${plantedSeeds} seeds did not find it`);
  });
