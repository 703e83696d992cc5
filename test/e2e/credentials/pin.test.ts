/** `recourse pin` of a server that needs its secret to start: it gets it, and the lock does not. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { folder, recourse, root } from '../../support/recourse-process.ts';

const child = JSON.stringify(path.join(root, 'test/support/credentials/credential-child.ts'));

test('pin starts a server with its secret, writes none, and says which one is missing', (t) => {
  const cwd = folder(t);
  writeFileSync(
    path.join(cwd, 'recourse.yaml'),
    `tools:
  shop: { mcp: { command: ${JSON.stringify(process.execPath)}, args: [${child}] } }
credentials:
  shop: { file: { path: ./shop.key }, match: [shop/*], inject: { env: CHILD_SECRET } }
`,
  );
  const missing = recourse(['pin'], { cwd });
  assert.notEqual(missing.status, 0);
  assert.match(missing.stderr, /file provider returned: the file: not found/);
  writeFileSync(path.join(cwd, 'shop.key'), 'plantedChildSecret\n');
  const pinned = recourse(['pin'], { cwd });
  assert.equal(pinned.status, 0, pinned.stderr);
  const lock = readFileSync(path.join(cwd, 'recourse.lock'), 'utf8');
  assert.match(lock, /knows \[redacted\]/);
  assert.doesNotMatch(`${lock}${pinned.stdout}${pinned.stderr}`, /planted/);
});
