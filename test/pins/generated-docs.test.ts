import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generatedMark } from '../../src/core/taxonomy/code-pages.ts';
import { generatedFiles, staleFiles, writeFiles } from '../../scripts/generate.ts';

const root = join(import.meta.dirname, '../..');

test('the generated documentation is up to date', () => {
  const run = spawnSync(process.execPath, [join(root, 'scripts/generate.ts'), '--check'], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
});

test('a file that was edited, removed or left over is named as stale', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-docs-'));
  context.after(() => rmSync(folder, { recursive: true }));
  assert.equal(staleFiles(folder).length, generatedFiles().size, 'all are missing');

  writeFiles(folder);
  assert.deepEqual(staleFiles(folder), []);

  appendFileSync(join(folder, 'docs/codes/Busy.md'), 'an edit by hand\n');
  rmSync(join(folder, 'docs/reference/openapi.json'));
  writeFileSync(join(folder, 'docs/codes/Gone.md'), `${generatedMark}\n# Gone\n`);
  writeFileSync(join(folder, 'docs/codes/notes.md'), '# written by a person\n');
  assert.deepEqual(staleFiles(folder), ['docs/codes/Busy.md', 'docs/codes/Gone.md', 'docs/reference/openapi.json']);

  writeFiles(folder);
  assert.deepEqual(staleFiles(folder), []);
});
