/**
 * Many worlds with reversals, each from one seed: processes die at any act, tools fail in every way, tokens are redeemed
 * too early and twice; every success of a session that is rolled back is undone once, and nothing else is. Bugs that are
 * planted are found.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBudget, firstSeed, onlySeed } from '../budget.ts';
import { plantedReversalBugs } from './planted-reversal-bugs.ts';
import { runReversalSeed } from './run-reversal-seed.ts';

const replay = (seed: number) => `RECOURSE_SEED=${seed} node --test test/simulation/reversal/reversal-seeds.test.ts`;

test('a seed with reversals is replayed', { skip: onlySeed === null && 'no RECOURSE_SEED' }, async (context) => {
  const report = await runReversalSeed(onlySeed ?? 0, {}, true);
  context.diagnostic(JSON.stringify(report, null, 1));
  assert.equal(report.broken, null);
});

test('every success is undone once in every world', { timeout: 24 * 3_600_000 }, async (context) => {
  const goesOn = createBudget(0.2, 5_000);
  let [seeds, undone, tried] = [0, 0, 0];
  for (let seed = firstSeed; goesOn(seeds); seed++) {
    const report = await runReversalSeed(seed);
    seeds += 1;
    undone += report.undone;
    tried += report.tried;
    assert.equal(report.broken, null, `seed ${seed}: ${report.broken}; ${replay(seed)}`);
  }
  context.diagnostic(`${seeds} worlds, ${undone} calls undone by ${tried} reversing calls`);
});

test('the same seed gives the same world', async () => {
  const [one, other] = [await runReversalSeed(11, {}, true), await runReversalSeed(11, {}, true)];
  assert.deepEqual(one, other);
});

const plantedSeeds = 300;

for (const [name, tamper] of Object.entries(plantedReversalBugs))
  test(`${name} is found`, async (context) => {
    for (let seed = 1; seed <= plantedSeeds; seed++) {
      const { broken } = await runReversalSeed(seed, tamper);
      if (broken === null) continue;
      context.diagnostic(`seed ${seed}: ${broken}`);
      return;
    }
    assert.fail(`${plantedSeeds} seeds did not find it`);
  });
