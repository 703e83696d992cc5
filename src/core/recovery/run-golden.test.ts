/** The goldens of the repository, each as a test; and that nothing the dispatcher can do is without one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readGoldens } from '../../../test/support/recovery/read-goldens.ts';
import { compensations, dispatchOutcomes, verdicts } from '../taxonomy.ts';
import { differencesOf, type Golden } from './golden.ts';
import { defaultPlaybook, recoveryOfUpstream } from './playbook.ts';
import { runGolden, verdictsIn } from './run-golden.ts';

const goldens = readGoldens();
const effective = recoveryOfUpstream('up');
const run = (golden: Golden) => runGolden(golden, effective);
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

describe('goldens', () => {
  for (const golden of goldens)
    test(`${golden.ref}: ${golden.name}`, () => assert.deepEqual(differencesOf(golden, run(golden)), []));
});

test('verdicts, their decision record, the keys of the playbook and the verdicts of goldens are the same', () => {
  const record = readFileSync(new URL('../../../docs/decisions/0010-four-more-verdicts.md', import.meta.url), 'utf8');
  const documented = [...record.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
  const all = sorted(Object.keys(verdicts));
  assert.deepEqual(sorted(documented), all);
  assert.deepEqual(sorted(Object.keys(defaultPlaybook)), all);
  assert.deepEqual(sorted(goldens.flatMap((golden) => verdictsIn(run(golden)))), all);
});

test('[S003-change-2] every compensation has a golden', () => {
  const chosen = goldens.flatMap((golden) =>
    run(golden).events.flatMap(({ kind, fields }) =>
      kind === 'compensation_selected' ? [(fields['compensation'] as { kind: string }).kind] : [],
    ),
  );
  assert.deepEqual(sorted(chosen), sorted(Object.keys(compensations)));
});

/** Outcomes that nothing can lead to yet, and why. */
const unreachable: Readonly<Record<string, string>> = {};

test('every outcome has a golden, except those that nothing can lead to yet', () => {
  const reached = sorted(goldens.flatMap((golden) => run(golden).outcome?.kind ?? []));
  assert.deepEqual(sorted([...reached, ...Object.keys(unreachable)]), sorted(Object.keys(dispatchOutcomes)));
  for (const name of Object.keys(unreachable)) assert.ok(!reached.includes(name), `${name} has a golden now`);
});

test('no two goldens have the same name', () => {
  assert.equal(new Set(goldens.map(({ name }) => name)).size, goldens.length);
});

const aGolden = goldens.find(({ ref }) => ref === 'goldens/timeout-then-conflict.yaml') as Golden;

const wrongs: readonly (readonly [string, Golden, RegExp])[] = [
  ['another number of sends', { ...aGolden, expect: { ...aGolden.expect, sends: 3 } }, /^sends: expected 3, came 2$/],
  ['a result too few', { ...aGolden, results: aGolden.results.slice(0, 1) }, /^it was sent 2×, but there are only 1/],
  ['a result too many', { ...aGolden, results: [...aGolden.results, ...aGolden.results] }, /^2 results were not used$/],
  [
    'another event',
    { ...aGolden, expect: { ...aGolden.expect, events: aGolden.expect.events.slice(1) } },
    /^event 1: expected failure_classified, came attempt_finished$/,
  ],
  [
    'an event too few',
    { ...aGolden, expect: { ...aGolden.expect, events: aGolden.expect.events.slice(0, -1) } },
    /^event 10: expected no more events, came dispatch_settled$/,
  ],
  [
    'another field of the outcome',
    { ...aGolden, expect: { ...aGolden.expect, outcome: { kind: 'deprecated', reason: 'no' } } },
    /^outcome.reason: expected "no", came "upstream already/,
  ],
];

for (const [name, golden, expected] of wrongs)
  test(`a golden that expects ${name} says so`, () =>
    assert.match(differencesOf(golden, run(golden)).join('\n'), expected));
