/**
 * kill -9 at every boundary of a stage, on a real file: before and after each phase, before and after each effect. The
 * next start brings it to its end: each call had one effect, and the state is the one that was acknowledged.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { SuccessReply } from '../../../src/index.ts';
import { compiledEnvironment } from '../../support/compile-cache.ts';
import { checkFile } from '../../support/read-journal.ts';

const isSoak = process.env['RECOURSE_SOAK'] === '1';

interface Said {
  readonly reply: SuccessReply;
  readonly view: {
    readonly seq: number;
    readonly state: { readonly value: string; readonly context: { readonly n: number } };
  };
  /** How many boundaries it went through. */
  readonly passed: number;
}

async function live(orders: object): Promise<{ readonly said: Said | null; readonly signal: string | null }> {
  const program = path.join(import.meta.dirname, 'stage-child.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: compiledEnvironment(),
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { said: text.includes('\n') ? (JSON.parse(text) as Said) : null, signal };
}

/** Dies at each of `deaths` in turn, one after the other, and then comes to its end. */
async function judge(deaths: readonly number[]): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-stage-'));
  const [file, ledger] = [path.join(folder, 'recourse.db'), path.join(folder, 'ledger')];
  const where = `killed at ${deaths.join(', then ')}`;
  try {
    for (const dieAt of deaths) {
      const { signal, said } = await live({ file, ledger, dieAt });
      // What is done before the boundary comes has come to its end.
      if (said === null) assert.equal(signal, 'SIGKILL', where);
    }
    const { said } = await live({ file, ledger, dieAt: null });
    assert.ok(said !== null, `${where}: it never came to its end`);
    const entries = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [];
    const kinds = entries.map((entry) =>
      entry
        .split(' ')
        .filter((_word, index) => index !== 1)
        .join(' '),
    );
    const lastTry = kinds.at(-1)?.slice(-1) ?? '';
    const twice = kinds.filter((kind, index) => kind !== 'charge' && kinds.indexOf(kind) !== index);
    assert.deepEqual(twice, [], `${where}: ${entries.join('; ')}`);
    assert.ok(kinds.includes(`mail first of ${lastTry}`) && kinds.includes(`mail second of ${lastTry}`), where);
    assert.deepEqual([said.view.state.value, said.view.state.context.n, said.view.seq], ['delivered', 1, 1], where);
    assert.deepEqual(said.reply.result, { ok: true }, where);
    await checkFile(file);
    return said.passed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('[C6-stage-12] a stage that is killed at any boundary comes to its end, with one effect of each call', async (context) => {
  const boundaries = await judge([]);
  assert.ok(boundaries >= 16, `${boundaries} boundaries`);
  let rounds = 0;
  for (let at = 1; at <= boundaries; at++) {
    await judge([at]);
    rounds += 1;
    if (!isSoak) continue;
    for (let second = 1; second <= boundaries; second += 3) {
      await judge([at, second]);
      rounds += 1;
    }
  }
  context.diagnostic(`${boundaries} boundaries, ${rounds} rounds`);
});
