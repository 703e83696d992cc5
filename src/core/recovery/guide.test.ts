/** The guide says what the default playbook does, and its golden holds. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { blocksIn, codeIn, tableIn } from '../../../test/support/read-docs.ts';
import { readGolden } from '../../config/golden/read-golden.ts';
import { dispatchOutcomes, effectClasses, type Verdict } from '../taxonomy.ts';
import { differencesOf } from './golden.ts';
import { defaultPlaybook, recoveryOfUpstream } from './playbook.ts';
import { runGolden } from './run-golden.ts';
import { durationOf } from './timeline.ts';

const guide = readFileSync(new URL('../../../docs/guides/when-a-tool-fails.md', import.meta.url), 'utf8');

test('the table of what happens by default is the default playbook', () => {
  const written = tableIn(guide, 'verdict').map(([verdict = '', , action = '', pauses]) => [
    codeIn(verdict)[0],
    codeIn(action)[0],
    pauses,
  ]);
  const expected = (Object.keys(defaultPlaybook) as Verdict[]).map((verdict) => {
    const { action } = defaultPlaybook[verdict].plain;
    const pauses = action.kind === 'retry_with_backoff' ? action.backoff_ms.map(durationOf) : [];
    return [verdict, action.kind, pauses.join(', ')];
  });
  assert.deepEqual(written, expected);
});

test('every outcome and every effect class is in the guide', () => {
  const names = (heading: string) => tableIn(guide, heading).map(([name = '']) => codeIn(name)[0]);
  assert.deepEqual(names('outcome').toSorted(), Object.keys(dispatchOutcomes).sort());
  assert.deepEqual(names('effect class').toSorted(), Object.keys(effectClasses).sort());
});

test('the golden of the guide holds', () => {
  const text = blocksIn(guide).find(({ language }) => language === 'yaml')?.text ?? '';
  const { golden, problems } = readGolden(text, 'guide');
  assert.deepEqual(problems, []);
  assert.ok(golden !== null);
  assert.deepEqual(differencesOf(golden, runGolden(golden, recoveryOfUpstream('payments'))), []);
});
