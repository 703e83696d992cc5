/** The table of faults, held against the guide. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { codeIn, tableIn } from '../../test/support/read-docs.ts';
import { entryOf, faultNames, settingShapes } from './fault-table.ts';

test('the guide lists every fault and every setting', () => {
  const guide = readFileSync(new URL('../../docs/guides/faults.md', import.meta.url), 'utf8');
  const told = tableIn(guide, 'fault').map(([name = '', says, settings = '']) => [
    codeIn(name)[0],
    says,
    codeIn(settings),
  ]);
  assert.deepEqual(
    told,
    faultNames.map((name) => [name, entryOf(name).says, entryOf(name).settings]),
  );
  const settings = tableIn(guide, 'setting').flatMap(([name = '']) => codeIn(name));
  assert.deepEqual(settings, Object.keys(settingShapes));
});
