/** The rig is tested too: each planted bug must be found, by the invariant it breaks, within its share of the time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBudget, onlySeed } from './budget.ts';
import { plantedApprovalBugs } from './planted-approval-bugs.ts';
import { plantedQuotaBugs } from './limits/planted-quota-bugs.ts';
import { plantedBugs } from './planted-bugs.ts';
import { plantedWorkflowBugs } from './planted-workflow-bugs.ts';
import { plantedRecoveryBugs } from './recovery/planted-recovery-bugs.ts';
import { runSeed } from './run-seed.ts';

const enough = 20_000;
/** On a busy machine the share of the time may be over before anything happened. */
const atLeast = 600;

const all = [
  ...plantedBugs,
  ...plantedWorkflowBugs,
  ...plantedApprovalBugs,
  ...plantedRecoveryBugs,
  ...plantedQuotaBugs,
];

for (const { name, plant, breaks } of all)
  test(`the rig finds: ${name}`, { skip: onlySeed !== null, timeout: 24 * 3_600_000 }, async (context) => {
    const goesOn = createBudget(0.3, enough);
    for (let seed = 1; seed <= atLeast || goesOn(seed); seed++) {
      const { broken } = await runSeed({ seed, ...plant() });
      if (broken === null) continue;
      context.diagnostic(`found after ${seed} seeds: invariant ${broken.invariant}, ${broken.detail}`);
      return assert.ok(breaks.includes(broken.invariant), `found as invariant ${broken.invariant}: ${broken.detail}`);
    }
    assert.fail(`not found in the time there was`);
  });

test('without a bug the same worlds hold', { skip: onlySeed !== null }, async () => {
  for (const { name, plant } of [...plantedBugs, ...plantedRecoveryBugs.slice(0, 1)]) {
    const { mix } = plant();
    for (let seed = 1; mix !== undefined && seed <= 40; seed++) {
      const { broken } = await runSeed({ seed, mix, wildClocks: false });
      assert.equal(broken, null, `the mix of '${name}', seed ${seed}: ${broken?.detail}`);
    }
  }
});

test('without a bug the same worlds with approvals hold', { skip: onlySeed !== null }, async () => {
  for (const { name, plant } of plantedApprovalBugs) {
    const { mix, approvals = true } = plant();
    for (let seed = 1; mix !== undefined && seed <= 12; seed++) {
      const { broken } = await runSeed({ seed, mix, approvals, wildClocks: false });
      assert.equal(broken, null, `the mix of '${name}', seed ${seed}: ${broken?.detail}`);
    }
  }
});
