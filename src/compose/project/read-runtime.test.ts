import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { readRuntime } from './read-runtime.ts';

const told = { listen: { host: '127.0.0.1', port: 7500 }, store: 'here.db' };
const fields = '{ listen: "127.0.0.1:7500", store: here.db }';

for (const [what, text, expected] of [
  ['a file that says it', `runtime: ${fields}\n`, told],
  ['one that spells it by an escape', `"runt\\x69me": ${fields}\n`, told],
  ['one that is wrong elsewhere', `agnts: {}\nruntime: ${fields}\n`, told],
  ['one that does not say it', 'agents: {}\n', { listen: null, store: null }],
  ['one that cannot be read', 'runtime: [', { listen: null, store: null }],
  ['none at all', null, { listen: null, store: null }],
] as const)
  test(`the address and the store of ${what}`, async (t) => {
    const home = mkdtempSync(path.join(tmpdir(), 'recourse-peek-'));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const file = path.join(home, 'recourse.yaml');
    if (text !== null) writeFileSync(file, text);
    const { listen, store } = await readRuntime(file);
    assert.deepEqual({ listen, store }, expected);
  });
