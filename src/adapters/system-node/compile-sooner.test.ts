/** V8 says nothing to whoever sets what it does not know, but for a line on standard error: both are looked at here. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import test from 'node:test';
import { compileSooner, settings } from './compile-sooner.ts';

const isMeasured = process.versions.v8.startsWith('13.6.');

test('this V8 knows every setting by its name', { skip: isMeasured ? false : 'another V8' }, () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  for (const setting of settings) assert.match(known, new RegExp(`^  ${setting.split('=')[0]} `, 'm'));
});

test('a process that compiles sooner says nothing of it', () => {
  const file = new URL('./compile-sooner.ts', import.meta.url).href;
  const program = `import { compileSooner } from '${file}'; process.stdout.write(String(compileSooner()));`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.deepEqual([ended.status, ended.stdout, ended.stderr], [0, String(isMeasured), '']);
});

test('another V8 is left as it is', () => {
  assert.equal(compileSooner('14.0.1-node.2'), false);
  assert.equal(compileSooner('13.60.1'), false);
});
