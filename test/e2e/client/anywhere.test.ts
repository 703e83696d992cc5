/** The client runs in browsers and at the edge: nothing of Node can be reached from it, and web globals are enough. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { referencesOf } from '../../house/read-source.ts';

const root = path.join(import.meta.dirname, '../../..');
const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, { default: string; types: string }>;
};
const sourceOf = (entry: './client' | './testing') => {
  const { default: built = '', types = '' } = exports[entry] ?? {};
  assert.equal(types, built.replace(/\.js$/, '.d.ts'));
  return path.join(root, built.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts'));
};

/** Statements that are gone when the types are. */
const typesOnly = /\b(?:import|export)\s+type\b[^;]*;/g;

function reachable(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const { specifier } of referencesOf(readFileSync(file, 'utf8').replace(typesOnly, ''))) {
    assert.ok(specifier.startsWith('.'), `${file} imports ${specifier}`);
    reachable(path.join(path.dirname(file), specifier), found);
  }
  return found;
}

for (const entry of ['./client', './testing'] as const)
  test(`from ${entry} nothing but files of the client can be reached`, () => {
    const files = [...reachable(sourceOf(entry))];
    assert.ok(files.length > 3);
    for (const file of files) {
      assert.ok(existsSync(file), file);
      assert.ok(file.startsWith(path.join(root, 'src/client/')), file);
    }
  });

test('it calls, waits, is denied and aborts where there are only web globals', () => {
  const script = path.join(import.meta.dirname, 'in-a-browser.ts');
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const entries = [sourceOf('./client'), sourceOf('./testing')];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, script, ...entries], { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  assert.deepEqual(JSON.parse(stdout), {
    nodeIsHere: false,
    result: { refunded: 40 },
    denied: ['ToolDeniedError', 'POLICY_DENY', true],
    aborted: ['aborted', 'none'],
    scripted: ['done', [2]],
  });
});
