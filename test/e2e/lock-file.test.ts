/** The lock files as npm sees them in a fresh clone: `npm ci` takes them, and `npm install` leaves them as they are. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { registryOutOfReach, runCommand } from '../support/run-npm.ts';

const root = path.join(import.meta.dirname, '../..');
const endsWithinMs = 180_000;
/** Scripts would download; which packages are installed is settled before they run. */
const withoutScripts = '--ignore-scripts';

interface Manifest {
  readonly workspaces?: readonly string[];
}

for (const folder of ['.', 'test/peers', 'test/peers/models', 'bench/peers'])
  test(`the lock file of ${folder === '.' ? 'the project' : folder} is in step with its package.json`, async (t) => {
    const home = mkdtempSync(path.join(tmpdir(), 'recourse-lock-'));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    // npm writes the name of the folder into the lock file of a package that has none.
    const clone = path.join(home, path.basename(path.resolve(root, folder)));
    mkdirSync(clone);
    const files = ['package.json', 'package-lock.json', '.npmrc'];
    for (const file of files) copyFileSync(path.join(root, folder, file), path.join(clone, file));
    const { workspaces = [] } = JSON.parse(readFileSync(path.join(clone, 'package.json'), 'utf8')) as Manifest;
    for (const each of workspaces) {
      mkdirSync(path.join(clone, each));
      copyFileSync(path.join(root, folder, each, 'package.json'), path.join(clone, each, 'package.json'));
    }
    const problem = await registryOutOfReach('oxfmt', clone);
    if (problem !== null) return t.skip(problem);
    const readAll = () => files.map((file) => readFileSync(path.join(clone, file), 'utf8'));
    const before = readAll();
    for (const args of [
      ['ci', '--dry-run'],
      ['install', '--package-lock-only'],
    ]) {
      const { code, out, said } = await runCommand('npm', [...args, withoutScripts], clone, endsWithinMs);
      assert.equal(code, 0, `npm ${args.join(' ')}: ${said}${out}`);
      assert.deepEqual(readAll(), before, `npm ${args.join(' ')} changes what it was given`);
    }
  });
