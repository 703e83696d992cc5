/**
 * Worlds in which people decide: policies defer, people approve, change, deny and take back, an operator changes the
 * rules, and everything goes wrong meanwhile. Whatever happens, what was decided is what runs, once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBudget, firstSeed, onlySeed } from './budget.ts';
import { approvalColumns, createCoverage } from './coverage.ts';
import { explain, runSeed } from './run-seed.ts';

const replay = (seed: number) => `RECOURSE_SEED=${seed} node --test test/simulation/approval-seeds.test.ts`;
const sampleEvery = 40;
/** Seeds that once broke something, here or in the gateway. */
const oldAcquaintances = [
  15, 31, 38, 49, 57, 58, 92, 101, 122, 126, 228, 258, 416, 429, 481, 517, 563, 20795, 77516015,
];
/** So many are the same in every run, and must be enough for every pair of `mustMeet`. */
const fixed = 60;

/** What must have met what: without these pairs `no failures` would be worth little. */
const mustMeet: readonly (readonly [fault: string, approval: string])[] = [
  ...[
    'crash',
    'acknowledgement lost',
    'commit lost',
    'slow commit',
    'disk full',
    'short pause',
    'pause past lease',
  ].flatMap((fault) => [[fault, 'pending'] as const, [fault, 'granted'] as const]),
  ...['crash', 'acknowledgement lost', 'commit lost', 'answer lost', 'executes late'].map(
    (fault) => [fault, 'used'] as const,
  ),
  ...['clock forward', 'clock back', 'policy changed', 'policy written anew', 'call cancelled'].map(
    (fault) => [fault, 'pending'] as const,
  ),
  ...['policy changed', 'policy written anew'].map((fault) => [fault, 'granted'] as const),
  ...['approve', 'edit', 'deny'].map((act) => [`a person: ${act}`, 'pending'] as const),
  ...['granted', 'denied', 'used'].map((state) => ['a person: revoke', state] as const),
  ['a person: asked for it', 'pending'],
];

async function holds(seed: number): Promise<Awaited<ReturnType<typeof runSeed>>> {
  const report = await runSeed({ seed, approvals: true });
  if (report.broken !== null)
    assert.fail(explain(await runSeed({ seed, approvals: true, traced: true }), replay(seed)));
  return report;
}

test('a seed is replayed', { skip: onlySeed === null && 'no RECOURSE_SEED' }, async (context) => {
  const report = await runSeed({ seed: onlySeed ?? 0, approvals: true, traced: true });
  context.diagnostic(`${report.steps} steps, ${report.calls} calls, journal ${report.digest}`);
  assert.equal(report.broken, null, explain(report, replay(report.seed)));
});

test('what people decide is what runs, once', { skip: onlySeed !== null, timeout: 24 * 3_600_000 }, async (context) => {
  const coverage = createCoverage(approvalColumns);
  const totals = { opened: 0, granted: 0, edited: 0, used: 0, denied: 0, revoked: 0, expired: 0, void: 0 };
  const goesOn = createBudget(0.25);
  const started = performance.now();
  let [seeds, effects, twice] = [0, 0, 0];
  const run = async (seed: number) => {
    const report = await holds(seed);
    seeds += 1;
    effects += report.effects;
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += report.approvals[name];
    coverage.add(report.approvalCoverage);
    if (seeds % sampleEvery !== 0) return;
    twice += 1;
    const again = await runSeed({ seed, approvals: true });
    assert.equal(again.digest, report.digest, `seed ${seed} gives two different journals: ${replay(seed)}`);
    assert.equal(again.steps, report.steps, `seed ${seed} takes two different ways: ${replay(seed)}`);
  };
  for (const seed of oldAcquaintances) await run(seed);
  for (let seed = 1; seed <= fixed; seed++) await run(seed);
  const missed = mustMeet.filter(([fault, state]) => (coverage.entries().get(fault)?.get(state) ?? 0) === 0);
  for (let seed = Math.max(firstSeed, fixed + 1); goesOn(seeds); seed++) await run(seed);
  const seconds = (performance.now() - started) / 1_000;
  const became = Object.entries(totals).map(([name, count]) => `${count} ${name}`);
  context.diagnostic(
    `${seeds} seeds (${(seeds / seconds).toFixed(1)}/s), ${effects} effects; approvals: ${became.join(', ')}; ` +
      `${twice} run twice with the same journal, byte for byte`,
  );
  for (const line of coverage.table().split('\n')) context.diagnostic(line);
  assert.deepEqual(missed, [], `never met within ${fixed} seeds`);
  for (const [name, count] of Object.entries(totals)) assert.ok(count > 0, `no approval was ever ${name}`);
});
