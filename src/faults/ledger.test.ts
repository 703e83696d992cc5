/** The ledger's file: what a crash leaves of it, and what is refused. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Ledger, openLedger } from './ledger.ts';

function aFile(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-ledger-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'ledger.jsonl');
}

function opened(...[file, limits]: Parameters<typeof openLedger>): Ledger {
  const result = openLedger(file, limits);
  assert.ok(result.ok, JSON.stringify(result));
  return result.ledger;
}

const entry = {
  at: '2026-01-01T00:00:00.000Z',
  kind: 'effect',
  operation: 'refund',
  key: 'k',
  args: { order: 'o1', amount: 5 },
  connection: 1,
} as const;

test('a last line that was cut off anywhere is removed, and what was whole stays', (t) => {
  const file = aFile(t);
  const first = opened(file);
  first.append(entry);
  first.append(entry);
  first.close();
  const whole = readFileSync(file);
  const line = whole.indexOf('\n') + 1;
  for (let cut = line; cut < whole.length; cut++) {
    writeFileSync(file, whole.subarray(0, cut));
    const ledger = opened(file);
    assert.equal(ledger.effects.length, 1, `cut at ${cut}`);
    assert.equal(ledger.append(entry).n, 2);
    ledger.close();
    assert.deepEqual(readFileSync(file), whole);
  }
});

test('a file that is no ledger is refused with the line, and not changed', (t) => {
  const file = aFile(t);
  opened(file).append(entry);
  appendFileSync(file, 'notes\n');
  const before = readFileSync(file);
  const refused = openLedger(file);
  assert.match(refused.ok ? '' : refused.message, /line 2 is not an entry of a ledger/);
  assert.deepEqual(readFileSync(file), before);
});

test('a folder that is not there, and a file that is too long, are refused', (t) => {
  const missing = openLedger(path.join(aFile(t), 'none', 'ledger.jsonl'));
  assert.match(missing.ok ? '' : missing.message, /ENOENT/);
  const file = aFile(t);
  writeFileSync(file, 'x'.repeat(11));
  const long = openLedger(file, { maxEntries: 10, maxBytes: 10 });
  assert.match(long.ok ? '' : long.message, /more than 10 bytes/);
});

test('a full ledger says so before another request has an effect', (t) => {
  const ledger = opened(aFile(t), { maxEntries: 5, maxBytes: 1 << 20 });
  ledger.append(entry);
  assert.equal(ledger.problem(), null);
  ledger.append(entry);
  assert.match(ledger.problem() ?? '', /full/);
});
